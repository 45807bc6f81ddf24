"""Searching the memories of one agent with the shipped ranker: how long it takes, and whether it misses anything.

The memories are sentences that people wrote, all in one table: see `written_text`. An agent's days have those of one
file each. The questions are sentences of the same files that are no memories, asked plainly or about who said what.
"""

import datetime
import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.memory_table import copied, indexed_afterwards
from tests.benchmarks.written_text import Talk, talk_of, written_days

if TYPE_CHECKING:
    from agents.models import Agent
    from memories.search.features import Weights
    from memories.search.question import SearchQuestion

NAME = "search"
OWNERS = (500, 1_000, 10_000, 50_000, 100_000)
TIMED = (1_000, 10_000, 100_000)
COMPARED = (500, 50_000)
FIRST = 20
QUESTIONS = 60
DAYS_AT_ONCE = 200
START = datetime.datetime(2000, 1, 1, 9, tzinfo=datetime.UTC)
TODAY = datetime.date(2026, 11, 21)


def run() -> None:
    """Print latencies in milliseconds by the number of the agent's memories, and recall against a search of all."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    from agents.models import Agent

    days = written_days()
    talks = {rows: talk_of(days, rows, rows) for rows in OWNERS}
    asked = _questions(talks[OWNERS[-1]])
    agents = {rows: Agent.objects.create(slug=f"agent-{rows}", name=f"Agent {rows}") for rows in OWNERS}
    _load(agents, talks)
    for rows in TIMED:
        _time(rows, agents[rows], asked)
    for rows in COMPARED:
        _compare(rows, agents[rows], asked)


def _questions(talk: Talk) -> "list[SearchQuestion]":
    from memories.search.memory_search import topic_vector
    from memories.search.question import parse_question

    return [parse_question(text, topic_vector(text), TODAY) for text in talk.questions[:QUESTIONS]]


def _load(agents: "dict[int, Agent]", talks: dict[int, Talk]) -> None:
    started = time.perf_counter()
    with indexed_afterwards():
        for rows, agent in agents.items():
            copied(memory_rows(agent, talks[rows]))
        loaded = time.perf_counter()
    figure(NAME, "load", loaded - started, "s", sum(agents))
    figure(NAME, "index_build", time.perf_counter() - loaded, "s", sum(agents))


def memory_rows(agent: "Agent", talk: Talk) -> Iterator[tuple[Any, ...]]:
    """Yield what the talk's lines are as memories of the agent, with their embeddings, as `copied` takes them."""
    from pgvector import Vector
    from uuid_utils.compat import uuid7

    from memories.embeddings.active_model import last_known_model
    from memories.embeddings.vectors import embed_texts
    from teams.sensitivity import DEFAULT_LEVEL

    space = last_known_model()
    for start in range(0, len(talk.days), DAYS_AT_ONCE):
        said = [
            (START + datetime.timedelta(days=start + day, minutes=minute), line)
            for day, lines in enumerate(talk.days[start : start + DAYS_AT_ONCE])
            for minute, line in enumerate(lines)
        ]
        for (at, line), vector in zip(
            said, embed_texts(space, [line for _, line in said], [DEFAULT_LEVEL] * len(said)), strict=True
        ):
            vector_text = None if vector is None else Vector(vector).to_text()
            fixed = (space.model, 0.5, 0.5, at, "", 1, at, "system", "", "")
            yield (uuid7(), agent.pk, "message", line, vector_text, *fixed)


def _weights() -> "Weights":
    from assembly.profiles.rankers import RANKERS
    from assembly.sources.memories import search_weights

    return search_weights(RANKERS["default"])


def _time(rows: int, agent: "Agent", asked: "list[SearchQuestion]") -> None:
    from memories.search.memory_search import search_memories, topic_vector
    from memories.search.question import parse_question

    def search(question: "SearchQuestion") -> None:
        read = parse_question(question.text, topic_vector(question.text), TODAY)
        search_memories(owner=agent, question=read, weights=_weights(), limit=FIRST, recent=5)

    took = sorted(_milliseconds(search, question) for question in [*asked[:5], *asked, *asked])[:-5]
    figure(NAME, f"{rows}_memories_p50", statistics.median(took), "ms", len(took))
    figure(NAME, f"{rows}_memories_p95", took[int(len(took) * 0.95)], "ms", len(took))


def _milliseconds(search: "Callable[[SearchQuestion], None]", question: "SearchQuestion") -> float:
    started = time.perf_counter()
    search(question)
    return (time.perf_counter() - started) * 1000


def _compare(rows: int, agent: "Agent", asked: "list[SearchQuestion]") -> None:
    """The share of the first that a search of every row returns, too: by meaning alone, and by the ranker."""
    from memories.search.features import Weights

    for name, weights in {"nearest": Weights({"similarity_z": 1.0}), "ranked": _weights()}.items():
        shares = [_share(rows, agent, question, weights) for question in asked]
        figure(NAME, f"{rows}_memories_recall_at_{FIRST}_{name}", statistics.fmean(shares), "share", len(shares))


def _share(rows: int, agent: "Agent", question: "SearchQuestion", weights: "Weights") -> float:
    import numpy as np

    from memories.search.features import scores_of
    from memories.search.memory_search import rows_with_features, search_memories
    from memories.search.row_format import ids_of

    found = search_memories(owner=agent, question=question, weights=weights, limit=FIRST, recent=0)
    everything, measures = rows_with_features(agent, question, least=rows)
    assert len(found) == FIRST, len(found)
    assert len(everything) == rows, len(everything)
    first = everything[np.argsort(-scores_of(measures, weights), kind="stable")[:FIRST]]
    return len(set(ids_of(first)) & {memory.id for memory in found}) / FIRST
