"""What agents ask next is read before they ask: a day of the demo's agents, played three times, with it and without it.

The day consists of the last QUESTIONS (40) that the demo's agents asked. It is played in the order in which it was
recorded, with PAUSE seconds (1) between two of them; after each day, the server is started anew, so that no cache lives
over night. Each day is played with pre-assembly and without it, on the same database, and the order of the two changes
from day to day, so that a machine that does something else meanwhile slows both. DAYS is the number of days (3). Other
agents ask at the same time, about OTHERS (3) times per second, for contexts that nobody can expect.

`hits_day_<n>`: the share of the day's questions whose sources had been read before, as `/metrics` tells.
`differing`: hits whose content is not that of the same question, for the same moment, without pre-assembly.
`asked_p50_<on|off>`: milliseconds of the questions of the day. `others_p95_<on|off>`: the median, over the days, of the
95th percentile of those of the others. `others_p95_ratio`: the median, over the days, of one relative to the other.
"""

import itertools
import json
import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served

NAME = "preassembly"
QUESTIONS, DAYS = int(os.environ.get("QUESTIONS", "40")), int(os.environ.get("DAYS", "3"))
PAUSE, OTHERS = float(os.environ.get("PAUSE", "1")), float(os.environ.get("OTHERS", "3"))
TIME_MS = 20_000
ON = {
    "PREASSEMBLY": "on",
    "PREASSEMBLY_IDLE_MS": os.environ.get("IDLE_MS", "150"),
    "PREASSEMBLY_LOAD_PERCENT": "100000",
    "SHARED_CACHE_BYTES": "0",
}
OFF = {**ON, "PREASSEMBLY": "off"}
UNLIMITED = {"QUOTA_REQUESTS_PER_MINUTE": "0", "QUOTA_RECORD_BYTES_PER_DAY": "0"}

_topics = itertools.count(1)


def run() -> None:
    """Print the figures."""
    os.environ.update(UNLIMITED)
    with _serving({**OFF}, "--demo"):
        key = manage("create_api_key", "--admin").split()[-1]
    django.setup()
    day = _recorded_day()
    asked: dict[str, list[float]] = {"on": [], "off": []}
    others: dict[str, list[list[float]]] = {"on": [], "off": []}
    answers: dict[str, list[dict[str, Any]]] = {}
    differing = 0
    for number in range(1, DAYS + 1):
        for name in ("on", "off") if number % 2 else ("off", "on"):
            with _serving(ON if name == "on" else OFF) as address:
                before = _hits(address)
                others[name].append([])
                answers[name] = _play(address, key, day, asked[name], others[name][-1])
                if name == "on":
                    figure(NAME, f"hits_day_{number}", (_hits(address) - before) / len(day), "ratio", len(day))
                else:
                    differing += _differing(address, key, day, answers.get("on", []))
    figure(NAME, "differing", differing, "count", len(day) * DAYS)
    for name, took in asked.items():
        figure(NAME, f"asked_p50_{name}", statistics.median(took), "ms", len(took))
        days = [_p95(one) for one in others[name]]
        figure(NAME, f"others_p95_{name}", statistics.median(days), "ms", sum(map(len, others[name])))
    ratios = [_p95(on) / _p95(off) for on, off in zip(others["on"], others["off"], strict=True)]
    figure(NAME, "others_p95_ratio", statistics.median(ratios), "on per off", len(ratios))


def _p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


def _recorded_day() -> list[dict[str, Any]]:
    """Return the last questions that the demo's agents asked, in their order."""
    from assembly.models import Assembly

    rows = Assembly.objects.filter(purpose="agent", parent=None, profile_name="conversation").order_by("-created")
    recorded = [
        {"agent": row.agent_slug, "team": row.team_slug, "topic": row.topic, "max_tokens": row.budget}
        for row in rows[:QUESTIONS]
        if row.team_slug
    ]
    return recorded[::-1]


@contextmanager
def _serving(settings: dict[str, str], *options: str) -> Iterator[str]:
    before = {variable: os.environ.get(variable) for variable in settings}
    os.environ.update(settings)
    try:
        with served("--processes", "1", *options) as address:
            yield address
    finally:
        for variable, value in before.items():
            os.environ.pop(variable)
            if value is not None:
                os.environ[variable] = value


def _hits(address: str) -> float:
    """Return how many new contexts were read ahead."""
    found = {"hit": 0.0}
    for family in text_string_to_metric_families(httpx.get(f"{address}/metrics").raise_for_status().text):
        for sample in family.samples:
            if sample.name == "memory_preassembly_lookups_total":
                found[sample.labels["result"]] = sample.value
    return found["hit"]


def _play(
    address: str, key: str, day: list[dict[str, Any]], asked: list[float], others: list[float]
) -> list[dict[str, Any]]:
    """Ask the day's questions while others ask theirs; return the answers."""
    ended = threading.Event()
    beside = threading.Thread(target=_ask_others, args=[address, key, ended, others])
    answers = []
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        beside.start()
        for body in day:
            answers.append(_assembled(client, body, asked))
            time.sleep(PAUSE)
        ended.set()
        beside.join()
    return answers


def _ask_others(address: str, key: str, ended: threading.Event, took: list[float]) -> None:
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        while not ended.wait(1 / OTHERS):
            body = {"agent": "edda", "team": "story-room", "topic": f"Number {next(_topics)}", "purpose": "test"}
            _assembled(client, body, took)


def _differing(address: str, key: str, day: list[dict[str, Any]], answers: list[dict[str, Any]]) -> int:
    """Return how many answers differ from those for the same moment of a process that reads nothing ahead."""
    count = 0
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        for body, answer in zip(day, answers, strict=False):
            fresh = _assembled(client, {**body, "now": answer["now"], "budgets": {"time_ms": TIME_MS}}, [])
            count += fresh["content"] != answer["content"]
    return count


def _assembled(client: httpx.Client, body: dict[str, Any], took: list[float]) -> dict[str, Any]:
    started = time.perf_counter()
    answer = client.post("/api/v1/assemblies", json=body)
    took.append((time.perf_counter() - started) * 1000)
    found: dict[str, Any] = json.loads(answer.raise_for_status().content)
    return found
