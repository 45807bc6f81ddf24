"""One greedy key: how fast others are answered while it asks for the costliest things there are.

Two web processes. One agent's key assembles contexts with a topic, twenty a second, for 15 s alone, and then for 30 s
beside forty connections on which another agent's key sends costly requests as fast as it gets answers, refusals too.

`others_p50_alone`, `others_p95_alone`: milliseconds of the first key's assemblies while nobody else asks;
`others_p95_greedy`: beside the greedy key; `others_p95_ratio`: the second by the first. `others_errors`: its requests
without a context. `greedy_answered`, `greedy_refused`: what the greedy key got; `greedy_p95` of what was answered.
`grown_mb`: by how many megabytes the process of the server that grew most has grown, ten seconds after the end.
`worst_cpu_s`, `worst_mb`: the costliest of the requests sent alone: processor time, and memory at its highest above
that before it. `LIMITS=off` sets no limits; the heavy lane stays. The load comes from one process of lower priority.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.benchmarks.conversations import conversations, last_session, questions
from tests.benchmarks.figures import figure
from tests.benchmarks.greedy_load import costly_requests
from tests.benchmarks.http_assembly import manage, served

NAME = "greedy"
PROCESSES, CONNECTIONS = 2, 40
ALONE_SECONDS, GREEDY_SECONDS, REST_SECONDS = 15, 30, 10
PACE_SECONDS = 0.05
UNLIMITED = {"QUOTA_REQUESTS_UNDER_WAY": "0", "QUOTA_REQUESTS_PER_MINUTE": "0", "QUOTA_RECORD_BYTES_PER_DAY": "0"}


def run() -> None:
    """Print the figures."""
    if os.environ.get("LIMITS") == "off":
        os.environ.update(UNLIMITED)
    folder = Path(os.environ["DOSSIER_DATA_DIR"])
    with served("--processes", str(PROCESSES)) as address:
        files = conversations(folder)[:2]
        for number, file in enumerate(files):
            manage("import_conversation", str(file), "--agent", f"agent-{number}")
        keys = [manage("create_api_key", "--agent", f"agent-{number}").split()[-1] for number in (0, 1)]
        other = _Other(address, keys[0], _asked(files[0]))
        other.ask_for(5)
        alone = other.ask_for(ALONE_SECONDS)
        _send_each_once(address, keys[1])  # what is loaded once is no growth
        before = _memory()
        command = [sys.executable, "-m", "tests.benchmarks.greedy_load", address]
        load = subprocess.Popen(
            [*command, str(CONNECTIONS), str(GREEDY_SECONDS + 2)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert load.stdin
        load.stdin.write(json.dumps({"key": keys[1], "agent": "agent-1"}))
        load.stdin.close()
        time.sleep(1)
        beside = other.ask_for(GREEDY_SECONDS)
        assert load.stdout
        greedy = json.loads(load.stdout.read())
        load.wait()
        time.sleep(REST_SECONDS)
        after = _memory()
        _report(alone, beside, greedy)
        grown = [after[name] - before.get(name, before_of_role(before, name)) for name in after]
        figure(NAME, "grown_mb", max(grown), "MB", len(grown))
        _report_costs(address, keys[1])


class Asked(NamedTuple):
    """What came of one key's requests: milliseconds of each, and how many got no context."""

    took: list[float]
    errors: int


class _Other:
    """The key that is to be disturbed by nobody."""

    def __init__(self, address: str, key: str, bodies: Iterator[dict[str, Any]]) -> None:
        self._client = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=90)
        self._bodies = bodies

    def ask_for(self, seconds: float) -> Asked:
        """Ask for a context every PACE_SECONDS, later where an answer took longer."""
        took, errors, until = [], 0, time.monotonic() + seconds
        while time.monotonic() < until:
            begun = time.perf_counter()
            try:
                answer = self._client.post("/api/v1/assemblies", json=next(self._bodies))
                errors += answer.status_code != 201
            except httpx.TransportError:
                errors += 1
            took.append((time.perf_counter() - begun) * 1000)
            time.sleep(max(0.0, PACE_SECONDS - (time.perf_counter() - begun)))
        return Asked(sorted(took), errors)


