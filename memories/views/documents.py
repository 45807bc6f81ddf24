"""The page of a document shows its text, and the chunks that search finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.access import agent_for
from memories.embeddings.active_model import SLOTS
from memories.lifecycle.use_counts import thing_opened
from memories.models import Chunk, Document
from memories.views.agent_item import find_item, item_page_context
from memories.views.item_kinds import ItemPage
from teams.access import principal_of
from teams.text_diff.markdown import render_markdown

MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A part of a document's text: a chunk with number and first line, or the text between two chunks (number 0)."""

    text: str
    number: int = 0
    line: int = 0


def document(request: HttpRequest, slug: str, noun: ItemPage, thing_id: UUID) -> HttpResponse:
    """Show a document as rendered Markdown, as source, or with its chunks marked."""
    agent = agent_for(principal_of(request), slug)
    thing: Document = find_item(noun, agent, thing_id)
    thing_opened(thing)
    is_split = thing.split_version == thing.version
    pieces = list(thing.chunks.order_by("position").defer(*SLOTS)) if is_split else []
    readable = thing.path.lower().endswith(MARKDOWN)
    form_ = request.GET.get("as", "")
    shown = form_ if form_ in {"source", "pieces"} else "text" if readable else "source"
    context = {
        **item_page_context(request, agent, noun),
        "thing": thing,
        "is_split": is_split,
        "pieces": len(pieces),
        "readable": readable,
        "shown": shown,
        "html": render_markdown(thing.content) if shown == "text" else "",
        "stretches": split_by_chunks(thing.content, pieces) if shown == "pieces" else [],
    }
    return render(request, "memories/documents/document.html", context)


def split_by_chunks(text: str, pieces: Sequence[Chunk]) -> list[TextSegment]:
    """Return the whole text in order as segments, each character once: the chunks and the text between them."""
    found, at = [], 0
    for number, piece in enumerate(pieces, start=1):
        if piece.start > at:
            found.append(TextSegment(text[at : piece.start]))
        found.append(TextSegment(text[max(at, piece.start) : piece.end], number, piece.line))
        at = max(at, piece.end)
    return [*found, TextSegment(text[at:])] if at < len(text) else found
