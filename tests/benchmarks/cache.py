"""The cache of assemblies: each question is asked over HTTP, and asked again at once.

The agents have a conversation each (DATA=folder takes them from there, as in http_assembly) and months of work behind
them; they ask at a step of their work, with the profile `coding`, and at the start of a conversation.
"""

import os
import statistics
import time
from pathlib import Path
from typing import Any

import django
import httpx

from tests.benchmarks.conversations import conversations, last_session
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import bodies, manage, served

NAME = "cache"
AGENTS = 2
PROFILES = {"coding": "", "conversation": "conversation_"}
"""And what the names of their figures begin with."""


def run() -> None:
    """Print the latency (milliseconds) of first and repeated requests, and how many times faster the latter are."""
    folder = Path(os.environ["DOSSIER_DATA_DIR"])
    with served() as address:
        files = conversations(folder)[:AGENTS]
        for number, file in enumerate(files):
            manage("import_conversation", str(file), "--agent", f"agent-{number}")
        _fill(files)
        key = manage("create_api_key", "--admin").split()[-1]
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
            for profile, name in PROFILES.items():
                asked = [{**body, "profile": profile} for body in bodies(files, topics=True)]
                _report(name, [(_ask(client, body), _ask(client, body)) for body in asked])


def _fill(files: list[Path]) -> None:
    """Give each agent everything else that a context can be made of."""
    django.setup()
    from agents.models import Agent
    from tests.assembly.large_agent import analyse, fill

    for number, file in enumerate(files):
        fill(Agent.objects.get(slug=f"agent-{number}"), last_session(file))
    analyse()


def _ask(client: httpx.Client, body: dict[str, Any]) -> tuple[float, str]:
    """How long it took in milliseconds, and the context."""
    started = time.perf_counter()
    answer = client.post("/api/v1/assemblies", json=body)
    took = (time.perf_counter() - started) * 1000
    answer.raise_for_status()
    return took, answer.json()["content"]


def _report(name: str, pairs: list[tuple[tuple[float, str], tuple[float, str]]]) -> None:
    assert all(first == again and first for (_, first), (_, again) in pairs), "it is a context, and the same one twice"
    first, repeat = (statistics.median(pair[place][0] for pair in pairs) for place in (0, 1))
    figure(NAME, f"{name}first_p50", first, "ms", len(pairs))
    figure(NAME, f"{name}repeat_p50", repeat, "ms", len(pairs))
    figure(NAME, f"{name}repeat_speedup", first / repeat, "ratio", len(pairs))
