"""A worker gives way to requests, also where the kernel groups processes by session."""

import subprocess
import sys

import pytest

from memories.jobs.worker_process import GROUP_FILE, GROUP_NICENESS, NICENESS

PROGRAM = """
import os
from pathlib import Path
from memories.jobs.worker_process import GROUP_FILE, lower_priority
before = os.nice(0)
lower_priority()
print(before, os.nice(0), GROUP_FILE.read_text() if GROUP_FILE.exists() else "")
"""


def lowered(*, own_session: bool) -> list[str]:
    """Return the words that a process prints that lowered its priority: niceness before and after, and its group."""
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, start_new_session=own_session
    )
    return told.stdout.split()


def test_the_process_is_nicer_than_before() -> None:
    before, after, *_ = lowered(own_session=False)
    assert int(after) == min(int(before) + NICENESS, 19)


@pytest.mark.skipif(not GROUP_FILE.exists(), reason="this kernel does not group processes by session")
def test_a_session_of_its_own_is_nicer_too() -> None:
    *_, name, niceness = lowered(own_session=True)
    assert (name, niceness) == ("nice", str(GROUP_NICENESS))


@pytest.mark.skipif(not GROUP_FILE.exists(), reason="this kernel does not group processes by session")
def test_a_session_with_other_programs_stays_as_it_is() -> None:
    kept = GROUP_FILE.read_text(encoding="ascii").split()
    assert lowered(own_session=False)[2:] == kept
