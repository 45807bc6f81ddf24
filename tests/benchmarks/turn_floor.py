"""The floor of an agent's turn: the least that the same writes, reads and record can take, by hand-written statements.

It stores a memory and an event, each in a durable commit of its own, as ours does; it embeds the memory and the topic
with the same model. Then it reads the agent's and the team's files, a week of logs and the 20 memories nearest to the
topic, and inserts a record as large as ours. All statements are prepared, on a connection of its own. It ranks, counts,
cuts, explains and decides nothing.
"""

import datetime
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from uuid_utils.compat import uuid7

NEAREST = 20
DAYS = 7
TRIED = 15
"""Topics with which each way to search is tried: the faster one is the floor's."""

READ = """
SELECT content FROM agent_md_files WHERE agent_id = %(agent)s
UNION ALL SELECT content FROM team_md_files WHERE team_id = %(team)s
UNION ALL SELECT content FROM daily_logs WHERE agent_id = %(agent)s AND date > %(before)s
"""
WAYS = {
    "exact": """
SELECT text FROM memories WHERE agent_id = %(agent)s AND superseded_by_id IS NULL
    ORDER BY embedding <=> %(topic)s::vector LIMIT %(nearest)s""",
    "index": """
SELECT text FROM memories WHERE agent_id = %(agent)s AND superseded_by_id IS NULL AND embedding_model = '{model}'
    ORDER BY embedding::halfvec({dimensions}) <=> %(topic)s::halfvec({dimensions}) LIMIT %(nearest)s""",
}
COLUMNS = """
SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = %s AND is_generated = 'NEVER' AND is_identity = 'NO'
"""
INSERT = "INSERT INTO {table} ({columns}) SELECT {columns} FROM jsonb_populate_record(NULL::{table}, %(row)s::jsonb)"
RECORD = f"WITH texts AS (INSERT INTO stored_texts (sha256, text) VALUES (%(sha256)s, %(text)s)) {INSERT}"  # noqa: S608
ROW = "SELECT to_jsonb(row) FROM {table} AS row WHERE id = %s"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a turn of ours left behind, and the floor writes again: the ids of its rows, and the characters of the texts
    that its record stored for the first time."""

    memory: UUID
    event: UUID
    assembly: UUID
    new_characters: int


@contextmanager
def floor_of(agent: UUID, team: UUID, sample: Sample, topics: list[str]) -> Iterator["Floor"]:
    """A floor for this agent, on a connection for as long as the block runs."""
    from django.db import connection

    settings = connection.settings_dict
    names = {"HOST": "host", "PORT": "port", "NAME": "dbname", "USER": "user", "PASSWORD": "password"}
    address = {ours: settings[name] for name, ours in names.items() if settings[name]}
    options = "-c hnsw.iterative_scan=relaxed_order -c plan_cache_mode=force_custom_plan -c synchronous_commit=on"
    with psycopg.connect(**address, options=options, autocommit=True) as own:
        yield Floor(own, {"agent": agent, "team": team}, sample, topics)


class Floor:
    """The floor's turns on one connection; `way` names how it searches."""

    def __init__(
        self, own: "psycopg.Connection[Any]", owners: dict[str, Any], sample: Sample, topics: list[str]
    ) -> None:
        from memories.embeddings.active_model import last_known_model

        space = last_known_model()
        self._own = own
        self._owners = owners
        self._memory = self._row("memories", sample.memory)
        self._event = self._row("events", sample.event)
        self._assembly = json.dumps(self._row("assemblies", sample.assembly))
        self._made = str(sample.assembly)
        self._text = ("record " * (sample.new_characters // 7 + 1))[: sample.new_characters]
        self._insert = {name: INSERT.format(table=name, columns=self._columns(name)) for name in ("memories", "events")}
        self._record = RECORD.format(table="assemblies", columns=self._columns("assemblies"))
        self._ways = {name: sql.format(model=space.model, dimensions=space.dimensions) for name, sql in WAYS.items()}
        self.way = min(self._ways, key=lambda name: self._median(name, topics))

    def turn(self, line: str, topic: str) -> tuple[float, float]:
        """Take one turn; return the milliseconds of its writes, and of its reads and the record."""
        started = time.perf_counter()
        self._store("memories", {**self._memory, "text": line, "embedding": _embedding(line)})
        self._store("events", {**self._event, "content": {"role": "user", "text": line}})
        written = time.perf_counter()
        before = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=DAYS)
        texts = self._own.execute(READ, {**self._owners, "before": before}, prepare=True).fetchall()
        nearest = self._nearest(self.way, topic)
        id_ = uuid7()
        self._own.execute(
            self._record,
            {"sha256": id_.bytes + id_.bytes, "text": self._text, "row": self._assembly.replace(self._made, str(id_))},
            prepare=True,
        )
        done = time.perf_counter()
        assert len(texts) >= DAYS, len(texts)
        assert len(nearest) == NEAREST, len(nearest)
        return (written - started) * 1000, (done - written) * 1000

    def _store(self, table: str, row: dict[str, Any]) -> None:
        self._own.execute(self._insert[table], {"row": json.dumps({**row, "id": str(uuid7())})}, prepare=True)

    def _nearest(self, way: str, topic: str) -> list[Any]:
        parameters = {**self._owners, "topic": _embedding(topic), "nearest": NEAREST}
        return self._own.execute(self._ways[way], parameters, prepare=True).fetchall()

    def _median(self, way: str, topics: list[str]) -> float:
        """The milliseconds of a search, infinite for a way that does not find as many as there are to find."""
        took = []
        for topic in topics[:TRIED]:
            started = time.perf_counter()
            if len(self._nearest(way, topic)) < NEAREST:
                return float("inf")
            took.append((time.perf_counter() - started) * 1000)
        return statistics.median(took)

    def _row(self, table: str, id_: UUID) -> dict[str, Any]:
        return dict(self._value(ROW.format(table=table), id_))

    def _columns(self, table: str) -> str:
        return str(self._value(COLUMNS, table))

    def _value(self, statement: str, parameter: object) -> Any:
        row = self._own.execute(statement, [parameter]).fetchone()
        assert row
        return row[0]


def _embedding(text: str) -> str:
    from pgvector import Vector

    from memories.embeddings.active_model import last_known_model
    from memories.embeddings.vectors import embed_texts
    from teams.sensitivity import DEFAULT_LEVEL

    (vector,) = embed_texts(last_known_model(), [text], [DEFAULT_LEVEL])
    assert vector is not None, text
    return Vector(vector).to_text()
