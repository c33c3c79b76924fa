r"""The two function classes of the theory, as running NumPy code.

Class A (three matrices a layer), with the rows of :math:`X` in the unit ball:

.. math:: X \mapsto \Pi(\varphi(\Pi(\mathrm{softmax}(X W_{QK} X^T) X W_V)) W_M).

Class B, the BERT-adapted one (2H + 2 matrices a layer), with softmax heads :math:`A_1, ..., A_H`:

.. math:: X \mapsto \Pi(\varphi(\Pi(\Pi(\sum_h A_h(X)) W_{in})) W_{out}).

Both end in the readout :math:`f(X) = \langle w, x_1 \rangle` of the first row. :math:`\Pi`
projects each row onto the unit ball, softmax acts on rows, :math:`\varphi` on entries. Inputs have
shape (..., T, N): T tokens as rows; any leading axes are a batch.

Class A is the paper's. Class B is stated here: it is the class for which the formulas that the
paper's scripts evaluate on multi-head models are a theorem.
"""

from spectral_lib.function_class.maps import (
    ACTIVATIONS,
    activate,
    attention,
    project_rows,
    softmax,
    softmax_modulus,
)
from spectral_lib.function_class.moduli import (
    PropagationA,
    head_modulus,
    propagate_a,
    sharp_head_modulus,
)
from spectral_lib.function_class.networks import LayerA, LayerB, Network

__all__ = [
    "ACTIVATIONS",
    "LayerA",
    "LayerB",
    "Network",
    "PropagationA",
    "activate",
    "attention",
    "head_modulus",
    "project_rows",
    "propagate_a",
    "sharp_head_modulus",
    "softmax",
    "softmax_modulus",
]
