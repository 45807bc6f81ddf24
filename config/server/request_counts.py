"""Requests in progress and requests of the current minute are counted across the web processes of one server.

The processes share a file in memory. Each process writes into a region of its own, and sums over all regions: there are
no locks, and the counts of a killed process disappear when its parent clears its region. A region is a hash table; a
subject whose sixteen slots are all taken by active subjects is not counted.
"""

import hashlib
import mmap
import os
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

FILE, REGION, REGIONS = "DOSSIER_REQUEST_COUNTS", "DOSSIER_REGION", "DOSSIER_REGIONS"
"""The environment variables that tell a web process where it counts."""

SLOTS, PROBES = 4_096, 16
SUBJECT, MINUTE, REQUESTS, UNDER_WAY, HEAVY, CELLS = range(6)
CELL_BYTES = 8
REGION_CELLS = SLOTS * CELLS
REGION_BYTES = REGION_CELLS * CELL_BYTES
MINUTE_SECONDS = 60


class SubjectCounts(NamedTuple):
    """The requests of a subject in all processes: in progress, costly ones among them, and of the current minute."""

    under_way: int
    heavy: int
    this_minute: int


class RequestCounts:
    """The counts, as one process sees them. Without a shared file, a process counts in its own memory."""

    def __init__(self, *, path: Path | None = None, region: int = 0, regions: int = 1) -> None:
        size = regions * REGION_BYTES
        if path is None:
            self._memory = mmap.mmap(-1, size)
        else:
            with path.open("r+b") as file:
                self._memory = mmap.mmap(file.fileno(), size)
        self._cells = memoryview(self._memory).cast("Q")
        self._bases = [number * REGION_CELLS for number in range(regions)]
        self._own_base = region * REGION_CELLS
        self.clear(region)

    @classmethod
    def of_environment(cls, variables: Mapping[str, str] = os.environ) -> "RequestCounts":
        """Return the counts in the file of the parent; without a file, counts of this process alone."""
        if FILE not in variables:
            return cls()
        return cls(path=Path(variables[FILE]), region=int(variables[REGION]), regions=int(variables[REGIONS]))

    def clear(self, region: int) -> None:
        """Clear the counts of a process that has ended."""
        begin = region * REGION_BYTES
        self._memory[begin : begin + REGION_BYTES] = bytes(REGION_BYTES)

    def begin(self, subject: str, *, heavy: bool, moved: bool = False) -> None:
        """Count a request that begins. One that was `moved` to the heavy lane is counted in its minute already."""
        minute, place = _minute(), self._own_place(_number(subject))
        if place < 0:
            return
        cells = self._cells
        if cells[place + MINUTE] != minute:
            cells[place + MINUTE], cells[place + REQUESTS] = minute, 0
        cells[place + REQUESTS] += not moved
        cells[place + UNDER_WAY] += 1
        cells[place + HEAVY] += heavy

    def end(self, subject: str, *, heavy: bool) -> None:
        """Count a request that ended; it began in this process."""
        place = self._find(self._own_base, _number(subject))
        if place >= 0 and self._cells[place + UNDER_WAY]:
            self._cells[place + UNDER_WAY] -= 1
            self._cells[place + HEAVY] -= heavy

    def of(self, subject: str) -> SubjectCounts:
        """Return the sums over all processes."""
        number, minute, cells = _number(subject), _minute(), self._cells
        under_way = heavy = this_minute = 0
        for base in self._bases:
            place = self._find(base, number)
            if place >= 0:
                under_way += cells[place + UNDER_WAY]
                heavy += cells[place + HEAVY]
                if cells[place + MINUTE] == minute:
                    this_minute += cells[place + REQUESTS]
        return SubjectCounts(under_way, heavy, this_minute)

    def _find(self, base: int, number: int) -> int:
        cells, first = self._cells, number % SLOTS
        for step in range(PROBES):
            place = base + (first + step) % SLOTS * CELLS
            if cells[place] == number:
                return place
        return -1

    def _own_place(self, number: int) -> int:
        """Return the slot of a subject in this process's region; -1 if all its slots are taken."""
        found = self._find(self._own_base, number)
        if found >= 0:
            return found
        cells, first, minute = self._cells, number % SLOTS, _minute()
        for step in range(PROBES):
            place = self._own_base + (first + step) % SLOTS * CELLS
            if not cells[place + UNDER_WAY] and cells[place + MINUTE] != minute:
                cells[place + REQUESTS] = cells[place + HEAVY] = 0
                cells[place + MINUTE] = minute
                cells[place + SUBJECT] = number
                return place
        return -1


def make_file(folder: Path, regions: int) -> Path:
    """Create the file in which this many processes count."""
    path = folder / "request_counts"
    path.touch(mode=0o600)
    os.truncate(path, regions * REGION_BYTES)
    return path


def seconds_left() -> int:
    """Return the seconds until the next minute, in which requests are counted from 0: 1 to 60."""
    return MINUTE_SECONDS - int(time.time()) % MINUTE_SECONDS


def _minute() -> int:
    return int(time.time()) // MINUTE_SECONDS


@lru_cache(maxsize=20_000)
def _number(subject: str) -> int:
    """Return a number for the subject; never 0, which marks a free slot."""
    return int.from_bytes(hashlib.blake2b(subject.encode(), digest_size=CELL_BYTES).digest()) | 1
