"""What an agent keeps of which there is no history: which of it a profile tells, and how much was changed since."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.engine.profile import Profile
from memories.models import Document, Entity, Event, Pattern, Relation, TaskFrame, Thread, Tool
from memories.models.kept import Kept


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind of thing, and the sources that tell of it."""

    model: type[Kept]
    many: str | Promise
    sources: frozenset[str]


NOUNS = (
    Noun(Event, _("events"), frozenset({"recent_events", "tool_results"})),
    Noun(TaskFrame, _("tasks"), frozenset({"task_stack"})),
    Noun(Document, _("documents"), frozenset({"semantic_content", "open_files", "rule_inclusions"})),
    Noun(Entity, _("entities"), frozenset({"entities", "relations", "rule_inclusions"})),
    Noun(Relation, _("relations"), frozenset({"relations"})),
    Noun(Pattern, _("patterns"), frozenset({"patterns", "rule_inclusions"})),
    Noun(Thread, _("threads"), frozenset({"threads"})),
    Noun(Tool, _("tools"), frozenset({"tools"})),
)


def nouns_of(profile: Profile) -> list[Noun]:
    """Those that the profile tells of."""
    sources = {section.source for section in profile.sections}
    return [noun for noun in NOUNS if noun.sources & sources]


def changed_since(agent: Agent, profile: Profile, moment: datetime.datetime) -> Iterator[tuple[Noun, int]]:
    """How many of the agent's were there at the moment and are another version now; only where it is any."""
    for noun in nouns_of(profile):
        rows: QuerySet[Kept] = noun.model._default_manager.filter(agent=agent, version__gt=1)  # noqa: SLF001
        if count := rows.filter(created__lte=moment, updated__gt=moment).count():
            yield noun, count
