"""Compiled code on disk: used again, never for other sources, and not needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import muntin

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
