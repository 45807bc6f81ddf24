"""A cause is one thing that changed between two contexts, with its sentence. All sentences of causes are here."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.engine.refs import Ref
from assembly.records.item_titles import file_title
from assembly.sources.kinds import ORGANISATION_FILE

CauseKind = Literal[
    "file_changed",
    "log_written",
    "log_deleted",
    "day_passed",
    "memory_added",
    "memory_changed",
    "memory_archived",
    "memory_restored",
    "memory_superseded",
    "memory_pinned",
    "memory_unpinned",
    "memory_deleted",
    "item_added",
    "item_changed",
    "item_deleted",
    "rule_added",
    "rule_changed",
    "rule_switched_off",
    "rule_deleted",
    "rule_matches",
    "rule_no_longer_matches",
    "conflict_found",
    "conflict_decided",
    "conflict_reopened",
    "conflict_gone",
    "profile_changed",
    "budget_changed",
    "source_failed_before",
    "source_failed_now",
    "source_failed_after",
    "added_afterwards",
    "added_to_one_side",
    "another_agent",
    "another_team",
    "topic_changed",
    "profile_chosen",
    "strategy_changed",
    "budget_requested",
    "tokenizer_changed",
    "excluded_by_request",
    "request_context",
    "request_differs",
    "engine_changed",
    "time_passed",
    "peer_items_changed",
    "preceding_sections",
    "unknown",
]
CAUSE_KINDS: tuple[CauseKind, ...] = get_args(CauseKind)

INDIRECT_KINDS = frozenset({"peer_items_changed", "preceding_sections", "time_passed", "unknown"})
"""Causes that follow from other changes, or that no person or program made."""

REQUEST_KINDS = frozenset({
    "another_agent", "another_team", "topic_changed", "profile_chosen", "strategy_changed", "budget_requested",
    "tokenizer_changed", "excluded_by_request", "request_context", "request_differs",
})  # fmt: skip
"""Causes in requests, which only occur when two different requests are compared, not when one is run again."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause is one reason for a difference between two contexts; `cause_sentence` returns its sentence.

    `name` is the key of a file, the title of a file of the organisation, a day, the name of a rule or a profile, the
    label of a source or the heading of a section, by `kind`. `before` and `after` are versions or tokens; for
    `peer_items_changed`, `after` is a number of items. `by` and `at` are the author and the time of the newest version;
    both are empty if they are unknown.
    """

    kind: CauseKind
    name: str = ""
    ref: str = ""
    """The ref of the item, without a version."""
    before: int | None = None
    after: int | None = None
    by: str = ""
    at: datetime.datetime | None = None
    by_ref: str = ""
    """The ref of the author, `person:<id>` or `key:<id>`."""
    note: str = ""
    """The author's note on the change; for a retired memory the reason; for a chosen profile the previous one."""

    @property
    def is_edit(self) -> bool:
        """Whether a person or program made the change, rather than that it follows from another one."""
        return self.kind not in INDIRECT_KINDS | REQUEST_KINDS


def cause_sentence(cause: Cause) -> str:
    """Return a sentence with the item, its versions, and who changed it when."""
    return _SENTENCES[cause.kind](cause)


def _version_sentence(cause: Cause, what: str) -> str:
    """Return a sentence that an item has a newer version: from which to which, by whom, when, with the
    author's note.
    """
    facts = {"what": what, "before": cause.before, "after": cause.after, "whom": _author_phrase(cause)}
    if cause.before is None or cause.after is None or cause.after <= cause.before:
        return _("%(what)s was changed%(whom)s.") % facts
    if cause.after == cause.before + 1:
        return _("%(what)s: version %(before)s → version %(after)s%(whom)s.") % facts
    return _("%(what)s: version %(before)s → version %(after)s, last changed%(whom)s.") % facts


def _author_phrase(cause: Cause) -> str:
    """Return the author, the time and the note as the end of a sentence; "" if they are unknown."""
    if not (cause.by or cause.at):
        return ""
    told = _(" by %(name)s") % {"name": cause.by or "Dossier"}
    if cause.at:
        told += _(" on %(moment)s") % {"moment": _moment(cause.at)}
    return told + (f" (“{cause.note}”)" if cause.note else "")


def _moment(moment: datetime.datetime) -> str:
    utc = moment.astimezone(datetime.UTC)
    return _("%(day)s at %(time)s UTC") % {"day": date_format(utc.date(), "j F Y"), "time": f"{utc:%H:%M}"}


def _day(cause: Cause) -> str:
    """Return the day of a log in words."""
    return date_format(datetime.date.fromisoformat(cause.name), "j F") if cause.name else _("a day")


def _action_sentence(sentence: str) -> Callable[[Cause], str]:
    """Return a function that returns this sentence with its author at the end."""
    return lambda cause: _(sentence) % {"whom": _author_phrase(cause), "name": cause.name}


def _plain_sentence(sentence: str) -> Callable[[Cause], str]:
    return lambda cause: _(sentence) % {"name": cause.name}


def _file(cause: Cause) -> str:
    is_of_organisation = Ref.parse(cause.ref).kind == ORGANISATION_FILE
    return _version_sentence(cause, cause.name if is_of_organisation else file_title(cause.name))


def _log(cause: Cause) -> str:
    if cause.before is None:
        return _("The log of %(day)s was written%(whom)s.") % {"day": _day(cause), "whom": _author_phrase(cause)}
    return _version_sentence(cause, _("The log of %(day)s") % {"day": _day(cause)})


