"""The sign-in page during an attack with connections: 2,000 with half a head, one with a head of 200 MB, twenty with
bodies of 300 MB, announced and not, all begun anew as soon as they are closed. Two web processes, 20 seconds.

`worst_login_ms`, `p50_login_ms`: the page, requested ten times a second on a new connection each time. `login_errors`:
how often it did not come. `most_disk_mb`: temporary files of all processes of the server together, at their highest;
`kept_disk_mb`: afterwards. `rss_mb`: by how much the process that grew most is larger ten seconds after the end.
`head_mb`, `body_mb`: how much of one head, one body could be sent at all; `opened`: connections that were opened.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import served

NAME = "connections"
SECONDS, REST_SECONDS = 20.0, 10.0
HALVES, BODIES = 2_000, 10
PACE_SECONDS = 0.1


def run() -> None:
    """Print the figures."""
    with served("--processes", "2", "--no-worker") as address:
        for _ in range(20):  # what is loaded once is no growth
            httpx.get(f"{address}/accounts/login/", timeout=30).raise_for_status()
        server = [pid for pid in descendants(os.getpid()) if b"manage.py" in _command(pid)]
        before = {pid: resident_mb(pid) for pid in server}
        seen = attack(address, server, SECONDS, HALVES, BODIES)
        time.sleep(REST_SECONDS)
        figure(NAME, "worst_login_ms", max(seen.login_ms), "ms", len(seen.login_ms))
        figure(NAME, "p50_login_ms", statistics.median(seen.login_ms), "ms", len(seen.login_ms))
        figure(NAME, "login_errors", seen.login_errors, "count", len(seen.login_ms))
        figure(NAME, "most_disk_mb", seen.most_disk_mb, "MB", len(seen.login_ms))
        figure(NAME, "kept_disk_mb", temporary_mb(server), "MB", len(server))
        figure(NAME, "rss_mb", max(resident_mb(pid) - before[pid] for pid in server), "MB", len(server))
        for name in ("head_mb", "body_mb"):
            figure(NAME, name, seen.load[name], "MB", 1)
        figure(NAME, "opened", seen.load["opened"], "count", 1)


class Seen(NamedTuple):
    """What was seen during the attack."""

    login_ms: list[float]
    login_errors: int
    most_disk_mb: float
    load: dict[str, Any]


def attack(address: str, server: list[int], seconds: float, halves: int, bodies: int) -> Seen:
    """Ask for the sign-in page for as long as the connections are up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, halves + 1_000)), hard))
    arguments = [address.rpartition(":")[2], str(seconds), str(halves), str(bodies)]
    command = [sys.executable, "-m", "tests.benchmarks.connection_load", *arguments]
    took, errors, most = [], 0, 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as load:
        while load.poll() is None:
            begun = time.perf_counter()
            errors += not _comes(f"{address}/accounts/login/")
            took.append((time.perf_counter() - begun) * 1000)
            most = max(most, temporary_mb(server))
            time.sleep(PACE_SECONDS)
        assert load.stdout
        return Seen(took, errors, most, json.loads(load.stdout.read()))


def _comes(address: str) -> bool:
    """Return whether a page comes. As a browser does, a connection that is closed without an answer is tried once more:
    one whose request has not arrived yet may be the oldest of a burst from the same client.
    """
    for _ in range(2):
        with suppress(httpx.TransportError):
            return httpx.get(address, timeout=30).status_code == httpx.codes.OK
    return False


def temporary_mb(pids: list[int]) -> float:
    """Return the megabytes of temporary files that the processes have open. They have no name any more."""
    total = 0
    for link in (link for pid in pids for link in Path(f"/proc/{pid}/fd").glob("*")):
        with suppress(OSError):  # closed meanwhile
            total += link.stat().st_size if str(link.readlink()).endswith("(deleted)") else 0
    return total / 1_000_000


def resident_mb(pid: int) -> float:
    """Return the memory that the process has."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1_000 for line in lines if line.startswith("VmRSS"))


def descendants(pid: int) -> list[int]:
    """Return the pids of all processes that the process started, and that these did."""
    children = [int(one) for file in Path(f"/proc/{pid}/task").glob("*/children") for one in file.read_text().split()]
    return [one for child in children for one in (child, *descendants(child))]


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
