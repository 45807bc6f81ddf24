"""How much of a context a text takes."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from assembly.contexts.layers import bar_width
from assembly.profiles.shipped import CONVERSATION
from assembly.simulation.draft_preview.size import measure, rendered_with_cut
from teams.text_diff.markdown import rendered

register = template.Library()
register.simple_tag(bar_width, name="width")


@register.inclusion_tag("assembly/_size.html")
def size_of(text: str, key: str) -> dict[str, Any]:
    """A text measured against its section in the conversation profile."""
    measured = measure(text, key)
    return {
        "key": key,
        "measure": measured,
        "section": measured.section,
        "left": measured.room - measured.tokens,
        "width": bar_width(measured.tokens, measured.room),
        "budget": CONVERSATION.budget,
    }


@register.simple_tag
def rendered_for(text: str, key: str) -> SafeString:
    """A text as HTML, with a line where a context would cut it."""
    kept = measure(text, key).kept_characters
    return rendered(text) if kept is None else rendered_with_cut(text, kept)
