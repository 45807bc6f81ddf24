"""A cause is one thing that changed between two contexts, with its plain sentence. Causes are worded here alone."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

CauseKind = Literal[
    "file_changed",
    "log_written",
    "log_gone",
    "day_passed",
    "memory_added",
    "memory_changed",
    "memory_retired",
    "memory_brought_back",
    "memory_superseded",
    "memory_pinned",
    "memory_unpinned",
    "memory_deleted",
    "thing_added",
    "thing_changed",
    "thing_deleted",
    "rule_added",
    "rule_changed",
    "rule_switched_off",
    "rule_deleted",
    "rule_applies",
    "rule_applies_no_more",
    "profile_changed",
    "budget_changed",
    "source_failed_then",
    "source_failed_now",
    "source_failed_later",
    "added_afterwards",
    "added_to_one",
    "another_agent",
    "another_team",
    "topic_changed",
    "profile_chosen",
    "strategy_changed",
    "budget_asked",
    "tokenizer_changed",
    "left_out_by_request",
    "brought_along",
    "asked_otherwise",
    "engine_changed",
    "time_passed",
    "others_in_section",
    "room_before",
    "unknown",
]
CAUSE_KINDS: tuple[CauseKind, ...] = get_args(CauseKind)

INDIRECT_KINDS = frozenset({"others_in_section", "room_before", "time_passed", "unknown"})
"""What follows from other changes, or from nothing that anybody did."""

REQUEST_KINDS = frozenset({
    "another_agent", "another_team", "topic_changed", "profile_chosen", "strategy_changed", "budget_asked",
    "tokenizer_changed", "left_out_by_request", "brought_along", "asked_otherwise",
})  # fmt: skip
"""That the two requests were not the same: of any two contexts alone, not of one that is asked for again."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason for a difference; `words.cause_sentence` words it.

    `name` is what the thing is called: the key of a file, a day, the name of a rule or a profile, what people call a
    source, the heading of a section. `before` and `after` are versions or tokens; for `others_in_section`, `after` is
    how many items. `by` and `at` say who made the newest version, and when; both are empty where nobody
    knows any more.
    """

    kind: CauseKind
    name: str = ""
    ref: str = ""
    """The thing, whichever version of it."""
    before: int | None = None
    after: int | None = None
    by: str = ""
    at: datetime.datetime | None = None
    note: str = ""
    """What its author said of it; of a retired memory, why; of a profile that was chosen, which one was before."""

    @property
    def is_edit(self) -> bool:
        """Whether it is something that somebody changed, rather than what follows from that."""
        return self.kind not in INDIRECT_KINDS | REQUEST_KINDS


def cause_sentence(cause: Cause) -> str:
    """Why something is different, in one sentence that names the thing, its versions, and who changed it when."""
    return _SENTENCES[cause.kind](cause)


def _version_sentence(cause: Cause, what: str) -> str:
    """That a thing has a newer version: from which to which, by whom, when, and what its author said of it."""
    facts = {"what": what, "before": cause.before, "after": cause.after, "whom": _author_phrase(cause)}
    if cause.before is None or cause.after is None or cause.after <= cause.before:
        return _("%(what)s was changed%(whom)s.") % facts
    if cause.after == cause.before + 1:
        return _("%(what)s was changed: version %(before)s became version %(after)s%(whom)s.") % facts
    return _("%(what)s was changed: version %(before)s became version %(after)s, the last%(whom)s.") % facts


def _author_phrase(cause: Cause) -> str:
    """By whom, when, and the note, as the end of a sentence; nothing where nobody knows any more."""
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
    """The day of a log as people write it."""
    return date_format(datetime.date.fromisoformat(cause.name), "j F") if cause.name else _("a day")


def _action_sentence(sentence: str) -> Callable[[Cause], str]:
    """One that ends with who did it."""
    return lambda cause: _(sentence) % {"whom": _author_phrase(cause), "name": cause.name}


def _plain_sentence(sentence: str) -> Callable[[Cause], str]:
    return lambda cause: _(sentence) % {"name": cause.name}


def _file(cause: Cause) -> str:
    return _version_sentence(cause, cause.name.capitalize())


def _log(cause: Cause) -> str:
    if cause.before is None:
        return _("The log of %(day)s was written%(whom)s.") % {"day": _day(cause), "whom": _author_phrase(cause)}
    return _version_sentence(cause, _("The log of %(day)s") % {"day": _day(cause)})


def _retired(cause: Cause) -> str:
    told = _("This memory was retired%(whom)s") % {"whom": _author_phrase(Cause(cause.kind, by=cause.by, at=cause.at))}
    return _("%(told)s: %(why)s.") % {"told": told, "why": cause.note.rstrip(".")}


def _profile(cause: Cause) -> str:
    facts = {"name": cause.name, "before": cause.before, "after": cause.after, "whom": _author_phrase(cause)}
    if cause.at is None:
        return _("The profile %(name)s is another one now: it came with a newer Dossier.") % facts
    return _("The profile %(name)s was changed: version %(before)s became version %(after)s%(whom)s.") % facts


def _budget(cause: Cause) -> str:
    given = _("The profile gives another budget: %(after)s tokens instead of %(before)s.")
    asked = _("Another budget was asked for: %(after)s tokens instead of %(before)s.")
    return (asked if cause.kind == "budget_asked" else given) % {
        "before": f"{cause.before:,}",
        "after": f"{cause.after:,}",
    }


def _competitors_sentence(cause: Cause) -> str:
    count = cause.after or 0
    return ngettext(
        "Another item of %(section)s is new, gone or changed, which moves the places there.",
        "%(count)s other items of %(section)s are new, gone or changed, which moves the places there.",
        count,
    ) % {"count": f"{count:,}", "section": cause.name}


def _room_sentence(cause: Cause) -> str:
    before, after = cause.before or 0, cause.after or 0
    more = _("%(section)s, which comes first, takes %(count)s tokens more and leaves less room.")
    less = _("%(section)s, which comes first, takes %(count)s tokens less and leaves more room.")
    return (more if after > before else less) % {"section": cause.name, "count": f"{abs(after - before):,}"}


_SENTENCES: Mapping[CauseKind, Callable[[Cause], str]] = {
    "file_changed": _file,
    "log_written": _log,
    "log_gone": lambda cause: _("The log of %(day)s was deleted.") % {"day": _day(cause)},
    "day_passed": lambda cause: (
        _("%(day)s is not among the last seven days on both sides: time went on.") % {"day": _day(cause)}
    ),
    "memory_added": _action_sentence("This memory is new: it was added%(whom)s."),
    "memory_changed": lambda cause: _version_sentence(cause, _("This memory")),
    "memory_retired": _retired,
    "memory_brought_back": _action_sentence("This memory had been retired, and was brought back%(whom)s."),
    "memory_superseded": _action_sentence("Another memory took the place of this one%(whom)s."),
    "memory_pinned": _action_sentence("This memory was pinned%(whom)s."),
    "memory_unpinned": _action_sentence("This memory was pinned, and is no longer: changed%(whom)s."),
    "memory_deleted": _plain_sentence("This memory was deleted."),
    "thing_added": _action_sentence("It is new: it was added%(whom)s."),
    "thing_changed": lambda cause: _version_sentence(cause, _("It")),
    "thing_deleted": _plain_sentence("It was deleted."),
    "rule_added": _action_sentence("The rule “%(name)s” is new: it was written%(whom)s."),
    "rule_changed": lambda cause: _version_sentence(cause, _("The rule “%(name)s”") % {"name": cause.name}),
    "rule_switched_off": _action_sentence("The rule “%(name)s” was switched off%(whom)s."),
    "rule_deleted": _plain_sentence("The rule “%(name)s” was deleted."),
    "rule_applies": _plain_sentence(
        "The rule “%(name)s” applies later, and did not before: its condition holds at other times."
    ),
    "rule_applies_no_more": _plain_sentence(
        "The rule “%(name)s” applied before, and not later: its condition does not hold then."
    ),
    "profile_changed": _profile,
    "budget_changed": _budget,
    "source_failed_then": _plain_sentence("%(name)s could not be read then, so nothing of it was told."),
    "source_failed_now": _plain_sentence(
        "%(name)s could not be read just now. Try again to see whether it is still told."
    ),
    "source_failed_later": _plain_sentence(
        "%(name)s could not be read for the later context, so nothing of it was told there."
    ),
    "added_afterwards": _plain_sentence("It was added to the context after it was put together; today nobody adds it."),
    "added_to_one": _plain_sentence("It was added to one of the contexts after that was put together."),
    "another_agent": _plain_sentence("It is of %(name)s: the other context is of another agent."),
    "another_team": _plain_sentence("It is of %(name)s: the other context is of another team, or of none."),
    "topic_changed": _plain_sentence("The topic is another one, so other things are found, and rank otherwise."),
    "profile_chosen": lambda cause: (
        _("Another profile was asked for: %(after)s instead of %(before)s.")
        % {"after": cause.name, "before": cause.note}
    ),
    "strategy_changed": _plain_sentence("The request changed the profile %(name)s for itself."),
    "budget_asked": _budget,
    "tokenizer_changed": _plain_sentence("Tokens are counted otherwise: by %(name)s."),
    "left_out_by_request": _plain_sentence("One of the requests wanted it left out."),
    "brought_along": _plain_sentence("The request brought it along."),
    "asked_otherwise": _plain_sentence("The requests name another session, or other filters."),
    "engine_changed": _plain_sentence("One of them was put together by an older Dossier, which chose otherwise."),
    "time_passed": _plain_sentence("Time went on: it is older now, and counts less."),
    "others_in_section": _competitors_sentence,
    "room_before": _room_sentence,
    "unknown": _plain_sentence("What was recorded does not tell why this is different."),
}
