"""Small BERT checkpoints made on the fly, and the form that every refusal must have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.errors import SpectralLibError

CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "num_hidden_layers": 3,
    "hidden_size": 12,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "hidden_act": "gelu",
}
LAYER = "encoder.layer.{}."
QUERY_0 = "encoder.layer.0.attention.self.query.weight"
FF_IN_0 = "encoder.layer.0.intermediate.dense.weight"


def shapes(config: dict[str, Any] = CONFIG, prefix: str = "") -> dict[str, tuple[int, ...]]:
    """Return the tensors of a BERT checkpoint, in the order of its layers."""
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    found: dict[str, tuple[int, ...]] = {"embeddings.word_embeddings.weight": (50, hidden)}
    for index in range(config["num_hidden_layers"]):
        layer = LAYER.format(index)
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            found[f"{layer}attention.{part}.weight"] = (hidden, hidden)
            found[f"{layer}attention.{part}.bias"] = (hidden,)
        found[f"{layer}attention.output.LayerNorm.gamma"] = (hidden,)
        found[f"{layer}attention.output.LayerNorm.beta"] = (hidden,)
        found[f"{layer}intermediate.dense.weight"] = (wide, hidden)
        found[f"{layer}output.dense.weight"] = (hidden, wide)
    return {prefix + name: shape for name, shape in found.items()}


def state(
    config: dict[str, Any] = CONFIG, prefix: str = "", dtype: Any = np.float32
) -> dict[str, Any]:
    rng = np.random.default_rng(20260507)
    return {
        name: rng.standard_normal(shape).astype(dtype)
        for name, shape in shapes(config, prefix).items()
    }


def write_config(directory: Path, config: dict[str, Any] = CONFIG) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")


def write(
    directory: Path, tensors: dict[str, Any] | None = None, config: dict[str, Any] = CONFIG
) -> Path:
    """Write a checkpoint in one safetensors file and return its directory."""
    write_config(directory, config)
    save_file(state(config) if tensors is None else tensors, directory / "model.safetensors")
    return directory


def write_raw(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> None:
    """Write a safetensors file by hand, so that its header may lie."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    path.write_bytes(size.to_bytes(8, "little") + text + data)


def read_all(model: Any) -> None:
    for _ in open_checkpoint(model).layers():
        pass


def refused(error: type[SpectralLibError], action: Callable[[], object], *parts: str) -> str:
    """Check that the action fails with the error, in one short line that holds the parts."""
    with pytest.raises(SpectralLibError) as caught:
        action()
    assert type(caught.value) is error, repr(caught.value)
    message = str(caught.value)
    assert message.isprintable(), repr(message)
    assert len(message) < 700, len(message)
    for part in parts:
        assert part in message, message
    return message
