"""How much of a context a text takes."""

from typing import Any

from django import template

from assembly.engine.profile import Section
from assembly.profiles import CONVERSATION
from config.tokens import DEFAULT_TOKENIZER, get_tokenizer

register = template.Library()
WIDTH = 1000  # of a bar, in the units of its SVG


@register.inclusion_tag("assembly/_size.html")
def size_of(text: str, key: str) -> dict[str, Any]:
    """A text measured against its section in the conversation profile."""
    section = _section(key)
    tokens = get_tokenizer(DEFAULT_TOKENIZER).count(text)
    room = section.cap or CONVERSATION.budget
    return {
        "key": key,
        "section": section,
        "words": len(text.split()),
        "tokens": tokens,
        "room": room,
        "left": room - tokens,
        "over": tokens - room,
        "width": width(tokens, room),
        "budget": CONVERSATION.budget,
    }


@register.simple_tag
def width(part: int, whole: int) -> int:
    """A part of a bar, in the units of its SVG; never more than the bar."""
    return min(WIDTH, round(part * WIDTH / whole)) if whole else 0


def _section(key: str) -> Section:
    return next(section for section in CONVERSATION.sections if section.key.upper() == key)
