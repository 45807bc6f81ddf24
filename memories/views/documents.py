"""The page of one document: its text, and the pieces that search finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.access import agent_for
from memories.embeddings.active_model import SLOTS
from memories.models import Chunk, Document
from memories.views.agent_item import frame, thing_of
from memories.views.item_kinds import Noun
from teams.access import asking
from teams.text_diff.markdown import rendered

MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the text: a piece with its number and first line, or what lies between two pieces (number 0)."""

    text: str
    number: int = 0
    line: int = 0


def document(request: HttpRequest, slug: str, noun: Noun, thing_id: UUID) -> HttpResponse:
    """The document as people read it, as it is written, or with its pieces marked."""
    agent = agent_for(asking(request), slug)
    thing: Document = thing_of(noun, agent, thing_id)
    is_split = thing.split_version == thing.version
    pieces = list(thing.chunks.order_by("position").defer(*SLOTS)) if is_split else []
    readable = thing.path.lower().endswith(MARKDOWN)
    form_ = request.GET.get("as", "")
    shown = form_ if form_ in {"source", "pieces"} else "text" if readable else "source"
    context = {
        **frame(request, agent, noun),
        "thing": thing,
        "is_split": is_split,
        "pieces": len(pieces),
        "readable": readable,
        "shown": shown,
        "html": rendered(thing.content) if shown == "text" else "",
        "stretches": stretches(thing.content, pieces) if shown == "pieces" else [],
    }
    return render(request, "memories/document.html", context)


def stretches(text: str, pieces: Sequence[Chunk]) -> list[Stretch]:
    """The whole text in order, each character once, with the pieces where they lie."""
    found, at = [], 0
    for number, piece in enumerate(pieces, start=1):
        if piece.start > at:
            found.append(Stretch(text[at : piece.start]))
        found.append(Stretch(text[max(at, piece.start) : piece.end], number, piece.line))
        at = max(at, piece.end)
    return [*found, Stretch(text[at:])] if at < len(text) else found
