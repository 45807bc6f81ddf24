"""A draft preview is formatted for its page here, without side effects."""

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
from assembly.engine.refs import Ref
from assembly.records.item_titles import reason_sentence
from assembly.records.warnings import recorded_source_label
from assembly.sources.kinds import KINDS
from teams.versioned_text.versioned_file import VersionedFile


@dataclass(frozen=True, slots=True)
class PreviewItemList:
    """Items with the same change."""

    heading: str
    items: tuple[ChangedItem, ...]


def preview_headline(trial: SideBySide) -> str:
    """Return what the draft changes, in a few sentences."""
    return comparison_summary(trial.comparison, overflows=WarningCode.BUDGET_EXCEEDED in trial.new_warnings)


def preview_tone(trial: SideBySide) -> str:
    """Return how good the change is: plain, good or warn."""
    found = trial.comparison
    if found.is_same:
        return "plain"
    return "warn" if found.pushed_out or found.newly_cut or trial.new_warnings else "good"


def preview_item_lists(trial: SideBySide) -> list[PreviewItemList]:
    """Return the lists of newly truncated, removed and added items that are not empty."""
    found = trial.comparison
    titles = titles_by_ref((*trial.before.inputs.candidates, *trial.after.inputs.candidates))
    fates = {
        _("Truncated"): found.newly_cut,
        _("Displaced"): found.pushed_out,
        _("Added"): found.newly_in,
    }
    lists = [
        PreviewItemList(
            heading, changed_items(found, changes, titles, tag=partial(effect_tag, wording="texts"), why=_why)
        )
        for heading, changes in fates.items()
    ]
    return [one for one in lists if one.items]


def preview_warnings(trial: SideBySide) -> list[str]:
    """Return notes about the preview itself."""
    late = [recorded_source_label(name) for name in trial.after.missing]
    told = []
    if late:
        told.append(
            _("%(sources)s could not be read and is missing in both contexts. Try again.")
            % {"sources": ", ".join(late)}
        )
    told += [warning_sentence(code) for code in trial.new_warnings if code is not WarningCode.BUDGET_EXCEEDED]
    if trial.after.extracted:
        told.append(_("Extracts are used here instead of summaries by a model."))
    return told


def unused_text_note(trial: SideBySide, file: VersionedFile) -> str:
    """Return a sentence that the profile has no section for such a text; "" if it has one."""
    profile, kind = trial.after.inputs.profile, KINDS[Ref.parse(file.about).kind]
    if {section.source for section in profile.sections} & {*kind.sources, *kind.team_sources}:
        return ""
    sentence = _("The profile %(profile)s has no section for it, so its contexts never include it.")
    return sentence % {"profile": profile.name}


def _why(change: DecisionChange, label: str, titles: Mapping[str, str]) -> str:
    if change.after is None:
        return _("It would no longer be a candidate.")
    return reason_sentence(change.after, label, titles)
