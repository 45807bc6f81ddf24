"""What agents ask next is read before they ask: two days of the demo's agents, each played three times, with it and
without it.

Two web processes answer, and the worker reads ahead, with the guards of the product: LOAD (50) and IDLE_MS (250) are
its defaults, and another value of LOAD says what it would do on a machine that does nothing else. The first day
(`recorded`) consists of the last QUESTIONS (40) that the demo's agents asked, in their order. The second one
(`held_out`, `tests.benchmarks.held_out_day`) was not looked at when the predictors were made: other agents ask, in
another order each day, some with other words each day, some never again, and record events between their questions.
PAUSE seconds (2) are between two questions. After each day the server is started anew, and shared readings are dropped,
so that no cache lives over night. Each day is played with pre-assembly and without it, on the same database, and the
order of the two changes from day to day, so that a machine that does something else meanwhile slows both. DAYS is the
number of plays (3). Others ask at the same time, about OTHERS (3) times per second at random moments, for contexts that
nobody can expect. ONLY_DAY plays one of the two.

`<day>_hits_<n>`: of the questions of the n-th play that no earlier question of the play had read for, the share whose
sources had been read ahead, as `/metrics` tells; `<day>_known_<n>`: the share that an earlier one had read for.
`<day>_asked_before_<n>`: the share that was asked in the same words before, which is the most that can be expected.
`recorded_differing`: contexts that are not those of the same question, for the same moment, without pre-assembly.
`<day>_read_ahead`: how many contexts the worker has read for. `<day>_asked_p50_<on|off>`: milliseconds of the
questions. `<day>_others_p95_<on|off>`: the median, over the plays, of the 95th percentile of those of the others.
`<day>_others_p95_ratio`: the median, over the plays, of one relative to the other.
"""

import itertools
import json
import os
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import django
import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.benchmarks.figures import figure
from tests.benchmarks.held_out_day import Step, held_out_day
from tests.benchmarks.http_assembly import manage, served

NAME = "preassembly"
QUESTIONS, DAYS = int(os.environ.get("QUESTIONS", "40")), int(os.environ.get("DAYS", "3"))
PAUSE, OTHERS = float(os.environ.get("PAUSE", "2")), float(os.environ.get("OTHERS", "3"))
PROCESSES = "2"
TIME_MS = 20_000
ON = {
    "PREASSEMBLY": "on",
    "PREASSEMBLY_IDLE_MS": os.environ.get("IDLE_MS", "250"),
    "PREASSEMBLY_LOAD_PERCENT": os.environ.get("LOAD", "50"),
}
OFF = {**ON, "PREASSEMBLY": "off"}
UNLIMITED = {"QUOTA_REQUESTS_PER_MINUTE": "0", "QUOTA_RECORD_BYTES_PER_DAY": "0"}

_topics = itertools.count(1)

Day = Callable[[int], list[Step]]


def run() -> None:
    """Print the figures."""
    os.environ.update(UNLIMITED)
    with _serving(OFF, "--demo"):
        key = manage("create_api_key", "--admin").split()[-1]
        django.setup()
        recorded = _recorded_day()
    days: dict[str, Day] = {"recorded": lambda _: recorded, "held_out": held_out_day}
    only = os.environ.get("ONLY_DAY")
    for name in [only] if only else days:
        _Played(name, days[name], key).run()


def _p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


def _recorded_day() -> list[Step]:
    """Return the last questions that the demo's agents asked, in their order."""
    from assembly.models import Assembly

    rows = Assembly.objects.filter(purpose="agent", parent=None, profile_name="conversation").order_by("-created")
    return [Step(row.agent_slug, row.team_slug, row.topic) for row in rows[:QUESTIONS] if row.team_slug][::-1]


