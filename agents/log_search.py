"""This module searches daily logs for words, and returns passages around the hits.

Logs are long, and parsing one takes longer than reading it. Therefore only the index says which logs contain the words.
Passages are made only for the logs on a page, from one short slice each, and no statement runs longer than
MAX_MILLISECONDS.
"""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agents.models import SEARCHED_CHARACTERS, Agent, DailyLog
from config.db.statements import execute_sql, fetch_rows
from config.http.cpu_budget import TookTooLong

HIT_START, HIT_END = "\ue000", "\ue001"
"""Characters that mark the start and the end of each hit. They belong to no script, so nobody types them."""
MAX_MILLISECONDS = 1_500
"""The time limit of a statement of a search, in ms; ordinary statements take a few."""
SLICE = 4_000
"""The number of characters of a log from which passages are selected: the time grows with the square of the hits."""
MAX_WORDS = 20

_LIMITS = """
SELECT set_config('statement_timeout', %s, true), set_config('enable_seqscan', 'off', true),
    set_config('enable_indexscan', 'off', true)
"""
_NO_LIMITS = """
SET LOCAL statement_timeout TO DEFAULT; SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_indexscan TO DEFAULT
"""
_WORDS = f"to_tsvector('english'::regconfig, COALESCE(LEFT(content, {SEARCHED_CHARACTERS}), ''))"
# Materialised: with the agent beside it, PostgreSQL may prefer to take all words of all of the agent's logs apart.
_FOUND = f"""
WITH with_words AS MATERIALIZED (
    SELECT id, agent_id FROM daily_logs WHERE {_WORDS} @@ websearch_to_tsquery('english', %(words)s)
)
SELECT id FROM with_words WHERE agent_id = %(agent)s
"""  # noqa: S608 - nothing but constants
_WITH_PHRASE = f"""
SELECT id FROM daily_logs WHERE id = ANY(%(ids)s) AND {_WORDS} @@ websearch_to_tsquery('english', %(words)s)
"""  # noqa: S608 - nothing but constants
_PASSAGES = f"""
SELECT logs.id, ts_headline('english', COALESCE(hit.slice, LEFT(logs.searched, {SLICE})),
    websearch_to_tsquery('english', %(any)s), %(options)s)
FROM (
    SELECT id, LEFT(content, {SEARCHED_CHARACTERS}) AS searched FROM daily_logs WHERE id = ANY(%(ids)s) OFFSET 0
) AS logs LEFT JOIN LATERAL (
    SELECT SUBSTR(searched, start, {SLICE}) AS slice
    FROM generate_series(1, GREATEST(LENGTH(searched), 1), {SLICE}) AS start
    WHERE to_tsvector('english', SUBSTR(searched, start, {SLICE})) @@ websearch_to_tsquery('english', %(any)s)
    LIMIT 1
) AS hit ON true
"""  # noqa: S608 - nothing but constants
_OPTIONS = (
    f'StartSel="{HIT_START}", StopSel="{HIT_END}", MaxFragments=2, MaxWords=24, MinWords=12, FragmentDelimiter=" … "'
)


def search_logs(agent: Agent, words: str) -> QuerySet[Any]:
    """Return the agent's logs that contain the words, without their texts. Raises TookTooLong."""
    # The index tells which logs have the words of a phrase; whether they follow each other, the logs themselves.
    has_phrase = '"' in words and '-"' not in words
    asked = words.replace('"', " ") if has_phrase else words
    ids = [row[0] for row in _rows(_FOUND, {"words": asked, "agent": agent.id})]
    if has_phrase and ids:
        ids = [row[0] for row in _rows(_WITH_PHRASE, {"words": words, "ids": ids})]
    return DailyLog.objects.filter(agent=agent, id__in=ids).defer("content")


def find_passages(logs: Sequence[DailyLog], words: str) -> dict[UUID, str]:
    """Return the passages around the first of the words in each log, by the log's id. Raises TookTooLong."""
    if not logs:
        return {}
    said = [word for word in re.findall(r"-?[^\s\"]+", words) if not word.startswith("-")][:MAX_WORDS]
    values = {"any": " or ".join(said), "ids": [log.id for log in logs], "options": _OPTIONS}
    return dict(_rows(_PASSAGES, values))


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    try:
        with transaction.atomic():
            execute_sql(_LIMITS, [str(MAX_MILLISECONDS)])
            rows = fetch_rows(statement, values)
            execute_sql(_NO_LIMITS)
            return rows
    except OperationalError as error:
        if "statement timeout" not in str(error):
            raise
        raise TookTooLong("This search would take too long. Search for rarer words, or open a month.") from None


def highlight(passages: str) -> SafeString:
    """Return the passages as HTML with marked hits; everything else is escaped."""
    parts = re.split(f"{HIT_START}([^{HIT_START}{HIT_END}]*){HIT_END}", passages)
    plain = [part.replace(HIT_START, "").replace(HIT_END, "") for part in parts]
    marked = [format_html("<mark>{}</mark>", part) if place % 2 else part for place, part in enumerate(plain)]
    return format_html_join("", "{}", ((part,) for part in marked))
