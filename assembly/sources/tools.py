"""This source returns the tools that the agent can call, by similarity to the topic; without a topic, by name."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from assembly.engine.item_formats import format_tool
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, keyword_boost, keyword_matches, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult, candidates_for
from config.db.sealed_columns import sealed_sql
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_texts
from memories.embeddings.active_model import ACTIVE_MODEL_SQL
from memories.embeddings.vectors import QueryVector, with_active_model
from memories.models import Tool
from teams.sealing.fields import open_json

LIMIT = 20

TOOLS_SQL = """
SELECT id, version, name, description, schema, updated, origin, sensitivity, {similarity} AS similarity,
    {active} AS space
FROM tools WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
ORDER BY similarity DESC NULLS LAST, {sealed}, name, id LIMIT %(limit)s
"""


def tools(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return tools with the schemas of their arguments."""
    limit = gather_context.row_limit(LIMIT, sections)
    found = with_active_model(gather_context.vector, partial(_find_tools, gather_context, limit))
    return candidates_for(sections, found, limit, lambda section, row: _candidate(gather_context, section, row))


def _find_tools(gather_context: GatherContext, limit: int, vector: QueryVector | None) -> list[tuple[Any, ...]]:
    similarity = vector.similarity_sql(vector.space.slot) if vector else "NULL::float8"
    sql = TOOLS_SQL.format(similarity=similarity, active=ACTIVE_MODEL_SQL, sealed=sealed_sql("name", "text"))
    parameters = {
        "agent": gather_context.agent.id,
        "clearance": gather_context.clearances.agent,
        "limit": limit,
        **(vector.parameters if vector else {}),
    }
    rows = [tuple(row) for row in run_statement(Statement(sql, parameters))]
    if vector and rows:
        vector.confirm(rows[0][-1])
    return [(*row[:2], *open_texts(row[2:4]), open_json(row[4]), *row[5:]) for row in rows]


def _candidate(gather_context: GatherContext, section: Section, row: tuple[Any, ...]) -> Candidate:
    """Return the tool as a candidate, scored by similarity times the boost of its keywords; 0 without a topic."""
    id_, version, name, description, schema, updated, origin, sensitivity, similarity, _ = row
    matches = keyword_matches(f"{name} {description}", gather_context.signals.keywords)
    score = (similarity or 0.0) * keyword_boost(matches)
    measures = candidate_measures(
        recency=recency_score(gather_context.age(updated)), relevance=score, keyword_matches=matches
    )
    if similarity is None:  # the topic, or the tool, has no vector
        del measures["relevance"]
    return Candidate(
        ref=Tool.ref_of(id_, version),
        section=section.key,
        text=format_tool(name=name, description=description, schema=schema),
        kind="tool",
        occurred_at=updated,
        similarity=similarity,
        score=score,
        measures=measures,
        origin=origin,
        sensitivity=sensitivity,
    )
