"""The wheel of this checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build_wheel(folder: Path) -> Path:
    """Build the wheel from a copy of what it is made of: setuptools takes up what earlier builds have left behind."""
    with tempfile.TemporaryDirectory() as copy:
        for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        source = Path(copy) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), copy]
        subprocess.run(command, check=True)
    (built,) = folder.glob("*.whl")
    return built
