"""Counting together: only where there are several processes, in a folder that goes with them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.observability.metrics_files import (
    FOLDER,
    forget_ended_processes,
    is_multiprocess,
    multiprocess_metrics,
)


def test_one_process_counts_in_its_memory() -> None:
    with multiprocess_metrics(1) as variables:
        assert variables == {}
    assert FOLDER not in os.environ
    assert not is_multiprocess()


def test_several_share_a_folder_that_is_gone_afterwards() -> None:
    with multiprocess_metrics(2) as variables:
        folder = Path(variables[FOLDER])
        (folder / "counter_1.db").write_bytes(b"")
        assert folder.is_dir()
    assert not folder.exists()


def test_gauges_of_ended_processes_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    living, gone = f"gauge_livesum_{os.getpid()}.db", f"gauge_livesum_{ended.pid}.db"
    for name in (living, gone, f"counter_{ended.pid}.db"):
        (tmp_path / name).write_bytes(b"")
    forget_ended_processes()
    assert {file.name for file in tmp_path.iterdir()} == {living, f"counter_{ended.pid}.db"}
