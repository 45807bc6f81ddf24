"""How pages say what an agent keeps: addresses of things, properties, JSON, sizes."""

import json
from collections.abc import Mapping
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import ngettext

from memories.models.agent_item import AgentItem
from memories.views.item_kinds import ItemPage

register = template.Library()
SUMMARY_CHARACTERS = 160  # characters


@register.simple_tag(takes_context=True)
def page_of(context: dict[str, Any], noun: ItemPage, thing: AgentItem, what: str = "") -> str:
    """The address of a thing's page, or of what can be done with it: edit, delete."""
    return reverse(f"{noun.key}_{what}" if what else noun.key, args=[context["agent"].slug, thing.pk])


@register.filter
def as_json(value: Any) -> str:
    """A JSON value over several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def as_words(value: Any) -> str:
    """A property's value: texts as they are, the rest as JSON has it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def in_brief(properties: Mapping[str, Any]) -> str:
    """The first properties on a line."""
    return Truncator(", ".join(f"{name}: {as_words(value)}" for name, value in properties.items())).chars(
        SUMMARY_CHARACTERS
    )


@register.filter
def characters(count: int) -> str:
    """A size: 1,234 characters."""
    return ngettext("%(count)s character", "%(count)s characters", count) % {"count": intcomma(count)}
