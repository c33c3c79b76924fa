"""A live torch module with a BERT encoder inside, known by its methods and not by its class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spectral_lib.checkpoints.checkpoint import Checkpoint
from spectral_lib.checkpoints.families import assemble
from spectral_lib.checkpoints.torch_tensors import TorchTensors
from spectral_lib.errors import CheckpointError


def is_module(model: object) -> bool:
    """Whether the object has what a torch module has and this library uses."""
    return all(callable(getattr(model, name, None)) for name in ("state_dict", "named_modules"))


def open_module(model: Any) -> Checkpoint:
    """Open a live module; its weights are read as they are when a layer is reached.

    Raises
    ------
    CheckpointError
        No part of the module carries a BERT configuration, or its parameters do not match it.
    """
    name = type(model).__name__
    configs = [
        config
        for _, part in model.named_modules()
        if (config := _as_mapping(getattr(part, "config", None))) is not None
        and "num_hidden_layers" in config
    ]
    if not configs:
        raise CheckpointError(
            f"{name}: no .config with num_hidden_layers on the module or a part of it; "
            "give a transformers BertModel or a module that contains one"
        )
    source = TorchTensors(name, model.state_dict())
    return assemble(name, configs[0], f"{name}.config", source)


def _as_mapping(config: Any) -> Mapping[str, Any] | None:
    if isinstance(config, Mapping):
        return config
    if callable(getattr(config, "to_dict", None)):
        values = config.to_dict()
        return values if isinstance(values, Mapping) else None
    return vars(config) if hasattr(config, "__dict__") else None
