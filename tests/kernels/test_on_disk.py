"""Compiled code on disk: used again, never for other sources, and not needed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import muntin
from muntin.kernels import on_disk
from muntin.kernels.on_disk import _Files

PROGRAM = """
import numpy as np
from muntin.kernels.catalogue import reduce_ranges
from muntin.kernels.naive import naive
from muntin.kernels.operators import Sum
print(reduce_ranges(Sum(), np.array([2, 3, 5]), np.array([0]), np.array([3]), by="naive")[0])
print(sum(naive.stats.cache_hits.values()))
"""


def run(package: Path, cache: Path) -> list[str]:
    """Add 2, 3 and 5 in a new process; give the result, and how often code was found on disk."""
    environment = os.environ | {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)}
    environment |= {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}  # and no other place
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout.split()


def test_code_is_used_again_but_not_for_other_operators(tmp_path: Path) -> None:
    package, cache = tmp_path / "package", tmp_path / "cache"
    shutil.copytree(Path(muntin.__file__).parent, package / "muntin", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(package, cache) == ["10", "0"]
    assert run(package, cache) == ["10", "1"]
    operators = package / "muntin/kernels/operators.py"
    operators.write_text(operators.read_text().replace("return a + b", "return a * b", 1))
    assert run(package, cache) == ["30", "0"]


@pytest.mark.skipif(os.name != "posix", reason="needs /dev/null")
def test_without_a_folder_to_write_to_code_is_compiled_each_time(tmp_path: Path) -> None:
    source = Path(muntin.__file__).parents[1]
    assert run(source, Path("/dev/null/cache")) == ["10", "0"]


def saved(folder: Path) -> tuple[_Files, Path]:
    """Save a value, and give its only file."""
    folder.mkdir(mode=0o700)
    files = _Files(folder, "kernel")
    files.save("key", {"code": 7})
    (path,) = folder.iterdir()
    assert files.load("key") == {"code": 7}
    return files, path


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_not_loaded(tmp_path: Path, mode: int) -> None:
    files, path = saved(tmp_path / "cache")
    path.chmod(mode)
    assert files.load("key") is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_nothing_is_loaded_from_a_folder_that_others_can_write(tmp_path: Path, mode: int) -> None:
    files, path = saved(tmp_path / "cache")
    path.parent.chmod(mode)
    assert files.load("key") is None


@pytest.mark.parametrize("is_kind", [stat.S_ISDIR, stat.S_ISREG], ids=["folder", "file"])
def test_nothing_of_another_user_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_kind: Callable[[int], bool]
) -> None:
    """Neither a file of theirs in our folder, nor a file of ours in their folder."""
    files, _ = saved(tmp_path / "cache")
    real = os.fstat

    def fstat(handle: int) -> os.stat_result:
        status = real(handle)
        fields = list(status)
        if is_kind(status.st_mode):
            fields[stat.ST_UID] += 1
        return os.stat_result(fields)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", fstat)
        assert files.load("key") is None
    assert files.load("key") == {"code": 7}


def test_a_folder_that_is_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    """Somebody can plant a link in a folder that all users share, to a folder of ours that they choose."""
    _, path = saved(tmp_path / "elsewhere")
    link = tmp_path / "muntin"
    link.symlink_to(path.parent)
    files = _Files(link, "kernel")
    assert files.load("key") is None
    files.save("other", {"code": 8})
    files.flush()
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_is_a_link_is_not_loaded(tmp_path: Path) -> None:
    files, path = saved(tmp_path / "cache")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert files.load("key") is None
    files.save("key", {"code": 8})
    assert files.load("key") == {"code": 8}
    assert not path.is_symlink()


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_nothing_is_saved_to_a_folder_that_others_can_write(tmp_path: Path, mode: int) -> None:
    files, path = saved(tmp_path / "cache")
    path.parent.chmod(mode)
    files.save("other", {"code": 8})
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_exchanged_after_the_check_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can rename the folder does so between the check and the read."""
    files, _ = saved(tmp_path / "cache")
    planted, _ = saved(tmp_path / "planted")
    planted.save("key", {"code": "theirs"})
    real = os.fstat

    def exchange(handle: int) -> os.stat_result:
        status = real(handle)
        if stat.S_ISDIR(status.st_mode) and planted.folder.exists():
            files.folder.rename(tmp_path / "away")
            planted.folder.rename(files.folder)
        return status

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", exchange)
        assert files.load("key") == {"code": 7}


