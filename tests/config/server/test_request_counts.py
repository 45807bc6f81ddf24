"""Requests counted by several processes together."""

import subprocess
import sys
from pathlib import Path

import pytest

from config.server import request_counts
from config.server.request_counts import (
    FILE,
    PROBES,
    REGION,
    REGIONS,
    SLOTS,
    RequestCounts,
    SubjectCounts,
    make_file,
    seconds_left,
)

pytestmark = pytest.mark.finding("3q")

OTHER_PROCESS = """
from config.server.request_counts import RequestCounts
counts = RequestCounts.of_environment()
for _ in range(3):
    counts.begin("key:1", heavy=False)
counts.begin("key:1", heavy=True)
counts.end("key:1", heavy=False)
print(counts.of("key:1"))
"""


@pytest.fixture(autouse=True)
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The minute does not change while a test runs."""
    monkeypatch.setattr(request_counts, "_minute", lambda: 7)


def test_what_begins_and_ends_is_counted() -> None:
    counts = RequestCounts()
    counts.begin("key:1", heavy=False)
    counts.begin("key:1", heavy=True)
    counts.begin("key:2", heavy=False)
    assert counts.of("key:1") == SubjectCounts(under_way=2, heavy=1, this_minute=2)
    counts.end("key:1", heavy=True)
    assert counts.of("key:1") == SubjectCounts(1, 0, 2)
    assert counts.of("key:3") == SubjectCounts(0, 0, 0)


def test_each_minute_is_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = RequestCounts()
    counts.begin("key:1", heavy=False)
    monkeypatch.setattr(request_counts, "_minute", lambda: 8)
    assert counts.of("key:1") == SubjectCounts(1, 0, 0), "what is under way still is"
    counts.begin("key:1", heavy=False)
    assert counts.of("key:1") == SubjectCounts(2, 0, 1)
    assert 1 <= seconds_left() <= 60


def test_processes_see_each_other_and_what_died_is_cleared(tmp_path: Path) -> None:
    file = make_file(tmp_path, 2)
    mine = RequestCounts(path=file, region=0, regions=2)
    variables = {FILE: str(file), REGION: "1", REGIONS: "2", "PATH": ""}
    folder = Path(__file__).parents[3]
    finished = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS], env=variables, cwd=folder, check=True, capture_output=True, text=True
    )
    assert "under_way=3, heavy=1" in finished.stdout
    mine.begin("key:1", heavy=False)
    assert mine.of("key:1")[:2] == (4, 1)
    mine.clear(1)
    assert mine.of("key:1") == SubjectCounts(1, 0, 1)
    assert file.stat().st_mode & 0o077 == 0


def test_places_of_those_who_are_done_are_taken_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_counts, "_number", lambda subject: 1 + SLOTS * int(subject))  # all lead to one place
    counts = RequestCounts()
    for number in range(PROBES + 1):
        counts.begin(str(number), heavy=False)
    assert counts.of(str(PROBES)).under_way == 0, "more than fit are not counted"
    assert counts.of("0").under_way == 1
    counts.end("0", heavy=False)
    counts.begin(str(PROBES), heavy=False)
    assert counts.of(str(PROBES)).under_way == 0, "those of this minute stay"
    monkeypatch.setattr(request_counts, "_minute", lambda: 8)
    counts.begin(str(PROBES), heavy=False)
    assert counts.of(str(PROBES)) == SubjectCounts(1, 0, 1)
    assert counts.of("0") == SubjectCounts(0, 0, 0)