def _asked(file: Path) -> Iterator[dict[str, Any]]:
    """Requests of the conversation profile with a topic, each for a moment that nobody asked for."""
    topics, moment = questions(file), last_session(file)
    number = 0
    while True:
        number += 1
        now = moment.replace(microsecond=number % 1_000_000)
        yield {"agent": "agent-0", "topic": topics[number % len(topics)], "now": now.isoformat()}


def _report(alone: Asked, beside: Asked, greedy: dict[str, Any]) -> None:
    figure(NAME, "others_p50_alone", statistics.median(alone.took), "ms", len(alone.took))
    figure(NAME, "others_p95_alone", _p95(alone.took), "ms", len(alone.took))
    figure(NAME, "others_p50_greedy", statistics.median(beside.took), "ms", len(beside.took))
    figure(NAME, "others_p95_greedy", _p95(beside.took), "ms", len(beside.took))
    figure(NAME, "others_max_greedy", beside.took[-1], "ms", len(beside.took))
    figure(NAME, "others_p95_ratio", _p95(beside.took) / _p95(alone.took), "ratio", len(beside.took))
    figure(NAME, "others_errors", beside.errors + alone.errors, "count", len(beside.took) + len(alone.took))
    for name, count in greedy["statuses"].items():
        figure(NAME, f"greedy_{name}", count, "count", count)


def _p95(took: list[float]) -> float:
    return took[int(len(took) * 0.95)]


def _send_each_once(address: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with httpx.Client(base_url=address, headers=headers, timeout=120) as client:
        for one in costly_requests("agent-1"):
            client.request(one.method, one.path, content=one.body)


def _report_costs(address: str, key: str) -> None:
    """Print what the costliest request takes, sent alone."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    cpu: list[tuple[float, str]] = []
    memory: list[tuple[float, str]] = []
    with httpx.Client(base_url=address, headers=headers, timeout=120) as client:
        for one in costly_requests("agent-1"):
            until = time.monotonic() + 15
            for pid in _server_processes():
                Path(f"/proc/{pid}/clear_refs").write_text("5")  # the highest so far is forgotten
            resident, used = _memory(), _processor_seconds()
            answer = client.request(one.method, one.path, content=one.body)
            while answer.status_code == 429 and time.monotonic() < until:
                time.sleep(1)
                answer = client.request(one.method, one.path, content=one.body)
            cpu.append((_processor_seconds() - used, one.name))
            highest = _memory("VmHWM")
            memory.append((max(highest[name] - resident.get(name, highest[name]) for name in highest), one.name))
            print(one.name, answer.status_code, cpu[-1][0], memory[-1][0], file=sys.stderr, flush=True)
    figure(NAME, "worst_cpu_s", max(cpu)[0], "s", len(cpu))
    figure(NAME, "worst_mb", max(memory)[0], "MB", len(memory))


def before_of_role(before: dict[str, float], name: str) -> float:
    """Return the memory that a process with the same work had: of one that took another's place meanwhile."""
    role = name.partition(" ")[0]
    return max((size for other, size in before.items() if other.startswith(f"{role} ")), default=0.0)


def _memory(field: str = "VmRSS") -> dict[str, float]:
    """Return megabytes by process."""
    found = {}
    for pid in _server_processes():
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
        found[f"{_role(pid)} {pid}"] = next(int(line.split()[1]) / 1000 for line in lines if line.startswith(field))
    return found


def _processor_seconds() -> float:
    ticks = 0
    for pid in _server_processes():
        facts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(facts[11]) + int(facts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _role(pid: int) -> str:
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return arguments[2].decode() if len(arguments) > 2 else ""


def _server_processes() -> list[int]:
    """Return the pids of what answers requests: the web processes, and the heavy one where there is one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
            grandparent = int(Path(f"/proc/{parent}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if grandparent == os.getpid() and _role(int(folder.name)) in {"web", "heavy"}:
            found.append(int(folder.name))
    return found
