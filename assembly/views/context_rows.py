"""The rows of the list of contexts, in words: a template takes its time for each filter, and here are dozens of rows.

Pure: everything comes in as values.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from assembly.engine.reasons import warning_label
from assembly.models import Assembly
from assembly.templatetags.budgets import width
from assembly.views.addresses import ANY_ID, address_pattern
from assembly.views.explanation import Tag

TOPIC = 80  # characters of a topic


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A context among others. `share`: the part of the budget that is used, in the units of the bar's SVG."""

    address: str
    created: datetime.datetime
    whose: str
    topic: str
    profile: str
    share: int
    is_over: bool
    tokens: str
    left_out: str
    outcomes: tuple[Tag, ...]
    took: str


def context_rows(contexts: Sequence[Assembly]) -> list[ContextRow]:
    """Them in their order."""
    address = address_pattern("context", ANY_ID)
    return [_row(context, address.format(context.id)) for context in contexts]


def _row(context: Assembly, address: str) -> ContextRow:
    return ContextRow(
        address=address,
        created=context.created,
        whose=" · ".join(filter(None, (context.agent_name, context.team_name))),
        topic=Truncator(context.topic).chars(TOPIC) or _("No topic"),
        profile=context.profile_name,
        share=width(context.tokens, context.budget),
        is_over=context.tokens > context.budget,
        tokens=_("%(tokens)s of %(budget)s") % {"tokens": intcomma(context.tokens), "budget": intcomma(context.budget)},
        left_out=intcomma(context.left_out),
        outcomes=_outcomes(context),
        took=_("%(ms)s ms") % {"ms": intcomma(context.assembly_ms)},
    )


def _outcomes(context: Assembly) -> tuple[Tag, ...]:
    """Its warnings; without any, whether something was cut or left out for want of room."""
    if context.warnings:
        return tuple(Tag(warning_label(code), "bad") for code in context.warnings)
    return (Tag(_("short of room"), "warn") if context.truncated else Tag(_("all had room"), "good"),)
