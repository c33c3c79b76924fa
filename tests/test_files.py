"""A result is written whole, where it was asked for, or not at all."""

import os
import socket

import pytest

from spectral_lib.errors import OutputError
from spectral_lib.files import check_distinct, check_output, replacing


def write(path, text="new"):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_a_file_is_replaced_and_nothing_stays_beside_it(tmp_path):
    (tmp_path / "x.csv").write_text("old")
    write(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_a_link(tmp_path, there):
    (tmp_path / "folder").mkdir()
    real, link = tmp_path / "folder" / "real.csv", tmp_path / "link.csv"
    if there:
        real.write_text("old")
    link.symlink_to(real)
    write(link)
    assert link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_regular_file_is_left_alone(tmp_path, kind):
    path = tmp_path / "x"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    before = path.stat()
    with pytest.raises(OutputError, match="device, pipe or socket"):
        write(path)
    assert (path.stat().st_ino, path.stat().st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no /dev/null")
@pytest.mark.parametrize("device", ["/dev/null", "/dev/full", "/dev/zero"])
def test_a_device_is_refused_before_the_work(device):
    with pytest.raises(OutputError, match="device, pipe or socket"):
        check_output(device)


@pytest.mark.parametrize(
    "name", ["x" * 250 + ".csv", "日" * 80 + ".csv", "x." + "y" * 250, ".csv", "x\ny.csv"]
)
def test_every_name_that_the_system_takes_can_be_written(tmp_path, name):
    write(tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["x" * 300, "no/x.csv", "\0"])
def test_a_name_that_it_does_not_take_is_refused(tmp_path, name):
    with pytest.raises(OutputError, match="cannot write"):
        check_output(tmp_path / name)


def test_two_results_need_two_files(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "x.csv")
    check_distinct(None, tmp_path / "x.csv", None, tmp_path / "y.csv")
    with pytest.raises(OutputError, match="same file"):
        check_distinct(tmp_path / "x.csv", tmp_path / "link")
