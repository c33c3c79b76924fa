"""config.json: sizes that make sense, a known architecture, or one line that says what is wrong."""

from __future__ import annotations

import pytest

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.errors import (
    CheckpointError,
    QuantizedWeightsError,
    UnsupportedArchitectureError,
)

from .models import CONFIG, refused, state, write, write_config

SIZES = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size")


@pytest.mark.parametrize("key", SIZES)
@pytest.mark.parametrize(
    "value", [-1, 0, True, None, 12.0, "12", [12], 10**12, float("nan"), float("inf")]
)
def test_nonsensical_sizes(tmp_path, key, value):
    write(tmp_path, config=CONFIG)
    write_config(tmp_path, {**CONFIG, key: value})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "config.json", key, "1 to 1000000")


@pytest.mark.parametrize("key", SIZES)
def test_missing_sizes(tmp_path, key):
    write(tmp_path)
    write_config(tmp_path, {k: v for k, v in CONFIG.items() if k != key})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "config.json", key, "missing")


def test_heads_that_do_not_divide(tmp_path):
    write(tmp_path)
    write_config(tmp_path, {**CONFIG, "num_attention_heads": 5})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "5 must divide hidden_size 12")


def test_activation(tmp_path):
    assert open_checkpoint(write(tmp_path)).activation == "gelu"
    write_config(tmp_path, {k: v for k, v in CONFIG.items() if k != "hidden_act"})
    assert open_checkpoint(tmp_path).activation == "gelu"
    write_config(tmp_path, {**CONFIG, "hidden_act": 3})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "hidden_act", "3")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[1, 2]", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b'{"hidden_act": "\xff"}', "not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"hidden_size": ' + b"9" * 10_000 + b"}", "not valid JSON"),
        (b" " * (17 << 20), "at most"),
    ],
)
def test_files_that_are_no_configuration(tmp_path, content, part):
    write(tmp_path)
    (tmp_path / "config.json").write_bytes(content)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "config.json", part)


@pytest.mark.parametrize(
    "model_type",
    ["roberta", "distilbert", "albert", "gpt2", "t5", "electra", "deberta-v2", "nomic_bert", 7],
)
def test_other_architectures_are_named(tmp_path, model_type):
    # Before the weights are looked for: the architecture is the reason, not a missing file.
    write_config(tmp_path, {"model_type": model_type, "n_layer": 12})
    unsupported = UnsupportedArchitectureError
    refused(unsupported, lambda: open_checkpoint(tmp_path), repr(model_type), "supported: bert")


@pytest.mark.parametrize("key", ["is_decoder", "add_cross_attention"])
def test_decoders(tmp_path, key):
    write(tmp_path, config={**CONFIG, key: True})
    refused(UnsupportedArchitectureError, lambda: open_checkpoint(tmp_path), key)


def test_configuration_without_model_type(tmp_path):
    bare = {k: v for k, v in CONFIG.items() if k != "model_type"}
    assert open_checkpoint(write(tmp_path, state(prefix="bert."), bare)).num_layers == 3
    write_config(tmp_path, {**bare, "architectures": ["BertForPreTraining"]})
    assert open_checkpoint(tmp_path).num_layers == 3
    write_config(tmp_path, {**bare, "architectures": ["RobertaModel"]})
    refused(UnsupportedArchitectureError, lambda: open_checkpoint(tmp_path), "RobertaModel")
    write_config(tmp_path, {**bare, "architectures": "nonsense"})
    refused(UnsupportedArchitectureError, lambda: open_checkpoint(tmp_path), "nonsense")


@pytest.mark.parametrize("prefix", ["roberta.", "electra."])
def test_foreign_prefix_without_model_type(tmp_path, prefix):
    bare = {k: v for k, v in CONFIG.items() if k != "model_type"}
    write(tmp_path, state(prefix=prefix), bare)
    refused(UnsupportedArchitectureError, lambda: open_checkpoint(tmp_path), repr(prefix[:-1]))


def test_quantised_by_configuration(tmp_path):
    write(tmp_path, config={**CONFIG, "quantization_config": {"quant_method": "gptq"}})
    quantised = QuantizedWeightsError
    refused(quantised, lambda: open_checkpoint(tmp_path), "quantization_config", "gptq")
    write_config(tmp_path, {**CONFIG, "quantization_config": None})
    assert open_checkpoint(tmp_path).num_layers == 3
