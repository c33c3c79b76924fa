"""The matrices are those of the BERT forward pass, exactly, whatever the names around them."""

from __future__ import annotations

import numpy as np
import pytest

from spectral_lib.checkpoints import LayerMatrices, open_checkpoint
from spectral_lib.errors import (
    CheckpointError,
    QuantizedWeightsError,
    UnsupportedArchitectureError,
)

from .models import CONFIG, FF_IN_0, QUERY_0, read_all, refused, state, write


@pytest.fixture(scope="module")
def bert():
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    torch.manual_seed(7)
    sizes = {key: value for key, value in CONFIG.items() if key != "model_type"}
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=30, **sizes))
    return model.eval()


def check_forward(layers: list[LayerMatrices], model) -> None:
    """Compare with what the module's own parts compute, in float64 and without biases."""
    import copy

    import torch

    model = copy.deepcopy(model).double()
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.zeros_(parameter)
    heads, size = CONFIG["num_attention_heads"], 4
    x = torch.randn(5, CONFIG["hidden_size"], dtype=torch.float64)
    with torch.no_grad():
        for found, layer in zip(layers, model.bert.encoder.layer, strict=True):
            attention = layer.attention
            q, k, v = (getattr(attention.self, part)(x) for part in ("query", "key", "value"))
            for h in range(heads):
                own = slice(h * size, (h + 1) * size)
                scores = q[:, own] @ k[:, own].T
                np.testing.assert_allclose(
                    x.numpy() @ found.qk.dense()[h] @ x.numpy().T, scores.numpy(), atol=1e-13
                )
                only = torch.zeros_like(v)
                only[:, own] = v[:, own]
                mixed = attention.output.dense(only)
                np.testing.assert_allclose(
                    x.numpy() @ found.vo.dense()[h], mixed.numpy(), atol=1e-13
                )
            wide = layer.intermediate.dense(x)
            np.testing.assert_allclose(x.numpy() @ found.ff_in, wide.numpy(), atol=1e-13)
            np.testing.assert_allclose(
                wide.numpy() @ found.ff_out, layer.output.dense(wide).numpy(), atol=1e-13
            )


@pytest.mark.parametrize("part", ["model", "encoder"])
def test_saved_by_transformers(tmp_path, bert, part):
    (bert if part == "model" else bert.bert).save_pretrained(tmp_path)
    check_forward(list(open_checkpoint(tmp_path).layers()), bert)


def test_live_module(bert):
    checkpoint = open_checkpoint(bert)
    assert (checkpoint.name, checkpoint.sha256()) == ("BertForMaskedLM", None)
    check_forward(list(checkpoint.layers()), bert)


def test_forward_comparison_sees_swapped_heads(bert):
    layers = list(open_checkpoint(bert).layers())
    layers[0].qk.left[[0, 1]] = layers[0].qk.left[[1, 0]]
    with pytest.raises(AssertionError):
        check_forward(layers, bert)


@pytest.mark.parametrize("prefix", ["", "bert.", "0.auto_model."])
def test_prefixes_and_shapes(tmp_path, prefix):
    tensors = state(prefix=prefix)
    checkpoint = open_checkpoint(write(tmp_path, tensors))
    assert (checkpoint.num_layers, checkpoint.num_heads) == (3, 3)
    assert (checkpoint.hidden_size, checkpoint.intermediate_size) == (12, 20)
    assert checkpoint.activation == "gelu"
    layers = list(checkpoint.layers())
    assert len(layers) == 3
    for index, layer in enumerate(layers):
        assert layer.qk.left.shape == layer.vo.left.shape == (3, 12, 4)
        assert layer.qk.right.shape == layer.vo.right.shape == (3, 4, 12)
        own = f"{prefix}encoder.layer.{index}."
        query, out = tensors[f"{own}attention.self.query.weight"], f"{own}attention.output.dense"
        np.testing.assert_array_equal(layer.qk.left[1], query[4:8].T)
        np.testing.assert_array_equal(layer.vo.right[2], tensors[f"{out}.weight"][:, 8:12].T)
        np.testing.assert_array_equal(layer.ff_in, tensors[f"{own}intermediate.dense.weight"].T)
        np.testing.assert_array_equal(layer.ff_out, tensors[f"{own}output.dense.weight"].T)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_upcast_is_exact_and_contiguous(tmp_path, dtype):
    tensors = state(dtype=dtype)
    layer = next(open_checkpoint(write(tmp_path, tensors)).layers())
    np.testing.assert_array_equal(layer.ff_in, tensors[FF_IN_0].T.astype(np.float64))
    for array in (*layer.qk.left, *layer.qk.right, *layer.vo.right, layer.ff_in, layer.ff_out):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous or array.flags.f_contiguous


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_values_that_are_not_finite(tmp_path, dtype, bad):
    tensors = state(dtype=dtype)
    tensors[FF_IN_0][3, 5] = bad
    write(tmp_path, tensors)
    refused(CheckpointError, lambda: read_all(tmp_path), "model.safetensors", FF_IN_0, "(3, 5)")


