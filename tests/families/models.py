"""Checkpoints in the layout of Google's small BERTs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spectral_lib.families.miniatures import sizes
from tests.checkpoints.models import state

CARD = "---\nlanguage: en\nlicense: apache-2.0\n---\n\nlicense: another\n"


def write_model(folder: Path, model: str, form: str = "model.safetensors") -> Path:
    """Write a checkpoint as Google's are: no model_type, no activation, LayerNorm's old names."""
    depth, width, heads = sizes(model)
    config = {
        "hidden_size": width,
        "num_hidden_layers": depth,
        "num_attention_heads": heads,
        "intermediate_size": 4 * width,
    }
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "README.md").write_text(CARD)
    tensors = state(config, "bert.")
    if form == "model.safetensors":
        from safetensors.numpy import save_file

        save_file(tensors, folder / form)
    else:
        torch = pytest.importorskip("torch")
        values = {name: torch.from_numpy(array) for name, array in tensors.items()}
        legacy = form == "legacy"
        torch.save(values, folder / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)
    return folder
