"""Limitations of a look into the past: where no history is stored, today's data is used, and the reader is told."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext, ngettext

from agents.models import Agent
from assembly.comparison.side_by_side import ComparedContext
from assembly.engine.profile import Profile
from assembly.models import StoredProfileVersion, StoredRule
from assembly.profiles.shipped import SHIPPED
from assembly.records.warnings import recorded_source_label
from assembly.sources.external.questions import EXTERNAL_SOURCE as EXTERNAL
from assembly.sources.kinds import ITEM_KINDS, ItemKind
from memories.models.agent_item import AgentItem
from teams.models import Erasure, Team

BUSIEST = frozenset({"event", "task", "document"})
"""Change most often, so they are named first."""


def record_kinds_of(profile: Profile) -> list[ItemKind]:
    """Return the kinds without versions that the profile has sections for."""
    sources = {section.source for section in profile.sections}
    found = [kind for kind in ITEM_KINDS if not kind.versions and kind.told_by & sources]
    return sorted(found, key=lambda kind: kind.name not in BUSIEST)


def changed_since(agent: Agent, profile: Profile, moment: datetime.datetime) -> Iterator[tuple[ItemKind, int]]:
    """How many of the agent's were there at the moment and are another version now; only where it is any."""
    for noun in record_kinds_of(profile):
        rows: QuerySet[AgentItem] = noun.model._default_manager.filter(agent=agent, version__gt=1)  # noqa: SLF001
        if count := rows.filter(created__lte=moment, updated__gt=moment).count():
            yield noun, count


ERASED: Mapping[str, tuple[str, str]] = {
    "memories": ("%(count)s memory", "%(count)s memories"),
    "daily_logs": ("%(count)s daily log", "%(count)s daily logs"),
    "rules": ("%(count)s rule", "%(count)s rules"),
    "profiles": ("%(count)s profile", "%(count)s profiles"),
}
"""By the table whose rows were deleted with their history."""


@dataclass(frozen=True, slots=True)
class Limitation:
    """Something that is not as of then. The code is stable; the sentence says it to people."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PastContextFacts:
    """What the making of the context found out.

    `unsearchable_count` memories lack the vector of what they said; `counts`: say how much was deleted, whosever it
    was.
    """

    context: ComparedContext
    unsearchable_count: int
    session_ignored: bool
    counts: bool


def limitations_of(
    agent: Agent, team: Team | None, moment: datetime.datetime, facts: PastContextFacts
) -> tuple[Limitation, ...]:
    """All that holds for this context, what weighs most first."""
    profile = facts.context.inputs.profile
    return (
        *_missing_limitations(facts),
        *_deletion_limitations(profile, moment, counts=facts.counts),
        *_change_limitations(agent, profile, moment),
        *_meaning_limitations(facts.unsearchable_count, facts.context.extracted),
        *_rule_limitations(agent, team, moment),
        *_present_state_limitations(agent, team, profile, moment),
    )


def _missing_limitations(facts: PastContextFacts) -> Iterator[Limitation]:
    late = ", ".join(map(recorded_source_label, facts.context.missing))
    if late:
        sentence = gettext("%(sources)s could not be read just now and is missing. Try again.") % {"sources": late}
        yield Limitation("source_missing", sentence)
    if any(section.source == EXTERNAL for section in facts.context.inputs.profile.sections):
        yield Limitation(
            "external", gettext("External sources are not asked: what they would have said then, nobody knows.")
        )
    if facts.session_ignored:
        yield Limitation(
            "session_unknown", gettext("The session was not begun yet, or was deleted since: it is told without.")
        )


def _deletion_limitations(profile: Profile, moment: datetime.datetime, *, counts: bool) -> Iterator[Limitation]:
    erased = Erasure.objects.filter(created__gt=moment, kind__in=ERASED)
    by_kind = dict(erased.values_list("kind").annotate(count=Count("id")).order_by("kind"))
    if by_kind and counts:
        parts = ", ".join(ngettext(*ERASED[kind], count) % {"count": count} for kind, count in by_kind.items())
        said = gettext("Deleted since then, by anybody: %(what)s. What of it was told to this agent is missing here.")
        yield Limitation("deleted", said % {"what": parts})
    elif by_kind:
        yield Limitation(
            "deleted", gettext("Something was deleted since then. What of it was told to this agent is missing here.")
        )
    if nouns := [noun.many for noun in record_kinds_of(profile)]:
        said = gettext("What was deleted since then leaves no trace, if it was of these: %(nouns)s.")
        yield Limitation("deleted_without_trace", said % {"nouns": ", ".join(map(str, nouns))})


def _change_limitations(agent: Agent, profile: Profile, moment: datetime.datetime) -> Iterator[Limitation]:
    for noun, count in changed_since(agent, profile, moment):
        said = ngettext(
            "%(count)s of the %(nouns)s was changed since then. It is told as it is now.",
            "%(count)s of the %(nouns)s were changed since then. They are told as they are now.",
            count,
        )
        yield Limitation("changed_since", said % {"count": f"{count:,}", "nouns": noun.many})


def _meaning_limitations(unsearchable_count: int, extracted: int) -> Iterator[Limitation]:
    if unsearchable_count:
        said = ngettext(
            "%(count)s memory was reworded since then, and is found by its words of then alone, not by their meaning.",
            "%(count)s memories were reworded since then, and are found by their words of then alone, not by their"
            " meaning.",
            unsearchable_count,
        )
        yield Limitation("meaning_unknown", said % {"count": f"{unsearchable_count:,}"})
    if extracted:
        yield Limitation(
            "extracts", gettext("Where a model would have been asked for a summary, an extract stands in for it.")
        )


def _rule_limitations(agent: Agent, team: Team | None, moment: datetime.datetime) -> Iterator[Limitation]:
    owned = Q(agent=None, team=None) | Q(agent=agent)
    rules = StoredRule.objects.filter(owned | Q(team=team) if team else owned, created__lte=moment)
    if rules.filter(versions__created__gt=moment).exists():
        said = gettext("Whether a rule was on is not kept: a version of it that changed no word counts as a switch.")
        yield Limitation("rule_switches", said)


def _present_state_limitations(
    agent: Agent, team: Team | None, profile: Profile, moment: datetime.datetime
) -> Iterator[Limitation]:
    if agent.version > 1 or team:
        said = gettext("The name of %(agent)s, its time zone and its teams are those of today.")
        yield Limitation("agent_of_today", said % {"agent": agent.name})
    versions = StoredProfileVersion.objects.filter(file__name=profile.name, created__lte=moment)
    if profile.name in SHIPPED and not versions.exists():
        said = gettext("The profile %(name)s is the one that Dossier comes with today.")
        yield Limitation("profile_of_today", said % {"name": profile.name})
