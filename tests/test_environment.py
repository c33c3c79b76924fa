"""environment.yml, for conda and Binder, has the versions of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def environment() -> list[Any]:
    loaded = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    return loaded["dependencies"]


def test_same_pins(project: dict[str, Any], environment: list[Any]) -> None:
    extras = project["project"]["optional-dependencies"].values()
    wanted = [item for extra in extras for item in extra if "==" in item]
    weights = project["tool"]["spectral-lib"]["weights"]
    wanted += [f"{name}=={version}" for name, version in weights.items()]
    pip = next(item["pip"] for item in environment if isinstance(item, dict))
    assert pip[0] == "--editable ."
    assert sorted(pip[1:]) == sorted(set(wanted))


def test_every_pin_is_exact_in_the_book_and_the_tests(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    for item in extras["book"] + extras["dev"]:
        assert item.startswith("spectral-lib[") or re.fullmatch(r"[\w-]+==[\w.]+", item), item


def test_python_is_one_that_the_library_supports(
    project: dict[str, Any], environment: list[Any]
) -> None:
    lowest = re.fullmatch(r">=3\.(\d+)", project["project"]["requires-python"])
    conda = next(
        re.fullmatch(r"python=3\.(\d+)", item)
        for item in environment
        if isinstance(item, str) and item.startswith("python")
    )
    assert lowest is not None
    assert conda is not None
    assert int(conda[1]) >= int(lowest[1])
    assert project["tool"]["ruff"]["target-version"] == f"py3{lowest[1]}"
    assert project["tool"]["mypy"]["python_version"] == f"3.{lowest[1]}"
