"""What trying a rule found, in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.engine.reasons import sentence
from assembly.engine.ruling import ALWAYS_INCLUDED
from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.rules.comparing import Change, Effect
from assembly.rules.trying import Trial, Trials
from assembly.views.titles import reason, title_of

TAGS: Mapping[Effect, tuple[str, str]] = {
    "in": ("comes in", "good"),
    "out": ("goes", "bad"),
    "moved": ("moves", "plain"),
    "changed": ("counts otherwise", "plain"),
}
SHOWN = 6
"""Changes of one context that are shown at once; the others are folded away."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What becomes of one item. `tone` is good, bad or plain."""

    tag: str
    tone: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A context in which the rule would have changed something, or had a say at least."""

    assembly: Assembly
    headline: str
    changes: tuple[ChangeRow, ...]
    breaks_promise: bool

    @property
    def first(self) -> tuple[ChangeRow, ...]:
        """The changes that are shown at once."""
        return self.changes[:SHOWN]

    @property
    def rest(self) -> tuple[ChangeRow, ...]:
        """Those that are folded away."""
        return self.changes[SHOWN:]


def trials_headline(trials: Trials) -> str:
    """What came of it all, in a sentence or two."""
    tried = len(trials.trials)
    if not tried:
        return _("There is no context yet on which it could be tried.")
    if not trials.applying:
        said = ngettext(
            "It would not have applied to the last context.",
            "It would have applied to none of the last %(tried)s contexts.",
            tried,
        )
    else:
        said = ngettext(
            "It would have applied to the last context.",
            "It would have applied to %(applying)s of the last %(tried)s contexts.",
            tried,
        )
    changed = ngettext(
        "%(changed)s would have been different.", "%(changed)s would have been different.", trials.changed
    )
    counts = {"tried": tried, "applying": trials.applying, "changed": trials.changed or _("None")}
    return f"{said} {changed}" % counts


def trial_rows(trials: Trials) -> list[TrialRow]:
    """The contexts that say something about the rule, the newest first."""
    telling = [trial for trial in trials.trials if trial.applies or trial.changes]
    return [TrialRow(trial.assembly, _headline(trial), _change_rows(trial), trial.breaks_promise) for trial in telling]


def _headline(trial: Trial) -> str:
    tokens = {"before": f"{trial.assembly.tokens:,}", "after": f"{trial.tokens:,}"}
    if not trial.changes:
        return _("It would have applied, and changed nothing.")
    begun = _("It had applied, and would not now: ") if trial.applied and not trial.applies else ""
    if tokens["before"] == tokens["after"]:
        return begun + _("%(after)s tokens, as before.") % tokens
    return begun + _("%(after)s tokens instead of %(before)s.") % tokens


def _change_rows(trial: Trial) -> tuple[ChangeRow, ...]:
    labels = {section["key"]: section["label"] for section in trial.assembly.sections}
    labels |= {ALWAYS_INCLUDED.key: ALWAYS_INCLUDED.label}
    titles = {change.ref: title_of(change.candidate) for change in trial.changes}
    return tuple(
        ChangeRow(*TAGS[change.effect], titles[change.ref], _why(change, labels, titles)) for change in trial.changes
    )


def _why(change: Change, labels: Mapping[str, str], titles: Mapping[str, str]) -> str:
    if change.effect == "changed" and change.before and change.after:
        return _shift(change.before, change.after, labels)
    if change.after is None:
        return _("No rule would always include it any more.")
    label = labels[change.after.section]
    return f"{label}: {reason(change.after, label, titles)}"


def _shift(before: Decision, after: Decision, labels: Mapping[str, str]) -> str:
    """How an item counts that stays where it was."""
    parts = []
    if before.score != after.score and before.score is not None and after.score is not None:
        scores = {"before": f"{before.score:.2f}", "after": f"{after.score:.2f}"}
        parts.append(_("it scores %(after)s instead of %(before)s") % scores)
    if before.rank != after.rank:
        parts.append(_("place %(after)s instead of %(before)s") % {"before": before.rank, "after": after.rank})
    label = labels[after.section]
    if not parts or before.code != after.code:
        parts.append(sentence(after, label).rstrip("."))
    if not after.included:
        parts.append(_("still left out"))
    return f"{label}: {'; '.join(parts)}."
