"""Live modules: known by their methods, read as they are, refused by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.errors import (
    CheckpointError,
    QuantizedWeightsError,
    UnsupportedArchitectureError,
)

from .models import CONFIG, FF_IN_0, QUERY_0, read_all, refused, state

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {key: value for key, value in CONFIG.items() if key != "model_type"}


def bert(**changes):
    config = transformers.BertConfig(vocab_size=30, **{**SIZES, **changes})
    return transformers.BertModel(config)


class Namespace(torch.nn.Module):
    """A bare module that holds parameters under a BERT's names."""

    def __init__(self, tensors, config):
        super().__init__()
        self.tensors, self.config = tensors, config

    def state_dict(self):
        return self.tensors


def module(config=None, **changes):
    tensors = {name: torch.from_numpy(array) for name, array in state().items()}
    return Namespace({**tensors, **changes}, CONFIG if config is None else config)


def test_any_module_with_an_encoder_inside():
    inner = bert()
    outer = torch.nn.Module()
    outer.config = {"unrelated": 1}
    outer.projection = torch.nn.Linear(3, 3)
    outer.text = torch.nn.ModuleDict({"encoder_model": inner})
    checkpoint = open_checkpoint(outer)
    assert (checkpoint.name, checkpoint.num_layers) == ("Module", 3)
    expected = inner.encoder.layer[1].intermediate.dense.weight.detach().double().numpy().T
    np.testing.assert_array_equal([*checkpoint.layers()][1].ff_in, expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_upcast_is_exact(dtype):
    model = bert().to(dtype)
    layer = next(open_checkpoint(model).layers())
    expected = model.encoder.layer[0].output.dense.weight.detach().double().numpy().T
    np.testing.assert_array_equal(layer.ff_out, expected)


def test_weights_are_read_as_they_are_then_and_stay_untouched():
    model = bert()
    checkpoint = open_checkpoint(model)
    weight = model.encoder.layer[0].intermediate.dense.weight
    with torch.no_grad():
        weight.fill_(3.0)
    layer = next(checkpoint.layers())
    assert (layer.ff_in == 3.0).all()
    layer.ff_in[:] = 0
    assert (weight == 3.0).all()


def test_double_weights_are_copied_too():
    model = bert().double()
    next(open_checkpoint(model).layers()).ff_in[:] = 7
    assert not (model.encoder.layer[0].intermediate.dense.weight == 7).any()


def test_configuration_may_be_any_object_with_attributes():
    plain = type("Config", (), {})()
    vars(plain).update(CONFIG, hidden_act=torch.nn.functional.gelu)
    assert open_checkpoint(module(plain)).activation == "gelu"


@pytest.mark.parametrize("name", ["Roberta", "DistilBert", "GPT2", "T5", "Electra"])
def test_other_architectures_are_named(name):
    config = getattr(transformers, f"{name}Config")()
    other = torch.nn.Linear(1, 1)
    other.config = config
    unsupported = UnsupportedArchitectureError
    refused(unsupported, lambda: open_checkpoint(other), config.model_type, "supported: bert")


def test_decoder_and_cross_attention():
    decoder = bert(is_decoder=True)
    refused(UnsupportedArchitectureError, lambda: open_checkpoint(decoder), "is_decoder")


def test_module_without_a_configuration():
    refused(CheckpointError, lambda: open_checkpoint(torch.nn.Linear(2, 2)), "Linear", ".config")


def test_meta_device():
    with torch.device("meta"):
        model = bert()
    refused(CheckpointError, lambda: open_checkpoint(model), "meta device", "query.weight")


def test_entries_that_are_no_weights():
    refused(CheckpointError, lambda: open_checkpoint(module(**{QUERY_0: 3})), QUERY_0, "a int")
    sparse = module(**{QUERY_0: torch.eye(12).to_sparse()})
    refused(CheckpointError, lambda: open_checkpoint(sparse), QUERY_0, "sparse")
    codes = module(**{QUERY_0: torch.ones(12, 12, dtype=torch.float8_e4m3fn)})
    refused(QuantizedWeightsError, lambda: open_checkpoint(codes), QUERY_0, "float8_e4m3fn")


@pytest.mark.filterwarnings("ignore")  # torch announces the end of this way of quantising
def test_quantised_by_torch():
    quantised = torch.ao.quantization.quantize_dynamic(bert(), {torch.nn.Linear})
    refused(QuantizedWeightsError, lambda: open_checkpoint(quantised), "quantised")


def test_tensor_without_values():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        model = bert()
    refused(CheckpointError, lambda: read_all(model), "query.weight", "FakeTensor")


def test_values_that_are_not_finite():
    model = bert()
    with torch.no_grad():
        model.encoder.layer[2].output.dense.weight[4, 1] = torch.nan
    refused(CheckpointError, lambda: read_all(model), "layer.2.output.dense.weight", "(4, 1)")


def test_shapes_are_held_against_the_configuration():
    model = bert()
    model.config.intermediate_size = 21
    refused(CheckpointError, lambda: open_checkpoint(model), FF_IN_0, "expected (21, 12)")


WITHOUT = """
import sys, torch
sys.modules["transformers"] = None
from spectral_lib.checkpoints import open_checkpoint
module = torch.nn.Linear(2, 2)
module.config = {"model_type": "gpt2"}
try:
    open_checkpoint(module)
except Exception as error:
    print(type(error).__name__)
"""


def test_transformers_is_not_needed():
    run = [sys.executable, "-c", WITHOUT]
    found = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert found == "UnsupportedArchitectureError\n"


def test_a_class_is_no_module():
    refused(CheckpointError, lambda: open_checkpoint(torch.nn.Linear), "of type type")
