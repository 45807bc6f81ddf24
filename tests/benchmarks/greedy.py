"""One greedy key: how fast others are answered while it asks for the costliest things there are.

Two web processes. One agent's key assembles contexts with a topic, twenty a second, for 15 s alone, and then for 30 s
next to forty connections on which another key, an admin's, sends the costliest requests that the limits allow (those of
`costly_requests` over REST) as fast as it gets answers, refusals too.

`others_p50_alone`, `others_p95_alone`: milliseconds of the first key's assemblies while nobody else asks;
`others_p95_greedy`: next to the greedy key; `others_p95_ratio`: the second by the first. `others_errors`: its requests
without a context. `greedy_200`, `greedy_429` …: answers to the greedy key by status.
`grown_mb`: by how many megabytes the process of the server that grew most has grown, ten seconds after the end.
`worst_cpu_s`, `worst_mb`: the costliest of the requests sent alone: processor time of the process that answers, with
all its threads, and its memory at its highest above that before it. Of a heavy process that made room for another one
after its answer, it is told by what `serve` knows of the children that ended. What the new one needs to begin is no
part of the request: each is sent once all processes are at rest.
`LIMITS=off` sets no limits; the heavy lane stays. The load comes from one process of lower priority.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import django
import httpx

from tests.benchmarks.conversations import conversations, last_session, questions
from tests.benchmarks.costly_agents import LADEN, TEAM, compared_versions, laden
from tests.benchmarks.costly_requests import Sent, costly_requests
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served

NAME = "greedy"
PROCESSES, CONNECTIONS = 2, 40
ALONE_SECONDS, GREEDY_SECONDS, REST_SECONDS = 15, 30, 10
PACE_SECONDS, PATIENCE_SECONDS = 0.05, 120
CREATED = 201
LOOK_SECONDS, REST_LOOK_SECONDS, IDLE_SECONDS = 0.02, 0.3, 0.03
UNLIMITED = {"QUOTA_REQUESTS_UNDER_WAY": "0", "QUOTA_REQUESTS_PER_MINUTE": "0", "QUOTA_RECORD_BYTES_PER_DAY": "0"}


def run() -> None:
    """Print the figures."""
    if os.environ.get("LIMITS") == "off":
        os.environ.update(UNLIMITED)
    folder = Path(os.environ["DOSSIER_DATA_DIR"])
    with served("--processes", str(PROCESSES)) as address:
        file = conversations(folder)[0]
        manage("import_conversation", str(file), "--agent", "agent-0")
        keys = [manage("create_api_key", *whose).split()[-1] for whose in (("--agent", "agent-0"), ("--admin",))]
        django.setup()
        names = laden(last_session(file))
        compared_versions()
        requests = _costly(address, keys[1], names)
        other = _Other(address, keys[0], _asked(file))
        other.ask_for(5)
        alone = other.ask_for(ALONE_SECONDS)
        _report_costs(address, keys[1], requests)  # what is loaded once is no growth
        before = _memory()
        command = [sys.executable, "-m", "tests.benchmarks.greedy_load", address]
        load = subprocess.Popen(
            [*command, str(CONNECTIONS), str(GREEDY_SECONDS + 2)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert load.stdin
        load.stdin.write(json.dumps({"key": keys[1], "requests": [one.on_the_wire for one in requests]}))
        load.stdin.close()
        time.sleep(1)
        disturbed = other.ask_for(GREEDY_SECONDS)
        assert load.stdout
        greedy = json.loads(load.stdout.read())
        load.wait()
        time.sleep(REST_SECONDS)
        after = _memory()
        _report(alone, disturbed, greedy)
        grown = [after[name] - before.get(name, _before_of_role(before, name)) for name in after]
        figure(NAME, "grown_mb", max(grown), "MB", len(grown))


class _Sent(NamedTuple):
    """What came of one key's requests: milliseconds of each, and how many got no context."""

    took: list[float]
    errors: int


