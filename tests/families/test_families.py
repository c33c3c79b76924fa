"""Families by name, the switch, and what every family offers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spectral_lib import families
from spectral_lib.errors import DomainError, StaleFileError
from spectral_lib.families import (
    FAMILIES,
    Family,
    chosen_family,
    chosen_name,
    chosen_version,
    family_folder,
    load_family,
)
from spectral_lib.families.folder import file_sha256, read_manifest
from spectral_lib.loading import load
from tests.checkpoints.models import CONFIG, refused, write


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv(families.SWITCH, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "spectral-lib"


@pytest.fixture(scope="module")
def spectra(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {
        (depth, width): load(
            write(
                folder / f"{depth}-{width}",
                config={**CONFIG, "num_hidden_layers": depth, "hidden_size": width},
            )
        )
        for depth, width in ((1, 12), (2, 6), (2, 12))
    }


def test_members_are_ordered_and_may_have_gaps(spectra):
    family = Family("f", "title", tuple(spectra[key] for key in ((2, 12), (1, 12), (2, 6))))
    sizes = [(s.num_layers, s.hidden_size) for s in family.members]
    assert sizes == [(1, 12), (2, 6), (2, 12)]
    assert (family.depths, family.widths) == ((1, 2), (6, 12))
    assert family.headline is spectra[2, 12] is family.at(2, 12)
    refused(DomainError, lambda: family.at(1, 6), "L 1", "N 6")
    assert family.initial == ()


def test_no_members_and_two_of_one_size(spectra):
    refused(DomainError, lambda: Family("f", "title", ()), "no members")
    twice = (spectra[1, 12], replace(spectra[1, 12], model="other"))
    refused(DomainError, lambda: Family("f", "title", twice), "two members of one size")


def test_snapshots_are_of_a_member_and_its_size(spectra):
    small, wide = spectra[2, 6], spectra[2, 12]
    own = Family("f", "title", (small, wide), {wide.model: {0: wide}})
    assert own.initial == (wide,)
    for model, steps in ((wide.model, {0: small}), ("other", {0: wide})):
        refused(
            DomainError,
            lambda model=model, steps=steps: Family("f", "title", (small, wide), {model: steps}),
            repr(model),
            "not of one member",
        )
    namesake = replace(small, model=wide.model)
    refused(
        DomainError,
        lambda: Family("f", "title", (namesake, wide), {wide.model: {0: wide}}),
        "not of one member",
    )


def test_the_grid_is_the_default_and_whole():
    family = chosen_family()
    assert family.name == chosen_name() == "grid"
    assert len(family.members) == 24
    assert {s.model for s in family.members} == set(family.losses)
    manifest = read_manifest(family_folder("grid"))
    assert "not the paper's" in family.title
    assert manifest["files"].keys() >= {manifest["losses"]}


@pytest.mark.packaged
def test_packaged():
    family = load_family("packaged")
    assert [s.model for s in family.members] == ["all-MiniLM-L6-v2", "antiberty"]
    assert (family.snapshots, family.losses) == ({}, {})


def test_miniatures_must_be_fetched(cache):
    command = "spectral-lib grid fetch miniatures"
    refused(StaleFileError, lambda: load_family("miniatures"), command)
    assert family_folder("miniatures") == cache / "miniatures"
    assert not cache.exists()  # to look is not to write


@pytest.mark.parametrize("name", ["bert", "", "../grid", "a\0b", "GRID", "grid/"])
def test_other_names(name):
    refused(DomainError, lambda: load_family(name), *FAMILIES)


def test_the_switch(monkeypatch, cache):
    monkeypatch.setenv(families.SWITCH, "")
    assert chosen_name() == "grid"
    monkeypatch.setenv(families.SWITCH, "miniatures")
    assert chosen_name() == "miniatures"
    refused(StaleFileError, chosen_family, "spectral-lib grid fetch miniatures")
    monkeypatch.setenv(families.SWITCH, "nothing")
    refused(DomainError, chosen_family, families.SWITCH, "'nothing'", "miniatures")


def test_the_switch_takes_the_absolute_path_of_a_folder(monkeypatch):
    folder = family_folder("grid")
    monkeypatch.setenv(families.SWITCH, str(folder))
    assert chosen_family().name == "grid"
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv(families.SWITCH, folder.name)  # here it is the name of a family
    assert chosen_name() == "grid"
    monkeypatch.setenv(families.SWITCH, f"./{folder.name}")
    refused(DomainError, chosen_name, "absolute path")


def test_the_version_follows_the_manifest(monkeypatch, cache):
    manifest = family_folder("grid") / "manifest.json"
    assert chosen_version() == f"grid {file_sha256(manifest)}"
    monkeypatch.setenv(families.SWITCH, "miniatures")
    without = chosen_version()
    assert without.startswith("miniatures ")
    (cache / "miniatures").mkdir(parents=True)
    (cache / "miniatures" / "manifest.json").write_text("{}")
    first = chosen_version()
    (cache / "miniatures" / "manifest.json").write_text("{} ")
    assert len({without, first, chosen_version()}) == 3
    monkeypatch.setenv(families.SWITCH, "packaged")
    assert chosen_version().startswith("packaged ")
