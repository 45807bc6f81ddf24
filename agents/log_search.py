"""Daily logs by their words, with what was found in its surroundings."""

import re
from typing import Any

from django.contrib.postgres.search import SearchHeadline, SearchQuery
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agents.models import SEARCHED_CHARACTERS, WORDS_OF_LOG, Agent, DailyLog

OPENS, CLOSES = "\ue000", "\ue001"
"""Around each hit. Nobody types them; they belong to no script."""


def logs_found(agent: Agent, words: str) -> QuerySet[Any]:
    """The agent's logs that have the words, each with its `passages`."""
    query = SearchQuery(words, config="english", search_type="websearch")
    text = Left("content", SEARCHED_CHARACTERS)
    passages = SearchHeadline(
        text,
        query,
        config="english",
        start_sel=OPENS,
        stop_sel=CLOSES,
        max_fragments=2,
        max_words=24,
        min_words=12,
        fragment_delimiter=" … ",
    )
    logs = DailyLog.objects.filter(agent=agent).annotate(searched=WORDS_OF_LOG)
    return logs.filter(searched=query).annotate(passages=passages).defer("content")


def highlighted(passages: str) -> SafeString:
    """The passages as HTML: hits are marked, all else is text."""
    parts = re.split(f"{OPENS}([^{OPENS}{CLOSES}]*){CLOSES}", passages)
    plain = [part.replace(OPENS, "").replace(CLOSES, "") for part in parts]
    marked = [format_html("<mark>{}</mark>", part) if place % 2 else part for place, part in enumerate(plain)]
    return format_html_join("", "{}", ((part,) for part in marked))