class _Played:
    """The plays of a day, and what was measured."""

    def __init__(self, name: str, day: Day, key: str) -> None:
        self._name, self._day, self._key = name, day, key
        self._asked: dict[str, list[float]] = {"on": [], "off": []}
        self._others: dict[str, list[list[float]]] = {"on": [], "off": []}

    def run(self) -> None:
        """Play the day, and print the figures."""
        differing = compared = read = 0
        known: set[tuple[str, str]] = set()
        for number in range(1, DAYS + 1):
            steps, answers = self._day(number), list[dict[str, Any]]()
            for way in ("on", "off") if number % 2 else ("off", "on"):
                with _serving(ON if way == "on" else OFF) as address, self._client(address) as client:
                    _forget_over_night()
                    before = _counted(address)
                    told = self._play(client, address, steps, way)
                    after = _counted(address)
                    if way == "on":
                        answers, gain = told, {name: after[name] - before[name] for name in after}
                        read += int(gain["read"])
                        new = len(steps) - int(gain["known"])
                        self._figure(f"hits_{number}", gain["hit"] / new, "ratio", new)
                        self._figure(f"known_{number}", gain["known"] / len(steps), "ratio", len(steps))
                    elif answers and not any(step.event for step in steps):  # nothing has changed since
                        differing += self._differing(client, steps, answers)
                        compared += len(answers)
            share = sum((one.agent, one.topic) in known for one in steps) / len(steps)
            self._figure(f"asked_before_{number}", share, "ratio", len(steps))
            known |= {(one.agent, one.topic) for one in steps}
        if compared:
            self._figure("differing", differing, "count", compared)
        self._figure("read_ahead", read, "count", DAYS)
        for way, took in self._asked.items():
            self._figure(f"asked_p50_{way}", statistics.median(took), "ms", len(took))
            plays = self._others[way]
            self._figure(f"others_p95_{way}", statistics.median(map(_p95, plays)), "ms", sum(map(len, plays)))
        ratios = [_p95(on) / _p95(off) for on, off in zip(self._others["on"], self._others["off"], strict=True)]
        self._figure("others_p95_ratio", statistics.median(ratios), "on per off", len(ratios))

    def _figure(self, name: str, value: float, unit: str, n: int) -> None:
        figure(NAME, f"{self._name}_{name}", value, unit, n)

    def _client(self, address: str) -> httpx.Client:
        return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {self._key}"}, timeout=60)

    def _play(self, client: httpx.Client, address: str, steps: list[Step], way: str) -> list[dict[str, Any]]:
        """Ask the day's questions while others ask theirs; return the answers."""
        ended, took = threading.Event(), list[float]()
        self._others[way].append(took)
        beside = threading.Thread(target=self._ask_others, args=[address, ended, took])
        answers = []
        beside.start()
        for step in steps:
            if step.event:
                body = {"type": step.event, "content": {"text": f"Before: {step.topic}"}}
                client.post(f"/api/v1/agents/{step.agent}/events", json=body).raise_for_status()
            time.sleep(PAUSE)
            answers.append(_assembled(client, _body(step), self._asked[way]))
        ended.set()
        beside.join()
        return answers

    def _ask_others(self, address: str, ended: threading.Event, took: list[float]) -> None:
        chance = random.Random(1)
        with self._client(address) as client:
            while not ended.wait(chance.expovariate(OTHERS)):
                body = {"agent": "edda", "team": "story-room", "topic": f"Number {next(_topics)}", "purpose": "test"}
                _assembled(client, body, took)

    def _differing(self, client: httpx.Client, steps: list[Step], answers: list[dict[str, Any]]) -> int:
        """Return how many answers differ from those of this server, which reads nothing ahead."""
        count = 0
        for step, answer in zip(steps, answers, strict=True):
            fresh = _assembled(client, {**_body(step), "now": answer["now"], "budgets": {"time_ms": TIME_MS}}, [])
            count += fresh["content"] != answer["content"]
        return count


def _body(step: Step) -> dict[str, Any]:
    return {"agent": step.agent, "team": step.team, "topic": step.topic}


@contextmanager
def _serving(settings: dict[str, str], *options: str) -> Iterator[str]:
    before = {variable: os.environ.get(variable) for variable in settings}
    os.environ.update(settings)
    try:
        with served("--processes", PROCESSES, *options) as address:
            yield address
    finally:
        for variable, value in before.items():
            os.environ.pop(variable)
            if value is not None:
                os.environ[variable] = value


def _forget_over_night() -> None:
    from django.db import connections

    from config.db.statements import execute_sql

    execute_sql("DELETE FROM shared_cache")
    connections.close_all()


def _counted(address: str) -> dict[str, float]:
    """Return how many new contexts were read ahead (`hit`) or for an earlier one (`known`), and how many contexts the
    worker has read for (`read`).
    """
    found = {"hit": 0.0, "known": 0.0, "miss": 0.0, "read": 0.0}
    for family in text_string_to_metric_families(httpx.get(f"{address}/metrics").raise_for_status().text):
        for sample in family.samples:
            if sample.name == "memory_preassembly_lookups_total":
                found[sample.labels["result"]] = sample.value
            elif sample.name == "memory_preassemblies_total":
                found["read"] = sample.value
    return found


def _assembled(client: httpx.Client, body: dict[str, Any], took: list[float]) -> dict[str, Any]:
    started = time.perf_counter()
    answer = client.post("/api/v1/assemblies", json=body)
    took.append((time.perf_counter() - started) * 1000)
    found: dict[str, Any] = json.loads(answer.raise_for_status().content)
    return found
