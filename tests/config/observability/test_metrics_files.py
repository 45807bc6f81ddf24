"""Counting together: only where there are several processes, in a folder that goes with them."""

import os
from pathlib import Path

from config.observability.metrics_files import FOLDER, is_multiprocess, multiprocess_metrics


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
