"""The files that the agent has open now, whole."""

from collections.abc import Sequence

from django.db.models import Func, IntegerField, Sum, Window

from assembly.engine.formatting import format_open_file
from assembly.engine.formulas import keyword_share, measures, recency_score
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import MOST_BYTES, Gathered, Situation, offered
from assembly.sources.labels import path_labels
from memories.models import Document

LIMIT = 10


class OctetLength(Func):
    """Bytes of a text. PostgreSQL knows them without reading a long one."""

    function = "octet_length"
    output_field = IntegerField()


def open_files(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """Open documents, the last changed first, as long as those before them are less than MOST_BYTES."""
    limit = situation.raised(LIMIT)
    order = ("-updated", "id")
    size = OctetLength("content")
    documents = (
        Document.objects.filter(agent=situation.agent, is_open=True)
        .annotate(newer=Window(Sum(size), order_by=order) - size)
        .filter(newer__lt=MOST_BYTES)
        .order_by(*order)[:limit]
    )
    columns = documents.only("id", "version", "path", "language", "content", "updated")
    return offered(sections, columns, limit, lambda section, document: _candidate(situation, section, document))


def _candidate(situation: Situation, section: Section, document: Document) -> Candidate:
    text = format_open_file(path=document.path, language=document.language, text=document.content)
    recency = recency_score(situation.age(document.updated))
    return Candidate(
        ref=document.ref,
        section=section.key,
        text=text,
        kind="open_file",
        occurred_at=document.updated,
        score=recency,
        measures=measures(recency=recency, relevance=keyword_share(text, situation.signals.keywords)),
        labels=path_labels(document.path),
    )
