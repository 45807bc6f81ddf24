"""An import in the words of its page: by owner, what would change and what is left, each with a sentence."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.http.fields import date_of
from memories.bundle.planning import TO_CHOOSE, Step, steps_read, taken
from memories.models import ImportPlan
from memories.workspace_folder import MEMORY_FILE

MOST_SHOWN = 100
"""Of one owner; the rest is counted."""
TAGS = {
    "new": ("good", gettext_lazy("new")),
    "changed": ("plain", gettext_lazy("changed")),
    "newer": ("warn", gettext_lazy("newer here")),
    "both": ("warn", gettext_lazy("changed on both sides")),
    "refused": ("bad", gettext_lazy("not possible")),
}
SENTENCES = {
    "newer": gettext_lazy("It was changed here since the export, and not in the file. It stays as it is here."),
    "both": gettext_lazy("It was changed here since the export, and in the file as well. It stays as it is here."),
}
SETTINGS = gettext_lazy("Name and settings")
ITSELF = {"agent": gettext_lazy("The agent itself"), "team": gettext_lazy("The team itself")}
ROOMS = {"profiles": gettext_lazy("Profiles"), "rules": gettext_lazy("Rules")}


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step with its words."""

    step: Step
    label: str
    tone: str
    tag: Any
    sentence: Any
    to_choose: bool
    sizes: str


@dataclass(frozen=True, slots=True)
class ShownUnit:
    """What would change for one agent or team; `more` are counted only."""

    name: str
    heading: str
    steps: list[ShownStep]
    more: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an import: how much was stored, and what was not, each with its reason."""

    stored: int
    left: list[tuple[str, str]]
    places: list[tuple[str, str]]


def shown_units(plan: ImportPlan) -> list[ShownUnit]:
    """What would change, by agents and teams in the order in which they are imported."""
    grouped = groupby(steps_read(plan.steps), key=lambda step: step.unit)
    return [_unit(name, list(steps)) for name, steps in grouped]


def outcome_of(plan: ImportPlan) -> Outcome:
    """What came of it until now."""
    parts = plan.outcome.values()
    left = [(name_of(name), reason) for part in parts for name, reason in part["left"]]
    stored = sum(part["stored"] for part in parts)
    places = [
        (heading, address) for unit in plan.outcome if (address := _address(unit)) and (heading := _heading(unit))
    ]
    return Outcome(stored, left, places)


def ready_count(plan: ImportPlan) -> int:
    """How much would be imported without choosing anything."""
    return sum(taken(step, set()) for step in steps_read(plan.steps))


def name_of(name: str) -> str:
    """What something in an archive is called on pages."""
    unit, _slash, within = _parts(name)
    return f"{_heading(unit)}: {_label(within)}" if within else _heading(unit)


def _unit(name: str, steps: list[Step]) -> ShownUnit:
    # What needs somebody to look comes first, whatever is cut off.
    ordered = sorted(steps, key=lambda step: step.state not in {*TO_CHOOSE, "refused"})
    shown = [_shown(step) for step in ordered[:MOST_SHOWN]]
    return ShownUnit(name, _heading(name), shown, len(steps) - len(shown))


def _shown(step: Step) -> ShownStep:
    tone, tag = TAGS[step.state]
    within = step.name.removeprefix(step.unit).removeprefix("/")
    sentence = step.reason or SENTENCES.get(step.state, "")
    label = _label(within) if within else str(ITSELF[step.what])
    return ShownStep(step, label, tone, tag, sentence, step.state in TO_CHOOSE, _sizes(step))


def _sizes(step: Step) -> str:
    if step.state == "refused" or step.what in {"memory", "settings", "agent", "team"}:
        return ""
    after = _("%(count)s characters") % {"count": f"{step.size_after:,}"}
    if not step.version or step.state == "new":
        return after
    return _("%(before)s → %(after)s") % {"before": f"{step.size_before:,}", "after": after}


def _label(within: str) -> str:
    """What a file of an agent or a team is called."""
    folder, _slash, rest = within.partition("/")
    if date := date_of(rest.removesuffix(".md")) if folder == "memory" else None:
        return _("Log of %(day)s") % {"day": date_format(date, "l, j F Y")}
    if folder == MEMORY_FILE:
        return _("Memory") if rest else _("Memories")
    return str(SETTINGS) if within.endswith(".json") else capfirst(within.rpartition(".")[0].lower())


def _heading(unit: str) -> str:
    folder, _slash, slug = unit.partition("/")
    if folder in ROOMS:
        return str(ROOMS[folder])
    return _("Agent %(slug)s") % {"slug": slug} if folder == "agents" else _("Team %(slug)s") % {"slug": slug}


def _address(unit: str) -> str:
    folder, _slash, slug = unit.partition("/")
    page = {"agents": "agent_page", "teams": "team_page"}.get(folder)
    return reverse(page, args=[slug]) if page else ""


def _parts(name: str) -> tuple[str, str, str]:
    folder, _slash, rest = name.partition("/")
    if folder in ROOMS:
        return folder, "/", rest
    slug, slash, within = rest.partition("/")
    return f"{folder}/{slug}", slash, within