def test_a_pipe_in_the_folder_holds_nobody_up(tmp_path: Path) -> None:
    """It is opened in another process, which is ended if it waits."""
    _, path = saved(tmp_path / "cache")
    path.unlink()
    os.mkfifo(path)
    program = (
        "import sys; from pathlib import Path; from muntin.kernels.on_disk import _Files;"
        "print(_Files(Path(sys.argv[1]), 'kernel').load('key'))"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(muntin.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program, str(path.parent)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "None"


def test_without_folders_that_can_be_opened_no_code_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disk, "_CAN_OPEN_IN_FOLDERS", False)

    def function() -> None: ...

    assert not vars(on_disk.kept_on_disk(SimpleNamespace(py_func=function))).keys() - {"py_func"}


def test_a_damaged_file_is_compiled_again(tmp_path: Path) -> None:
    """Empty, cut off, changed, or not to be opened."""
    files, path = saved(tmp_path / "cache")
    whole = path.read_bytes()
    for damaged in (b"", whole[:10], whole[:-1], whole[:-1] + b"?"):
        path.write_bytes(damaged)
        assert files.load("key") is None
    path.unlink()
    path.mkdir()
    assert files.load("key") is None
    path.rmdir()
    files.save("key", {"code": 8})
    assert files.load("key") == {"code": 8}


def test_what_cannot_be_saved_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, path = saved(tmp_path / "cache")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    files.save("other", {"code": 8})
    assert list(path.parent.iterdir()) == [path]


def test_users_have_folders_of_their_own(tmp_path: Path) -> None:
    """Even where everybody can write the folder that NUMBA_CACHE_DIR names."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o777)
    cache.chmod(0o777)
    source = Path(muntin.__file__).parents[1]
    assert run(source, cache) == ["10", "0"]
    assert {path.parent.name for path in cache.rglob("*.nbc")} == {f"muntin-{os.geteuid()}"}
    assert run(source, cache) == ["10", "1"]


PLAIN = """
import numpy as np, pyarrow as pa
from muntin.arrow.holistic import Mode, Percentile
from muntin.arrow.reducers import reducer
from muntin.aggregates import Merge
from muntin.kernels.catalogue import KERNELS, able, reduce_ranges
from muntin.kernels.operators import Min, Sum
lo, hi = np.array([0, 1, 3]), np.array([3, 5, 6])
for merge in (Merge.SUM, Merge.MIN, Merge.MAX, Merge.EARLIER):
    column = pa.array([4, 1, None, 5, 9, 2])
    kind = reducer(merge, pa.int64(), strict=True)
    print(kind.lower(kind.reduce(kind.lift([column]), lo, hi), [column])[0].to_pylist())
for kind in (Percentile(0.5), Mode()):
    column = pa.array([4.0, 1.0, 4.0, 5.0, 5.0, 2.0])
    print(kind.lower(kind.reduce(kind.lift([column]), lo, hi), [column])[0].to_pylist())
for name in KERNELS:
    if name != "slick_deque":
        assert reduce_ranges(Sum(), [4, 1, 0, 5, 9, 2], lo, hi, by=name).tolist() == [5, 15, 16], name
assert reduce_ranges(Min(), [4, 1, 0, 5, 9, 2], lo, hi, by="slick_deque").tolist() == [0, 0, 2]
"""


def test_kernels_run_uncompiled_for_a_debugger() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.stdout.splitlines() == [
        "[5, 15, 16]",
        "[1, 1, 2]",
        "[4, 9, 9]",
        "[1, 1, 2]",
        "[4.0, 4.5, 5.0]",
        "[4.0, 5.0, 5.0]",
    ], done.stderr
