"""This module prepares an import for its page: by owner, what would change or was not imported, with a reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.models import Agent
from config.http.serializers import parse_date
from memories.archive.plan import OPTIONAL_STATES, ImportStep, is_selected, load_steps
from memories.imports.workspace import MEMORY_FILE
from memories.models import ImportPlan
from teams.models import Team
from teams.principal import Principal

MAX_STEPS_SHOWN = 100
"""The most steps of one owner that are listed; all optional ones are listed, others are only counted."""
ROWS_PER_PAGE = 400
MAX_SKIPPED_LISTED = 500
TAGS = {
    "new": ("good", gettext_lazy("new")),
    "changed": ("plain", gettext_lazy("changed")),
    "newer": ("warn", gettext_lazy("newer in Dossier")),
    "both": ("warn", gettext_lazy("conflict")),
    "refused": ("bad", gettext_lazy("rejected")),
}
SENTENCES = {
    "newer": gettext_lazy("Changed in Dossier since the export, but not in the file. It is not changed."),
    "both": gettext_lazy("Changed both in Dossier and in the file since the export. It is not changed."),
}
SETTINGS = gettext_lazy("Name and settings")
OWNER_LABELS = {"agent": gettext_lazy("Agent"), "team": gettext_lazy("Team")}
SECTION_NAMES = {"profiles": gettext_lazy("Context profiles"), "rules": gettext_lazy("Context rules")}


@dataclass(frozen=True, slots=True)
class StepPresentation:
    """A step of an import with the texts that the page shows."""

    step: ImportStep
    label: str
    tone: str
    tag: Any
    sentence: Any
    is_optional: bool
    sizes: str


@dataclass(frozen=True, slots=True)
class UnitPresentation:
    """What an import would change for one agent or team: its listed steps, and the number `more` of further steps."""

    name: str
    heading: str
    steps: list[StepPresentation]
    more: int


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The result of an import: the number of stored changes, and the others with reasons; `more` are not listed."""

    stored: int
    left: list[tuple[str, str]]
    more: int
    places: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PlanPage:
    """A page of the changes that an import would make. The first page has all optional changes, and the import button.

    `ready` is the number of changes, on all pages, that are imported by default; `unlisted` is the number of optional
    changes that do not fit on the first page.
    """

    number: int
    pages: int
    units: list[UnitPresentation]
    ready: int
    choices: bool
    unlisted: int

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None


def plan_page(plan: ImportPlan, number: int, principal: Principal) -> PlanPage:
    """Return a page of the changes, by agents and teams; those with optional changes come first."""
    steps = list(load_steps(plan.steps))
    grouped = [(name, list(own)) for name, own in groupby(steps, key=lambda step: step.unit)]
    grouped.sort(key=lambda group: not any(step.state in OPTIONAL_STATES for step in group[1]))
    pages = list(_pages(grouped))
    place = min(max(number, 1), len(pages) or 1) - 1
    rows = pages[place] if pages else []
    headings = _headings([name for name, _steps, _more in rows], principal)
    units = [
        UnitPresentation(name, headings[name], [_present_step(step) for step in own], more) for name, own, more in rows
    ]
    listed = sum(shown.is_optional for unit in units for shown in unit.steps) if place == 0 else 0
    unlisted = sum(step.state in OPTIONAL_STATES for step in steps) - listed if place == 0 else 0
    ready = sum(is_selected(step, set()) for step in steps)
    return PlanPage(place + 1, len(pages), units, ready, listed > 0, unlisted)


UnitRow = tuple[str, list[ImportStep], int]
"""A unit's name, its listed steps, and the number of further steps."""


