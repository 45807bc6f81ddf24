"""Template tags show in which forms, by level of detail, agents may get the texts of an item, with tokens each."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext as _

from assembly.contexts.level_presentation import levelled_texts
from assembly.engine.item_formats import format_chunk
from assembly.sources.level_texts import levelled_kind_of
from memories.models import Chunk, Document
from teams.versioned_text.presentation import TextPage

register = template.Library()

MAX_PASSAGES = 20
"""The most passages of a document whose forms its page shows."""


@register.inclusion_tag("assembly/contexts/_levels.html")
def levels_of_text(text: str) -> dict[str, Any]:
    """Return the values for the forms of one text."""
    return _panel({"": text})


@register.inclusion_tag("assembly/contexts/_levels.html")
def levels_of_file(document: TextPage) -> dict[str, Any]:
    """Return the values for the forms of a file or log; none for a text that contexts do not tell, such as a rule."""
    text = document.file.content if levelled_kind_of(type(document.file)) else ""
    return _panel({"": text} if text.strip() else {})


@register.inclusion_tag("assembly/contexts/_levels.html")
def levels_of_document(document: Document) -> dict[str, Any]:
    """Return the values for the forms of the first passages of a document."""
    chunks = Chunk.objects.filter(document=document).order_by("position").values_list("line", "text")
    found = list(chunks[: MAX_PASSAGES + 1])
    texts = {
        _("Line %(number)s") % {"number": line}: format_chunk(path=document.path, line=line, text=text)
        for line, text in found[:MAX_PASSAGES]
    }
    return {**_panel(texts), "more": len(found) > MAX_PASSAGES, "most": MAX_PASSAGES}


def _panel(texts: Mapping[str, str]) -> dict[str, Any]:
    return {"texts": levelled_texts(texts)}