def _retired(cause: Cause) -> str:
    told = _("This memory was archived%(whom)s") % {"whom": _author_phrase(Cause(cause.kind, by=cause.by, at=cause.at))}
    return _("%(told)s: %(why)s.") % {"told": told, "why": cause.note.rstrip(".")}


def _profile(cause: Cause) -> str:
    facts = {"name": cause.name, "before": cause.before, "after": cause.after, "whom": _author_phrase(cause)}
    if cause.at is None:
        return _("The profile %(name)s changed with a newer version of Dossier.") % facts
    return _("The profile %(name)s: version %(before)s → version %(after)s%(whom)s.") % facts


def _budget(cause: Cause) -> str:
    given = _("The budget of the profile: %(before)s → %(after)s tokens.")
    asked = _("The requested budget: %(before)s → %(after)s tokens.")
    return (asked if cause.kind == "budget_requested" else given) % {
        "before": f"{cause.before:,}",
        "after": f"{cause.after:,}",
    }


def _competitors_sentence(cause: Cause) -> str:
    count = cause.after or 0
    return ngettext(
        "1 other item of %(section)s was added, removed or changed, which changes the ranks.",
        "%(count)s other items of %(section)s were added, removed or changed, which changes the ranks.",
        count,
    ) % {"count": f"{count:,}", "section": cause.name}


def _room_sentence(cause: Cause) -> str:
    before, after = cause.before or 0, cause.after or 0
    more = _("%(section)s, which comes first, uses %(count)s more tokens.")
    less = _("%(section)s, which comes first, uses %(count)s fewer tokens.")
    return (more if after > before else less) % {"section": cause.name, "count": f"{abs(after - before):,}"}


_SENTENCES: Mapping[CauseKind, Callable[[Cause], str]] = {
    "file_changed": _file,
    "log_written": _log,
    "log_deleted": lambda cause: _("The log of %(day)s was deleted.") % {"day": _day(cause)},
    "day_passed": lambda cause: _("%(day)s is in the last 7 days of only one of the contexts.") % {"day": _day(cause)},
    "memory_added": _action_sentence("This memory is new: it was added%(whom)s."),
    "memory_changed": lambda cause: _version_sentence(cause, _("This memory")),
    "memory_archived": _retired,
    "memory_restored": _action_sentence("This memory had been archived and was restored%(whom)s."),
    "memory_superseded": _action_sentence("Another memory took the place of this one%(whom)s."),
    "memory_pinned": _action_sentence("This memory was pinned%(whom)s."),
    "memory_unpinned": _action_sentence("This memory was pinned, and is no longer: changed%(whom)s."),
    "memory_deleted": _plain_sentence("This memory was deleted."),
    "item_added": _action_sentence("It is new: it was added%(whom)s."),
    "item_changed": lambda cause: _version_sentence(cause, _("It")),
    "item_deleted": _plain_sentence("It was deleted."),
    "rule_added": _action_sentence("The rule “%(name)s” is new: it was written%(whom)s."),
    "rule_changed": lambda cause: _version_sentence(cause, _("The rule “%(name)s”") % {"name": cause.name}),
    "rule_switched_off": _action_sentence("The rule “%(name)s” was switched off%(whom)s."),
    "rule_deleted": _plain_sentence("The rule “%(name)s” was deleted."),
    "rule_matches": _plain_sentence(
        "The rule “%(name)s” matches only the later context, because its condition depends on the time."
    ),
    "rule_no_longer_matches": _plain_sentence(
        "The rule “%(name)s” applied before, and not later: its condition does not hold then."
    ),
    "conflict_found": _plain_sentence("It is in conflict with another item, which was found later."),
    "conflict_decided": _action_sentence("Its conflict with another item was decided%(whom)s."),
    "conflict_reopened": _plain_sentence("The decision on its conflict with another item was undone."),
    "conflict_gone": _plain_sentence("It is no longer in conflict with another item, or both hold."),
    "profile_changed": _profile,
    "budget_changed": _budget,
    "source_failed_before": _plain_sentence("%(name)s could not be read then, so its items are missing."),
    "source_failed_now": _plain_sentence(
        "%(name)s could not be read now. Try again to see whether its items are still included."
    ),
    "source_failed_after": _plain_sentence(
        "%(name)s could not be read for the later context, so its items are missing there."
    ),
    "added_afterwards": _plain_sentence("It was appended to the recorded context only."),
    "added_to_one_side": _plain_sentence("It was added to one of the contexts after that was put together."),
    "another_agent": _plain_sentence("It is of %(name)s: the other context is of another agent."),
    "another_team": _plain_sentence("It is of %(name)s: the other context is of another team, or of none."),
    "topic_changed": _plain_sentence("The topics differ, so other items are found, in another order."),
    "profile_chosen": lambda cause: (
        _("The requested profile: %(before)s → %(after)s.") % {"after": cause.name, "before": cause.note}
    ),
    "strategy_changed": _plain_sentence("The request changed the profile %(name)s for itself."),
    "budget_requested": _budget,
    "tokenizer_changed": _plain_sentence("The tokenizers differ: %(name)s."),
    "excluded_by_request": _plain_sentence("One of the requests excludes it."),
    "request_context": _plain_sentence("The request brought it along."),
    "request_differs": _plain_sentence("The requests name another session, or other filters."),
    "engine_changed": _plain_sentence(
        "One of the contexts was assembled by an earlier version of Dossier, which selected differently."
    ),
    "time_passed": _plain_sentence("Time has passed: it is less recent."),
    "peer_items_changed": _competitors_sentence,
    "preceding_sections": _room_sentence,
    "unknown": _plain_sentence("What was recorded does not tell why this is different."),
}