def _pages(grouped: Sequence[tuple[str, list[ImportStep]]]) -> Iterator[list[UnitRow]]:
    """Yield pages of units, each with about ROWS_PER_PAGE rows."""
    page, rows = list[UnitRow](), 0
    for name, steps in grouped:
        # Steps that need a decision come first, so that the limit does not cut them off.
        ordered = sorted(steps, key=lambda step: (step.state not in OPTIONAL_STATES, step.state != "refused"))
        is_optional = sum(step.state in OPTIONAL_STATES for step in steps)
        listed = ordered[: min(max(MAX_STEPS_SHOWN, is_optional), ROWS_PER_PAGE)]
        if page and rows + len(listed) > ROWS_PER_PAGE:
            yield page
            page, rows = [], 0
        page.append((name, listed, len(steps) - len(listed)))
        rows += len(listed) + 1
    if page:
        yield page


def import_outcome(plan: ImportPlan, principal: Principal) -> ImportOutcome:
    """Return the result of the import so far."""
    parts, headings = plan.outcome.items(), _headings(list(plan.outcome), principal)
    kept = [(unit, name, why) for unit, part in parts for name, why in part["left"]]
    left = [(_name_in(headings[unit], unit, name), why) for unit, name, why in kept[:MAX_SKIPPED_LISTED]]
    stored = sum(part["stored"] for part in plan.outcome.values())
    places = [(headings[unit], address) for unit in plan.outcome if (address := _unit_url(unit))]
    return ImportOutcome(stored, left, len(kept) - len(left), places)


def _name_in(heading: str, unit: str, name: str) -> str:
    """Return the label of an item within a unit, as in “Agent Luna: Memories”."""
    within = name.removeprefix(unit).removeprefix("/")
    return f"{heading}: {_label(within)}" if within else heading


def _present_step(step: ImportStep) -> StepPresentation:
    tone, tag = TAGS[step.state]
    within = step.name.removeprefix(step.unit).removeprefix("/")
    sentence = step.reason or SENTENCES.get(step.state, "")
    label = _label(within) if within else str(OWNER_LABELS[step.what])
    return StepPresentation(step, label, tone, tag, sentence, step.state in OPTIONAL_STATES, _sizes(step))


def _sizes(step: ImportStep) -> str:
    if step.state == "refused" or step.what in {"memory", "settings", "agent", "team"}:
        return ""
    after = _("%(count)s characters") % {"count": f"{step.size_after:,}"}
    if not step.version or step.state == "new":
        return after
    return _("%(before)s → %(after)s") % {"before": f"{step.size_before:,}", "after": after}


def _label(within: str) -> str:
    """Return the label of a file of an agent or team, as in “Log of Saturday, 14 March 2026”."""
    folder, _slash, rest = within.partition("/")
    if date := parse_date(rest.removesuffix(".md")) if folder == "memory" else None:
        return _("Log of %(day)s") % {"day": date_format(date, "l, j F Y")}
    if folder == MEMORY_FILE:
        return _("Memory") if rest else _("Memories")
    return str(SETTINGS) if within.endswith(".json") else capfirst(within.rpartition(".")[0].lower())


def _headings(units: list[str], principal: Principal) -> dict[str, str]:
    """Return the headings of units: with their names where the principal can see them, otherwise with their slugs."""
    slugs = {unit.partition("/")[2] for unit in units}
    agents = Agent.objects.visible_to(principal).filter(slug__in=slugs).values_list("slug", "name")
    teams = Team.objects.visible_to(principal).filter(slug__in=slugs).values_list("slug", "name")
    names = {f"agents/{slug}": name for slug, name in agents} | {f"teams/{slug}": name for slug, name in teams}
    return {unit: _heading(unit, names.get(unit, unit.partition("/")[2])) for unit in units}


def _heading(unit: str, name: str) -> str:
    folder = unit.partition("/")[0]
    if folder in SECTION_NAMES:
        return str(SECTION_NAMES[folder])
    return _("Agent %(name)s") % {"name": name} if folder == "agents" else _("Team %(name)s") % {"name": name}


def _unit_url(unit: str) -> str:
    folder, _slash, slug = unit.partition("/")
    page = {"agents": "agent_page", "teams": "team_page"}.get(folder)
    return reverse(page, args=[slug]) if page else ""
