"""Storage tiers on texts that people wrote: bytes per 1,000 things in each tier, and the time to the first use.

DATA=folder has conversations, as for `evidence_recall`; without it, texts are invented, whose compression says little.
A memory and an event are one message each; a document has DOCUMENT_MESSAGES messages.

`bytes_<kind>_<tier>` is what PostgreSQL takes for 1,000 of them: the table with its TOAST table and all its indexes (of
documents, also that of their chunks), written anew by VACUUM FULL, so that no room of former rows counts. A hot memory
includes its vector, its words, the index on meaning and that on words. Versions of memories are history, equal in all
tiers, and are left out. `bytes_<kind>_file` is what is in files in the tier frozen. `bytes_<tier>_ratio` is the sum of
all kinds, relative to hot.

`text_<kind>_<tier>` is the part of it that is the text alone: of a hot row as PostgreSQL compresses it, of a warm row
as it is packed. The vectors, the words and their indexes are equal in both tiers, and are the larger part.

`recall_<kind>_warm` asks for QUESTIONS things by the first sentence of a message: the share of the FOUND best ones of
hot memories, or of passages of hot documents, that are among the FOUND best ones of warm ones, too.

`wake_ms_<tier>` is the median time to open a memory, a document and an event: to read its text and move it one tier up.
"""

import datetime
import json
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import django

from tests.benchmarks.conversations import conversations
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from agents.models import Agent
    from memories.lifecycle.thing_tables import ThingTable

NAME = "tiers"
THINGS = int(os.environ.get("THINGS", "1000"))
DOCUMENT_MESSAGES = 8
OPENED = 60
QUESTIONS, FOUND = 200, 10
KINDS = {"memory": ("memories",), "event": ("events",), "document": ("documents", "chunks")}


