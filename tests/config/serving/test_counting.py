"""Counting together: only where there are several processes, in a folder that goes with them."""

import os
from pathlib import Path

from config.observability.metrics_files import FOLDER, counting_together, counts_in_files


def test_one_process_counts_in_its_memory() -> None:
    with counting_together(1) as variables:
        assert variables == {}
    assert FOLDER not in os.environ
    assert not counts_in_files()


def test_several_share_a_folder_that_is_gone_afterwards() -> None:
    with counting_together(2) as variables:
        folder = Path(variables[FOLDER])
        (folder / "counter_1.db").write_bytes(b"")
        assert folder.is_dir()
    assert not folder.exists()
