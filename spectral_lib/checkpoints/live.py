"""A live torch module with a BERT encoder inside, known by its methods and not by its class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spectral_lib.checkpoints import bert
from spectral_lib.checkpoints.architectures import assemble
from spectral_lib.checkpoints.checkpoint import Checkpoint
from spectral_lib.checkpoints.torch_tensors import TorchTensors
from spectral_lib.errors import CheckpointError

#: What marks a model's configuration among the objects that modules call ``config``.
_KEYS = {"model_type", "num_hidden_layers"}


def is_module(model: object) -> bool:
    """Whether the object has what a torch module has and this library uses."""
    if isinstance(model, type):  # the class in place of a model has the methods, but no weights
        return False
    return all(callable(getattr(model, name, None)) for name in ("state_dict", "named_modules"))


def open_module(model: Any) -> Checkpoint:
    """Open a live module; its weights are read as they are when a layer is reached.

    Raises
    ------
    CheckpointError
        No part of the module carries a BERT configuration, or its parameters do not match it.
    """
    name = type(model).__name__
    # Most parts of a transformers model share one configuration object.
    owners = {id(part.config): part for _, part in model.named_modules() if hasattr(part, "config")}
    configs = [c for part in owners.values() if (c := _as_mapping(part.config)).keys() & _KEYS]
    if not configs:
        raise CheckpointError(
            f"{name}: no .config with num_hidden_layers on the module or a part of it; "
            "give a transformers BertModel or a module that contains one"
        )
    chosen = next((c for c in configs if c.get("model_type") == bert.MODEL_TYPE), configs[0])
    return assemble(name, chosen, f"{name}.config", TorchTensors(name, model.state_dict()))


def _as_mapping(config: Any) -> Mapping[str, Any]:
    values = config.to_dict() if hasattr(config, "to_dict") else config
    return values if isinstance(values, Mapping) else dict(getattr(values, "__dict__", {}))