def run() -> None:
    """Print bytes and milliseconds of each tier."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    from memories.lifecycle.tiers import Tier

    agent = keeper()
    texts = messages()
    counts = fill(agent, texts)
    figure(NAME, "mean_message_bytes", statistics.fmean(len(text.encode()) for text in texts[:THINGS]), "bytes", THINGS)
    sums: dict[str, float] = {}
    best: dict[str, list[list[Any]]] = {}
    for tier in Tier:
        _move_all(tier)
        if tier is Tier.HOT:
            best = _best(agent, texts)
        if tier is Tier.WARM:
            _report_recall(best, _best(agent, texts))
        for kind, tables in KINDS.items():
            size = sum(_bytes_of(table) for table in tables) / counts[kind] * 1_000
            figure(NAME, f"bytes_{kind}_{tier}", size, "bytes per 1,000", counts[kind])
            sums[tier] = sums.get(tier, 0.0) + size
        if tier.is_searched:
            _report_texts(tier, counts)
    _report_files(counts)
    for tier in Tier:
        figure(NAME, f"bytes_{tier}_ratio", sums[tier] / sums[Tier.HOT], "of hot", sum(counts.values()))
    for tier in reversed(Tier):
        _move_all(tier)
        _measure_wake(tier)


def keeper() -> "Agent":
    """An agent whose team keeps texts as they are: some of the messages have passwords in examples."""
    from agents.services import agent_create
    from teams.models import Team
    from teams.secret_scanning.handling import SecretHandling

    team = Team.objects.create(slug="library", name="Library", secret_handling=SecretHandling.KEEP)
    return agent_create(slug="keeper", name="Keeper", teams=[team])


def messages() -> list[str]:
    """Return THINGS messages and more, in the order in which they were said."""
    found = []
    for file in conversations(Path(mkdtemp())):
        data = json.loads(file.read_text(encoding="utf-8"))
        for name in (f"session_{number}" for number in range(1, 100)):
            found += [f"{turn['speaker']}: {turn['text']}"[:20_000] for turn in data.get(name, [])]
    return found


def fill(agent: "Agent", texts: Sequence[str]) -> dict[str, int]:
    from memories.embeddings.indexing import document_split
    from memories.models import Document
    from memories.services import MemoryFacts, events_create, memories_create
    from memories.services.document import documents_create
    from teams.principal import SYSTEM

    some = texts[:THINGS]
    for start in range(0, len(some), 250):
        part = some[start : start + 250]
        memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in part], principal=SYSTEM)
        events = [{"type": "message", "content": {"role": "user", "text": text}} for text in part]
        events_create(agent=agent, facts=events, principal=SYSTEM)
    parts = ["\n\n".join(some[at : at + DOCUMENT_MESSAGES]) for at in range(0, len(some), DOCUMENT_MESSAGES)]
    facts = [{"path": f"talks/{number}.txt", "content": text} for number, text in enumerate(parts)]
    documents_create(agent=agent, facts=facts, principal=SYSTEM)
    for id_ in Document.objects.values_list("id", flat=True):
        document_split(id_=id_)
    return {"memory": len(some), "event": len(some), "document": len(parts)}


def _tables() -> "Sequence[ThingTable]":
    from memories.lifecycle.thing_tables import THING_TABLES

    return THING_TABLES


def _move_all(tier: Any) -> None:
    from memories.embeddings.indexing import document_split
    from memories.lifecycle.transitions import things_move
    from memories.models import Document

    for table in _tables():
        ids = list(table.model._default_manager.order_by("pk").values_list("pk", flat=True))
        for start in range(0, len(ids), 200):
            things_move(table, ids[start : start + 200], tier)
    if tier.is_searched:
        for id_ in Document.objects.values_list("id", flat=True):
            document_split(id_=id_)


def _bytes_of(table: str) -> int:
    from config.db.statements import execute_sql, fetch_rows

    execute_sql(f"VACUUM (FULL, ANALYZE) {table}", using="owner")
    ((size,),) = fetch_rows("SELECT pg_total_relation_size(%s::regclass)", [table], using="owner")
    return int(size)


def _report_texts(tier: Any, counts: dict[str, int]) -> None:
    from config.db.statements import fetch_rows

    for table in _tables():
        sizes = f"coalesce(pg_column_size(packed), pg_column_size({table.column}))"
        ((size,),) = fetch_rows(f"SELECT sum({sizes}) FROM {table.name}")  # noqa: S608 - constant names
        count = counts[table.kind]
        figure(NAME, f"text_{table.kind}_{tier}", size / count * 1_000, "bytes per 1,000", count)


def _best(agent: "Agent", texts: Sequence[str]) -> dict[str, list[list[Any]]]:
    """Return the best memories and passages for each question, in their order, by kind."""
    from assembly.profiles.rankers import RANKERS
    from assembly.sources.memories import search_weights
    from memories.search.document_search import search_passages
    from memories.search.memory_search import search_memories, topic_vector
    from memories.search.question import parse_question

    weights = search_weights(RANKERS["default"])
    found: dict[str, list[list[Any]]] = {"memory": [], "passage": []}
    for topic in _questions(texts):
        vector = topic_vector(topic)
        question = parse_question(topic, vector, datetime.date(2026, 1, 1))
        memories = search_memories(owner=agent, question=question, weights=weights, limit=FOUND, recent=0)
        passages = search_passages(agent=agent, topic=topic, vector=vector, weights=weights, limit=FOUND)
        found["memory"].append([one.id for one in memories])
        found["passage"].append([(one.document, one.position) for one in passages])
    return found


def _questions(texts: Sequence[str]) -> list[str]:
    spread = texts[: THINGS : max(1, THINGS // QUESTIONS)]
    return [text.partition(": ")[2].partition(".")[0][:200] for text in spread][:QUESTIONS]


def _report_recall(hot: dict[str, list[list[Any]]], warm: dict[str, list[list[Any]]]) -> None:
    for kind, expected in hot.items():
        pairs = [(set(one), set(again)) for one, again in zip(expected, warm[kind], strict=True) if one]
        figure(
            NAME,
            f"recall_{kind}_warm",
            statistics.fmean(len(one & again) / len(one) for one, again in pairs),
            "of hot",
            len(pairs),
        )
        same = sum(one == again for one, again in zip(expected, warm[kind], strict=True))
        figure(NAME, f"same_order_{kind}_warm", same / len(expected), "of questions", len(expected))


def _report_files(counts: dict[str, int]) -> None:
    from config.db.statements import fetch_rows

    for table in _tables():
        sql = f"SELECT sum((frozen ->> 'length')::int) FROM {table.name}"  # noqa: S608 - a constant name
        ((size,),) = fetch_rows(sql)
        figure(
            NAME, f"bytes_{table.kind}_file", size / counts[table.kind] * 1_000, "bytes per 1,000", counts[table.kind]
        )


def _measure_wake(tier: Any) -> None:
    from memories.lifecycle.use_counts import thing_opened

    took = []
    for table in _tables():
        for key in table.model._default_manager.order_by("pk").values_list("pk", flat=True)[: OPENED // 3]:
            begun = time.perf_counter()
            thing_opened(table.model._default_manager.get(pk=key))
            took.append((time.perf_counter() - begun) * 1_000)
    figure(NAME, f"wake_ms_{tier}", statistics.median(took), "ms", len(took))
    figure(NAME, f"wake_ms_{tier}_p95", sorted(took)[int(len(took) * 0.95)], "ms", len(took))