class _Other:
    """The key that is to be disturbed by nobody."""

    def __init__(self, address: str, key: str, bodies: Iterator[dict[str, Any]]) -> None:
        self._client = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=90)
        self._bodies = bodies

    def ask_for(self, seconds: float) -> _Sent:
        """Ask for a context every PACE_SECONDS, later where an answer took longer."""
        took, errors, until = [], 0, time.monotonic() + seconds
        while time.monotonic() < until:
            begun = time.perf_counter()
            try:
                answer = self._client.post("/api/v1/assemblies", json=next(self._bodies))
                errors += answer.status_code != CREATED
            except httpx.TransportError:
                errors += 1
            took.append((time.perf_counter() - begun) * 1000)
            time.sleep(max(0.0, PACE_SECONDS - (time.perf_counter() - begun)))
        return _Sent(sorted(took), errors)


def _asked(file: Path) -> Iterator[dict[str, Any]]:
    """Requests of the conversation profile with a topic, each for a moment that has no context yet."""
    topics, moment = questions(file), last_session(file)
    number = 0
    while True:
        number += 1
        now = moment.replace(microsecond=number % 1_000_000)
        yield {"agent": "agent-0", "topic": topics[number % len(topics)], "now": now.isoformat()}


def _report(alone: _Sent, disturbed: _Sent, greedy: dict[str, Any]) -> None:
    figure(NAME, "others_p50_alone", statistics.median(alone.took), "ms", len(alone.took))
    figure(NAME, "others_p95_alone", _p95(alone.took), "ms", len(alone.took))
    figure(NAME, "others_p50_greedy", statistics.median(disturbed.took), "ms", len(disturbed.took))
    figure(NAME, "others_p95_greedy", _p95(disturbed.took), "ms", len(disturbed.took))
    figure(NAME, "others_max_greedy", disturbed.took[-1], "ms", len(disturbed.took))
    figure(NAME, "others_p95_ratio", _p95(disturbed.took) / _p95(alone.took), "ratio", len(disturbed.took))
    figure(NAME, "others_errors", disturbed.errors + alone.errors, "count", len(disturbed.took) + len(alone.took))
    for name, count in greedy["statuses"].items():
        figure(NAME, f"greedy_{name}", count, "count", count)


def _p95(took: list[float]) -> float:
    return took[int(len(took) * 0.95)]


class _Request(NamedTuple):
    """One costly request, ready to be sent."""

    name: str
    method: str
    sent: Sent

    @property
    def on_the_wire(self) -> tuple[str, str, str, str]:
        """What the process of the load is told: JSON holds no bytes."""
        return self.method, self.sent.path, self.sent.content_type, self.sent.body.decode("latin-1")


def _costly(address: str, key: str, names: dict[str, str]) -> list[_Request]:
    """Those over REST, about contexts that the laden agent was given just now."""
    _wait_for_jobs()
    with _client(address, key) as client:
        for name in ("assembly", "other"):
            names[name] = _assembled(client, name)
        wanted = {"assembly_id": names["assembly"], "overrides": {"max_tokens": 200_000}}
        names["proposal"] = client.post("/api/v1/proposals", json=wanted).raise_for_status().json()["id"]
    return [_Request(one.name, one.method, one.sent(names)) for one in costly_requests() if not one.is_page]


def _wait_for_jobs() -> None:
    """Return when what was stored is split and embedded, so that no worker disturbs what is measured."""
    from memories.jobs.services import UNFINISHED
    from memories.models import Job

    for _ in range(PATIENCE_SECONDS):
        if not Job.objects.filter(status__in=UNFINISHED).exists():
            return
        time.sleep(1)


def _assembled(client: httpx.Client, topic: str) -> str:
    """The id of a new context. The first of a large agent may be late on a busy machine."""
    wanted = {"agent": LADEN, "team": TEAM, "profile": "stack", "topic": topic, "budgets": {"time_ms": 60_000}}
    for _ in range(5):
        answer = client.post("/api/v1/assemblies", json=wanted)
        if answer.status_code == CREATED:
            return str(answer.json()["id"])
    sys.exit(f"no context was assembled: {answer.text}")


