"""Gradient ascent on |f - f'| over two networks of a class and their input.

Weights are the radii times matrices of spectral norm one, perturbations have spectral norm exactly
eps, tokens are projected: every iterate is a pair that the telescoping theorem speaks about. Many
starts run as one batch; the best pair is handed back as NumPy networks.
"""

import numpy as np
import pytest

from spectral_lib.function_class import LayerA, LayerB, Network

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # matrices of a few entries gain nothing from more


def unit(matrices):
    return matrices / torch.linalg.matrix_norm(matrices, ord=2)[..., None, None]


def project(x):
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp(min=1.0)


def attend(x, qk, v):
    return torch.softmax(x @ qk @ x.mT, dim=-1) @ (x @ v)


def layer_a(x, w, phi):
    return project(phi(project(attend(x, w["qk"], w["v"]))) @ w["m"])


def layer_b(x, w, phi):
    heads = attend(x[:, None], w["qk"], w["vo"]).sum(dim=1)
    return project(phi(project(project(heads) @ w["ff_in"])) @ w["ff_out"])


LAYERS = {LayerA: layer_a, LayerB: layer_b}
PHI = {"gelu": torch.nn.functional.gelu, "relu": torch.relu}


def widest_pair(
    layer, shapes, radii, eps, *, depth, tokens, size, activation, seed, steps=200, starts=16
):
    """Return (f, f', X) with the largest gap found.

    ``shapes`` and ``radii`` give each matrix of a layer its shape and spectral norm; ``eps`` is the
    spectral norm of every perturbation, and the 2-norm of that of the unit readout.
    """
    generator = torch.Generator().manual_seed(seed)

    def free(*shape):
        draw = torch.randn(starts, *shape, generator=generator, dtype=torch.float64)
        return draw.requires_grad_()

    weights = [{name: free(*shape) for name, shape in shapes.items()} for _ in range(depth)]
    motions = [{name: free(*shape) for name, shape in shapes.items()} for _ in range(depth)]
    x, readout, readout_motion = free(tokens, size), free(size, 1), free(size, 1)

    def members():
        true = [{name: radii[name] * unit(w) for name, w in ws.items()} for ws in weights]
        other = [
            {name: w + eps * unit(ms[name]) for name, w in ws.items()}
            for ws, ms in zip(true, motions, strict=True)
        ]
        return true, other, unit(readout), unit(readout) + eps * unit(readout_motion)

    def forward(ws, last):
        rows = project(x)
        for w in ws:
            rows = LAYERS[layer](rows, w, PHI[activation])
        return (rows[:, :1] @ last)[:, 0, 0]

    leaves = [*(p for ws in weights + motions for p in ws.values()), x, readout, readout_motion]
    optimiser = torch.optim.Adam(leaves, lr=0.05)
    for _ in range(steps):
        true, other, last, other_last = members()
        gap = (forward(true, last) - forward(other, other_last)).abs()
        optimiser.zero_grad()
        (-gap.sum()).backward()
        optimiser.step()

    true, other, last, other_last = members()
    best = int((forward(true, last) - forward(other, other_last)).abs().argmax())

    def network(ws, end):
        layers = tuple(layer(**{n: w[best].detach().numpy() for n, w in m.items()}) for m in ws)
        return Network(layers, end[best, :, 0].detach().numpy(), activation)

    return network(true, last), network(other, other_last), x[best].detach().numpy()


def gap_of(f, g, x):
    return float(np.abs(f(x) - g(x)))
