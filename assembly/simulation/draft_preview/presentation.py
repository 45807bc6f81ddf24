"""What trying a draft found, in the words and shapes of its page. Pure: everything comes in as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from assembly.comparison.changed_items import ChangedItem, changed_items, effect_tag, titles_by_ref
from assembly.comparison.diff_sentences import comparison_summary
from assembly.comparison.side_by_side import SideBySide
from assembly.engine.codes import WarningCode
from assembly.engine.diff import DecisionChange
from assembly.engine.reasons import warning_sentence
from assembly.records.item_titles import reason_sentence
from assembly.records.warnings import recorded_source_label


@dataclass(frozen=True, slots=True)
class PreviewItemList:
    """Items with the same fate."""

    heading: str
    items: tuple[ChangedItem, ...]


def preview_headline(trial: SideBySide) -> str:
    """What the draft changes, in a sentence or a few."""
    return comparison_summary(trial.comparison, overflows=WarningCode.BUDGET_EXCEEDED in trial.new_warnings)


def preview_tone(trial: SideBySide) -> str:
    """How good that is: plain, good or warn."""
    found = trial.comparison
    if found.is_same:
        return "plain"
    return "warn" if found.pushed_out or found.newly_cut or trial.new_warnings else "good"


def preview_item_lists(trial: SideBySide) -> list[PreviewItemList]:
    """What is newly cut, what is pushed out and what comes in; only those of which there is something."""
    found = trial.comparison
    titles = titles_by_ref((*trial.before.inputs.candidates, *trial.after.inputs.candidates))
    fates = {
        _("Newly cut"): found.newly_cut,
        _("Pushed out"): found.pushed_out,
        _("Newly in"): found.newly_in,
    }
    lists = [
        PreviewItemList(
            heading, changed_items(found, changes, titles, tag=partial(effect_tag, wording="texts"), why=_why)
        )
        for heading, changes in fates.items()
    ]
    return [one for one in lists if one.items]


def preview_warnings(trial: SideBySide) -> list[str]:
    """What the reader must know of the trial itself."""
    late = [recorded_source_label(name) for name in trial.after.missing]
    told = []
    if late:
        told.append(
            _("%(sources)s could not be read just now and is missing on both sides. Try again.")
            % {"sources": ", ".join(late)}
        )
    told += [warning_sentence(code) for code in trial.new_warnings if code is not WarningCode.BUDGET_EXCEEDED]
    if trial.after.extracted:
        told.append(_("Where a model would be asked for a summary, a shorter extract stands in for it here."))
    return told


def _why(change: DecisionChange, label: str, titles: Mapping[str, str]) -> str:
    if change.after is None:
        return _("It would not be considered any more.")
    return reason_sentence(change.after, label, titles)