def test_largest_finite_values_are_legal(tmp_path):
    tensors = state(dtype=np.float64)
    tensors[FF_IN_0][:] = np.finfo(np.float64).max
    layer = next(open_checkpoint(write(tmp_path, tensors)).layers())
    assert (layer.ff_in == np.finfo(np.float64).max).all()


def test_layers_missing_and_extra(tmp_path):
    tensors = state()
    write(tmp_path, tensors, {**CONFIG, "num_hidden_layers": 4})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "layer 3 is missing", "promises 4")
    write(tmp_path, tensors, {**CONFIG, "num_hidden_layers": 2})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "layer '2' is extra", "promises 2")


def test_tensor_missing(tmp_path):
    tensors = state()
    del tensors[QUERY_0]
    write(tmp_path, tensors)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), QUERY_0, "(12, 12) is missing")


@pytest.mark.parametrize(
    ("shape", "part"),
    [((12, 20), "transposed"), ((20, 11), "expected (20, 12)"), ((240,), "(240,)"), ((), "()")],
)
def test_wrong_shapes(tmp_path, shape, part):
    tensors = {**state(), FF_IN_0: np.ones(shape, np.float32)}
    write(tmp_path, tensors)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), FF_IN_0, part)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.uint32, np.bool_, np.complex64])
def test_types_that_are_no_weights(tmp_path, dtype):
    write(tmp_path, {**state(), QUERY_0: np.ones((12, 12), dtype)})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), QUERY_0, "expected one of F64")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_eight_bit_weights_are_named_quantised(tmp_path, dtype):
    write(tmp_path, {**state(), QUERY_0: np.ones((12, 12), dtype)})
    refused(QuantizedWeightsError, lambda: open_checkpoint(tmp_path), QUERY_0, "quantised")


@pytest.mark.parametrize(
    "name",
    [
        QUERY_0.replace("weight", "SCB"),
        QUERY_0.replace("weight", "qweight"),
        QUERY_0.replace("weight", "weight_scale"),
        QUERY_0.replace("weight", "zero_point"),
        QUERY_0 + ".absmax",
        QUERY_0 + ".quant_state.bitsandbytes__nf4",
    ],
)
def test_quantisers_are_known_by_their_tensors(tmp_path, name):
    write(tmp_path, {**state(), name: np.ones(3, np.float32)})
    refused(QuantizedWeightsError, lambda: open_checkpoint(tmp_path), name, "quantised")


def test_cross_attention_and_several_encoders(tmp_path):
    cross = QUERY_0.replace("attention.self", "crossattention.self")
    write(tmp_path, {**state(), cross: np.ones((12, 12), np.float32)})
    unsupported = UnsupportedArchitectureError
    refused(unsupported, lambda: open_checkpoint(tmp_path), cross, "cross-attention")
    write(tmp_path, {**state(prefix="encoder.bert."), **state(prefix="decoder.bert.")})
    refused(unsupported, lambda: open_checkpoint(tmp_path), "several encoders", "decoder.bert.")


def test_no_encoder(tmp_path):
    write(tmp_path, {"wte.weight": np.ones((3, 3), np.float32)})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "no BERT encoder", "wte.weight")
    write(tmp_path, {})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "no tensor at all")
