"""What was asked for when a context was recorded, so that the same can be asked as of another moment."""

import datetime

from assembly.asked import Asked, Budgets
from assembly.recorded import Recorded
from assembly.sources import Filters, Turn
from assembly.sources.additional_context import REF


def asked_then(told: Recorded) -> Asked:
    """The wishes of its request, for any moment: without `now`."""
    assembly = told.assembly
    wishes = assembly.request
    return Asked(
        topic=assembly.topic,
        profile=assembly.profile_name,
        max_tokens=assembly.budget,
        tokenizer=assembly.tokenizer,
        session=wishes.get("session") or "",
        history=_turns(told),
        filters=_filters(wishes.get("filters") or {}),
        budgets=Budgets(**(wishes.get("budgets") or {})),
        strategy=wishes.get("strategy") or {},
        additional_context=next((one.text for one in told.inputs.candidates if one.ref == REF), ""),
    )


def _turns(told: Recorded) -> tuple[Turn, ...]:
    """Each once, in their order: several sections may have been offered the same ones."""
    turns = {one.ref: one for one in told.inputs.candidates if one.ref.startswith("turn:")}
    return tuple(Turn(one.kind, one.text) for one in sorted(turns.values(), key=lambda one: one.position or 0))


def _filters(recorded: dict[str, object]) -> Filters:
    since, exclude = recorded.get("since"), recorded.get("exclude")
    return Filters(
        since=datetime.datetime.fromisoformat(since) if isinstance(since, str) else None,
        event_types=_words(recorded.get("event_types")),
        entity_types=_words(recorded.get("entity_types")),
        exclude=tuple(exclude) if isinstance(exclude, list) else (),
    )


def _words(recorded: object) -> frozenset[str] | None:
    return frozenset(recorded) if isinstance(recorded, list) else None
