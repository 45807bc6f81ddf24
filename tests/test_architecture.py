"""Imports point one way: the contracts of pyproject.toml hold."""

import subprocess
import sys
from pathlib import Path


def test_import_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    folder = Path(__file__).parent.parent
    finished = subprocess.run([linter, "--no-cache"], check=False, capture_output=True, text=True, cwd=folder)
    assert finished.returncode == 0, finished.stdout