def _client(address: str, key: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    return httpx.Client(base_url=address, headers=headers, timeout=120)


def _report_costs(address: str, key: str, requests: list[_Request]) -> None:
    """Print what the costliest request takes, sent alone."""
    cpu: list[tuple[float, str]] = []
    memory: list[tuple[float, str]] = []
    with _client(address, key) as client:
        for one in requests:
            _wait_for_rest()
            for pid in _server_processes():
                Path(f"/proc/{pid}/clear_refs").write_text("5")  # the highest so far is forgotten
            with _PeakWatch() as peaks:
                resident, used, used_by_ended = _memory(), _processor_seconds(), _seconds_of_ended()
                answer = client.request(
                    one.method, one.sent.path, content=one.sent.body, headers={"Content-Type": one.sent.content_type}
                )
            _wait_for_rest()
            now = _processor_seconds()
            spent = sum(seconds - used[pid] for pid, seconds in now.items() if pid in used)
            if ended := used.keys() - now.keys():
                spent += _seconds_of_ended() - used_by_ended - sum(used[pid] for pid in ended)
            cpu.append((spent, one.name))
            memory.append((max(peaks.highest.get(name, size) - size for name, size in resident.items()), one.name))
            print(one.name, answer.status_code, round(spent, 2), round(memory[-1][0]), file=sys.stderr, flush=True)
    figure(NAME, "worst_cpu_s", max(cpu)[0], "s", len(cpu))
    figure(NAME, "worst_mb", max(memory)[0], "MB", len(memory))


class _PeakWatch:
    """Reads again and again how much memory each process had at its highest: one of them may end with the request."""

    def __init__(self) -> None:
        self.highest: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "_PeakWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.highest |= _memory("VmHWM")

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self.highest |= _memory("VmHWM")


def _wait_for_rest() -> None:
    """Return once all processes are there and none computes."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        before = _processor_seconds()
        time.sleep(REST_LOOK_SECONDS)
        after = _processor_seconds()
        is_whole = len(after) == PROCESSES + 1 and before.keys() == after.keys()
        if is_whole and sum(after.values()) - sum(before.values()) <= IDLE_SECONDS:
            return


def _before_of_role(before: dict[str, float], name: str) -> float:
    """Return the memory that a process with the same work had: of one that took another's place meanwhile."""
    role = name.partition(" ")[0]
    return max((size for other, size in before.items() if other.startswith(f"{role} ")), default=0.0)


def _memory(field: str = "VmRSS") -> dict[str, float]:
    """Return megabytes by process."""
    found = {}
    for pid in _server_processes():
        try:
            lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
            found[f"{_role(pid)} {pid}"] = next(int(line.split()[1]) / 1000 for line in lines if line.startswith(field))
        except (OSError, StopIteration):  # it is gone
            continue
    return found


def _processor_seconds() -> dict[int, float]:
    """Return what each process has computed so far, by its pid."""
    found = {}
    for pid in _server_processes():
        with contextlib.suppress(OSError):
            found[pid] = sum(map(int, _stat(pid)[11:13])) / os.sysconf("SC_CLK_TCK")
    return found


def _seconds_of_ended() -> float:
    """Return what the children of `serve` computed that have ended by now."""
    [server] = {int(_stat(pid)[1]) for pid in _server_processes()}
    return sum(map(int, _stat(server)[13:15])) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """Return the fields of a process's state that follow its name."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()


def _role(pid: int) -> str:
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return arguments[2].decode() if len(arguments) > 2 else ""


def _server_processes() -> list[int]:
    """Return the pids of what answers requests: the web processes, and the heavy one where there is one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            grandparent = int(_stat(int(_stat(int(folder.name))[1]))[1])
            if grandparent == os.getpid() and _role(int(folder.name)) in {"web", "heavy"}:
                found.append(int(folder.name))
        except (OSError, ValueError, IndexError):
            continue
    return found
