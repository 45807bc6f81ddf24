"""Limitations of contexts as of a date: where no history is stored, today's data is used, and the reader is told."""

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
"""The kinds that change most often, which are named first."""


def record_kinds_of(profile: Profile) -> list[ItemKind]:
    """Return the kinds without versions for which the profile has sections."""
    sources = {section.source for section in profile.sections}
    found = [kind for kind in ITEM_KINDS if not kind.versions and kind.told_by & sources]
    return sorted(found, key=lambda kind: kind.name not in BUSIEST)


def changed_since(agent: Agent, profile: Profile, moment: datetime.datetime) -> Iterator[tuple[ItemKind, int]]:
    """Yield each kind with the number of the agent's items that existed at the moment and have changed since, if there
    are any.
    """
    for noun in record_kinds_of(profile):
        rows: QuerySet[AgentItem] = noun.model._default_manager.filter(agent=agent, version__gt=1)  # noqa: SLF001
        if count := rows.filter(created__lte=moment, updated__gt=moment).count():
            yield noun, count


ERASED: Mapping[str, tuple[str, str]] = {
    "memories": ("%(count)s memory", "%(count)s memories"),
    "organisation_files": ("%(count)s file of the organisation", "%(count)s files of the organisation"),
    "daily_logs": ("%(count)s daily log", "%(count)s daily logs"),
    "rules": ("%(count)s rule", "%(count)s rules"),
    "profiles": ("%(count)s profile", "%(count)s profiles"),
}
"""The names of deleted items, by the table whose rows were deleted with their history."""


@dataclass(frozen=True, slots=True)
class Limitation:
    """A part of the context that is not as of the moment. The code is stable; the sentence is for people."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PastContextFacts:
    """Facts that were found while the context was assembled.

    `unsearchable_count` is the number of memories without the vector of their former text; `counts` says how much was
    deleted, of any owner.
    """

    context: ComparedContext
    unsearchable_count: int
    worded_count: int
    """The number of former texts of files whose passages are found by their words only."""
    cut_count: int
    """The number of former texts of files of which only the beginning is searched."""
    session_ignored: bool
    counts: bool


def limitations_of(
    agent: Agent, team: Team | None, moment: datetime.datetime, facts: PastContextFacts
) -> tuple[Limitation, ...]:
    """Return the limitations of this context, the most important first."""
    profile = facts.context.inputs.profile
    return (
        *_missing_limitations(facts),
        *_deletion_limitations(profile, moment, counts=facts.counts),
        *_change_limitations(agent, profile, moment),
        *_meaning_limitations(facts.unsearchable_count, facts.context.extracted),
        *_former_text_limitations(facts),
        *_rule_limitations(agent, team, moment),
        *_present_state_limitations(agent, team, profile, moment),
    )


def _missing_limitations(facts: PastContextFacts) -> Iterator[Limitation]:
    late = ", ".join(map(recorded_source_label, facts.context.missing))
    if late:
        sentence = gettext("%(sources)s could not be read and is missing. Try again.") % {"sources": late}
        yield Limitation("source_missing", sentence)
    if any(section.source == EXTERNAL for section in facts.context.inputs.profile.sections):
        yield Limitation(
            "external", gettext("External sources are not queried, because their past results are unknown.")
        )
    if facts.session_ignored:
        yield Limitation(
            "session_unknown", gettext("The session had not started or was deleted since, so it is not included.")
        )


def _deletion_limitations(profile: Profile, moment: datetime.datetime, *, counts: bool) -> Iterator[Limitation]:
    erased = Erasure.objects.filter(created__gt=moment, kind__in=ERASED)
    by_kind = dict(erased.values_list("kind").annotate(count=Count("id")).order_by("kind"))
    if by_kind and counts:
        parts = ", ".join(ngettext(*ERASED[kind], count) % {"count": count} for kind, count in by_kind.items())
        said = gettext("Deleted since then (of all agents): %(what)s. Parts of it that this agent used are missing.")
        yield Limitation("deleted", said % {"what": parts})
    elif by_kind:
        yield Limitation(
            "deleted", gettext("Something was deleted since then. Parts of it that this agent used are missing.")
        )
    if nouns := [noun.many for noun in record_kinds_of(profile)]:
        said = gettext("Deleted items of these kinds leave no trace: %(nouns)s.")
        yield Limitation("deleted_without_trace", said % {"nouns": ", ".join(map(str, nouns))})


def _change_limitations(agent: Agent, profile: Profile, moment: datetime.datetime) -> Iterator[Limitation]:
    for noun, count in changed_since(agent, profile, moment):
        said = ngettext(
            "%(count)s of the %(nouns)s was changed since then. Its current text is used.",
            "%(count)s of the %(nouns)s were changed since then. Their current text is used.",
            count,
        )
        yield Limitation("changed_since", said % {"count": f"{count:,}", "nouns": noun.many})


def _meaning_limitations(unsearchable_count: int, extracted: int) -> Iterator[Limitation]:
    if unsearchable_count:
        said = ngettext(
            "%(count)s memory was changed since then. It is found by its former words only, not by similarity.",
            "%(count)s memories were changed since then. They are found by their former words only, not by similarity.",
            unsearchable_count,
        )
        yield Limitation("meaning_unknown", said % {"count": f"{unsearchable_count:,}"})
    if extracted:
        yield Limitation("extracts", gettext("Extracts are used instead of summaries by a model."))


def _former_text_limitations(facts: PastContextFacts) -> Iterator[Limitation]:
    if facts.worded_count:
        sentence = ngettext(
            "Passages of %(count)s file or log of that time are found by words only, not by similarity.",
            "Passages of %(count)s files or logs of that time are found by words only, not by similarity.",
            facts.worded_count,
        )
        yield Limitation("meaning_unknown", sentence % {"count": f"{facts.worded_count:,}"})
    if facts.cut_count:
        sentence = ngettext(
            "Of %(count)s long file or log of that time, only the beginning is searched.",
            "Of %(count)s long files or logs of that time, only the beginnings are searched.",
            facts.cut_count,
        )
        yield Limitation("texts_cut", sentence % {"count": f"{facts.cut_count:,}"})


def _rule_limitations(agent: Agent, team: Team | None, moment: datetime.datetime) -> Iterator[Limitation]:
    owned = Q(agent=None, team=None) | Q(agent=agent)
    rules = StoredRule.objects.filter(owned | Q(team=team) if team else owned, created__lte=moment)
    if rules.filter(versions__created__gt=moment).exists():
        said = gettext(
            "Whether a rule was enabled is not recorded: a version without changes counts as enabling or disabling it."
        )
        yield Limitation("rule_switches", said)


def _present_state_limitations(
    agent: Agent, team: Team | None, profile: Profile, moment: datetime.datetime
) -> Iterator[Limitation]:
    if agent.version > 1 or team:
        said = gettext("The name, time zone and teams of %(agent)s are the current ones.")
        yield Limitation("agent_of_today", said % {"agent": agent.name})
    versions = StoredProfileVersion.objects.filter(file__name=profile.name, created__lte=moment)
    if profile.name in SHIPPED and not versions.exists():
        said = gettext("The built-in profile %(name)s is the current one.")
        yield Limitation("profile_of_today", said % {"name": profile.name})
