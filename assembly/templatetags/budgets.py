"""How much of a context a text takes."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from assembly.profiles.shipped import CONVERSATION
from assembly.simulation.draft_preview.size import measure, rendered_with_cut
from teams.markdown import rendered

register = template.Library()
WIDTH = 1000  # of a bar, in the units of its SVG


@register.inclusion_tag("assembly/_size.html")
def size_of(text: str, key: str) -> dict[str, Any]:
    """A text measured against its section in the conversation profile."""
    measured = measure(text, key)
    return {
        "key": key,
        "measure": measured,
        "section": measured.section,
        "left": measured.room - measured.tokens,
        "width": width(measured.tokens, measured.room),
        "budget": CONVERSATION.budget,
    }


@register.simple_tag
def rendered_for(text: str, key: str) -> SafeString:
    """A text as HTML, with a line where a context would cut it."""
    kept = measure(text, key).kept_characters
    return rendered(text) if kept is None else rendered_with_cut(text, kept)


@register.simple_tag
def width(part: int, whole: int) -> int:
    """A part of a bar, in the units of its SVG; never more than the bar."""
    return min(WIDTH, round(part * WIDTH / whole)) if whole else 0
