"""A whole model's analysis against bare LAPACK on the same weights, and against dense SVDs.

The floor reads the weights and makes the bare NumPy calls that the numbers need: batched QR of the
head factors and small SVDs, Gram matrices and their eigenvalues, the norms. It checks nothing and
keeps nothing.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from harness import paired
from safetensors.numpy import save_file
from threadpoolctl import threadpool_limits

import spectral_lib
from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.checkpoints.packaged import packaged_directory
from spectral_lib.matrices import Factored, spectrum_of_factored

NAMES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


def read_safetensors(path: Path, prefix: str, layers: int) -> Iterator[list[np.ndarray]]:
    """Yield the six float64 matrices of each layer by bare reads."""
    with path.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length))
        for layer in range(layers):
            found = []
            for name in NAMES:
                entry = header[f"{prefix}encoder.layer.{layer}.{name}.weight"]
                begin, end = entry["data_offsets"]
                stream.seek(8 + length + begin)
                flat = np.frombuffer(stream.read(end - begin), np.float32)
                found.append(flat.reshape(entry["shape"]).astype(np.float64))
            yield found


def read_pickle(path: Path, prefix: str, layers: int) -> Iterator[list[np.ndarray]]:
    """Yield the six float64 matrices of each layer through torch's memory map."""
    state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    for layer in range(layers):
        yield [
            state[f"{prefix}encoder.layer.{layer}.{name}.weight"].numpy().astype(np.float64)
            for name in NAMES
        ]


def bare_heads(first: np.ndarray, second: np.ndarray) -> None:
    """Make the LAPACK calls of one kind of head matrix, ``[H, N, d]`` by ``[H, d, N]``."""
    r_first = np.linalg.qr(first, mode="r")
    r_second = np.linalg.qr(second.transpose(0, 2, 1), mode="r")
    np.linalg.svd(r_first @ r_second.transpose(0, 2, 1), compute_uv=False)
    np.linalg.norm(r_first @ second, axis=1).sum(axis=-1)
    for left, right in zip(first, second, strict=True):
        np.abs(left @ right).sum()


def bare_model(layers: Iterator[list[np.ndarray]], heads: int) -> None:
    """Make the LAPACK calls of a whole model."""
    for query, key, value, output, inner, outer in layers:
        size = len(query) // heads
        split = (heads, size, len(query))
        first, second = query.reshape(split).transpose(0, 2, 1), key.reshape(split)
        bare_heads(first, second)
        first = value.reshape(split).transpose(0, 2, 1)
        bare_heads(first, output.T.reshape(split))
        for matrix in (inner.T, outer):
            np.linalg.eigvalsh(matrix @ matrix.T)
        for matrix in (inner.T, outer.T):
            np.linalg.norm(matrix, axis=0).sum()
            np.abs(matrix).sum()


def dense_heads(model: str) -> Callable[[], None]:
    """Return a function that decomposes every N x N head product of a model."""
    products = [
        product.dense()
        for layer in open_checkpoint(model).layers()
        for product in (layer.qk, layer.vo)
    ]

    def run() -> None:
        for product in products:
            np.linalg.svd(product, compute_uv=False)

    return run


def factored_heads(model: str, run_layer: Callable[[Factored], object]) -> Callable[[], None]:
    """Return a function that treats the same products by their factors, threaded as `load` is."""
    layers = list(open_checkpoint(model).layers())

    def run() -> None:
        with threadpool_limits(limits=1, user_api="blas"):
            for layer in layers:
                run_layer(layer.qk)
                run_layer(layer.vo)

    return run


def singular_values(product: Factored) -> np.ndarray:
    """Return the singular values of a batch of heads, as the library finds them, without norms."""
    r_left = np.linalg.qr(product.left, mode="r")
    r_right = np.linalg.qr(product.right.swapaxes(-1, -2), mode="r")
    return np.linalg.svd(r_left @ r_right.swapaxes(-1, -2), compute_uv=False)


def write_bert_base(directory: Path) -> None:
    """Write a checkpoint of BERT-base's shape with random weights."""
    hidden, inner, depth, heads = 768, 3072, 12, 12
    config = {
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": depth,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "hidden_act": "gelu",
    }
    (directory / "config.json").write_text(json.dumps(config))
    rng = np.random.default_rng(0)
    shapes = dict.fromkeys(NAMES[:4], (hidden, hidden))
    shapes |= {NAMES[4]: (inner, hidden), NAMES[5]: (hidden, inner)}
    tensors = {
        f"encoder.layer.{layer}.{name}.weight": rng.normal(0, 0.02, shape).astype(np.float32)
        for layer in range(depth)
        for name, shape in shapes.items()
    }
    save_file(tensors, directory / "model.safetensors")


def command_line(*arguments: str) -> float:
    """Print the whole-process seconds and peak memory of one command; return the latter in MB."""
    script = (
        "import resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(time.perf_counter() - start, used.ru_maxrss / 1024)\n"
    )
    command = (sys.executable, "-m", "spectral_lib", *arguments)
    done = subprocess.run(
        (sys.executable, "-c", script, *command), check=True, stdout=subprocess.PIPE, text=True
    )
    seconds, peak = map(float, done.stdout.split())
    print(f"    {seconds:.2f} s, peak {peak:.0f} MB")
    return peak


def main() -> None:
    """Run every comparison."""
    minilm = packaged_directory("all-MiniLM-L6-v2") / "model.safetensors"
    antiberty = packaged_directory("antiberty") / "pytorch_model.bin"
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        write_bert_base(base)
        models: list[tuple[str, str, Callable[[], Iterator[list[np.ndarray]]], int]] = [
            (
                "MiniLM (L 6, N 384, H 12)",
                "all-MiniLM-L6-v2",
                lambda: read_safetensors(minilm, "", 6),
                12,
            ),
            (
                "AntiBERTy (L 8, N 512, H 8)",
                "antiberty",
                lambda: read_pickle(antiberty, "bert.", 8),
                8,
            ),
            (
                "BERT-base shape (L 12, N 768, H 12)",
                str(base),
                lambda: read_safetensors(base / "model.safetensors", "", 12),
                12,
            ),
        ]
        print("whole model, weights read in the run, against bare LAPACK (target 1.5)")
        for title, model, layers, heads in models:
            print(f"  {title}")
            paired(
                lambda model=model: spectral_lib.analyze(spectral_lib.load(model)),
                lambda layers=layers, heads=heads: bare_model(layers(), heads),
            )
        print("heads alone, against dense SVDs of the products (target 1/30 = 0.033)")
        for model in ("all-MiniLM-L6-v2", "antiberty"):
            dense = dense_heads(model)
            print(f"  {model}, singular values on both sides")
            paired(factored_heads(model, singular_values), dense, repeats=2)
            print(f"  {model}, with the (2,1) and (1,1) norms on the library's side alone")
            paired(factored_heads(model, spectrum_of_factored), dense, repeats=2)
        print("command line, whole process")
        for arguments in (
            ("--help",),
            ("analyze", "all-MiniLM-L6-v2"),
            ("analyze", str(base)),
        ):
            print("  spectral-lib", *(Path(word).name for word in arguments))
            command_line(*arguments)


if __name__ == "__main__":
    main()
