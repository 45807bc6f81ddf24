"""Why something is different in a context that was made again: one thing that changed in between."""

import datetime
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
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
KINDS: tuple[Kind, ...] = get_args(Kind)

CONSEQUENCES = frozenset({"others_in_section", "room_before", "time_passed", "unknown"})
"""What follows from other changes, or from nothing that anybody did."""

ASKED = frozenset({
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

    kind: Kind
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
    def is_deed(self) -> bool:
        """Whether it is something that somebody changed, rather than what follows from that."""
        return self.kind not in CONSEQUENCES | ASKED
