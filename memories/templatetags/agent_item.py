"""These template tags format items of agents: URLs of their pages, properties, JSON and sizes."""

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
SUMMARY_CHARACTERS = 160


@register.simple_tag(takes_context=True)
def page_of(context: dict[str, Any], noun: ItemPage, thing: AgentItem, what: str = "") -> str:
    """Return the URL of an item's page or, with `what`, of the page that edits or deletes the item."""
    return reverse(f"{noun.key}_{what}" if what else noun.key, args=[context["agent"].slug, thing.pk])


@register.filter
def as_json(value: Any) -> str:
    """Return a JSON value formatted over several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def as_words(value: Any) -> str:
    """Return a property's value for display: a text as it is, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def in_brief(properties: Mapping[str, Any]) -> str:
    """Return the first properties on one line, of at most 160 characters."""
    return Truncator(", ".join(f"{name}: {as_words(value)}" for name, value in properties.items())).chars(
        SUMMARY_CHARACTERS
    )


@register.filter
def characters(count: int) -> str:
    """Return a size with its unit, as in “1,234 characters”."""
    return ngettext("%(count)s character", "%(count)s characters", count) % {"count": intcomma(count)}
