"""An independent slow route to every number of the analysis.

Dense float64 products, full singular value decompositions, plain loops and plain products, written
from the formulas and sharing nothing with the library but the names of the kinds.
"""

import json
import math

import numpy as np
from safetensors.numpy import save_file

NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "in": "intermediate.dense",
    "out": "output.dense",
}


def random_layers(rng, num_layers, hidden, inner, scale=1.0):
    """Layers of (out, in) weights, as a Hugging Face Linear stores them."""
    shapes = dict.fromkeys(("query", "key", "value", "output"), (hidden, hidden))
    shapes |= {"in": (inner, hidden), "out": (hidden, inner)}
    return [
        {name: scale * rng.standard_normal(shape) for name, shape in shapes.items()}
        for _ in range(num_layers)
    ]


def write_bert(directory, layers, num_heads, activation="gelu", prefix="", dtype=np.float64):
    """Write layers as a checkpoint directory."""
    directory.mkdir(parents=True, exist_ok=True)
    inner, hidden = layers[0]["in"].shape
    config = {
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": len(layers),
        "num_attention_heads": num_heads,
        "intermediate_size": inner,
        "hidden_act": activation,
    }
    (directory / "config.json").write_text(json.dumps(config))
    tensors = {
        f"{prefix}encoder.layer.{i}.{NAMES[name]}.weight": np.ascontiguousarray(weight, dtype=dtype)
        for i, layer in enumerate(layers)
        for name, weight in layer.items()
    }
    save_file(tensors, directory / "model.safetensors")
    return directory


def matrices(layers, num_heads):
    """Yield (layer, kind, head, dense matrix) in the order of the library's tables."""
    hidden = layers[0]["query"].shape[0]
    size = hidden // num_heads
    for i, layer in enumerate(layers):
        rows = [slice(h * size, (h + 1) * size) for h in range(num_heads)]
        for h in range(num_heads):
            yield i, "QK", h, layer["query"][rows[h]].T @ layer["key"][rows[h]]
        for h in range(num_heads):
            yield i, "VO", h, layer["value"][rows[h]].T @ layer["output"][:, rows[h]].T
        yield i, "FF_IN", 0, layer["in"].T
        yield i, "FF_OUT", 0, layer["out"].T


def analyse(layers, num_heads, convention, l_phi):
    """Return (rows, spectral, edelman, trauger_tewari) by the formulas, in plain products."""
    depth, hidden = len(layers), layers[0]["query"].shape[0]
    table = {}
    for i, kind, h, w in matrices(layers, num_heads):
        s = np.linalg.svd(w, compute_uv=False)
        kept = [x for x in s.tolist() if x > max(w.shape) * 2**-52 * s[0]]
        table[i, kind, h] = {
            "s": kept,
            "C": kept[0] if kept else 0.0,
            "shape": w.shape,
            "rank": len(kept),
            "frobenius": math.sqrt(sum(x * x for x in kept)),
            "n21": sum(np.linalg.norm(w[:, j]) for j in range(w.shape[1])),
            "n11": float(np.abs(w).sum()),
        }
    heads = range(num_heads)
    c = {key: row["C"] for key, row in table.items()}
    lam = [
        l_phi
        * c[i, "FF_IN", 0]
        * c[i, "FF_OUT", 0]
        * sum(c[i, "VO", h] * (1 + 2 * convention.kappa * c[i, "QK", h]) for h in heads)
        for i in range(depth)
    ]
    alpha = [math.prod(lam[i + 1 :]) for i in range(depth)]
    m = math.ceil(depth + math.log(hidden))
    grid = [j / m for j in range(2 * m + 1)]
    phi = l_phi if convention.l_phi_in_gamma else 1.0
    count = depth if convention.scale_count == "L" else len(table)
    total, norms21, norms11 = math.sqrt(depth), 0.0, 0.0
    for (i, kind, h), row in table.items():
        c_in, c_out = c[i, "FF_IN", 0], c[i, "FF_OUT", 0]
        bare = {
            "QK": phi * c_out * c_in * c[i, "VO", h],
            "VO": phi * c_out * c_in,
            "FF_IN": phi * c_out,
            "FF_OUT": phi * (1.0 if convention.pi_before_phi else c_in),
        }[kind]
        gamma = bare * (convention.kappa if kind == "QK" else 1.0)
        scale = gamma * alpha[i] * count
        d, k = row["shape"]
        curve = []
        for p in grid:
            schatten = row["rank"] if p == 0 else sum(x**p for x in row["s"])
            if convention.dims == "N":
                dims = hidden ** ((p + 1) / (p + 2))
            else:
                dims = ((d + k) / 2) ** (1 / (p + 2)) * (min(d, k) * k) ** (p / (2 * (p + 2)))
            curve.append(schatten ** (1 / (p + 2)) * scale ** (p / (p + 2)) * dims)
        row |= {"gamma": gamma, "scale": scale, "curve": curve}
        best = min(range(len(grid)), key=lambda j: curve[j])
        row |= {"p_star": grid[best], "contribution": curve[best]}
        total += curve[best]
        weight = alpha[i] * bare * (convention.edelman_qk_factor if kind == "QK" else 1.0)
        norms21 += (weight * row["n21"]) ** (2 / 3)
        norms11 += (weight * row["n11"]) ** (2 / 3)
    return table, alpha, total, (1 + norms21) ** 1.5, (1 + norms11) ** 1.5
