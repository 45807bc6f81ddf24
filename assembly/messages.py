"""A finished context as a list of messages: the system's first, then the recent turns as they were said."""

import re
from typing import TypedDict

from assembly.cache import Answer

_LEAD = re.compile(r"\*\*([a-z]+)\*\*: ")  # as the engine renders a turn; roles are lower-case words


class Message(TypedDict):
    """One message, ready for the caller's model."""

    role: str
    content: str


def messages_of(answer: Answer) -> list[Message]:
    """The messages that the content stands for. They count no more tokens than the content does."""
    turns = {section["key"] for section in answer.assembly.profile["sections"] if section["shape"] == "turns"}
    said = sorted(
        (decision.start, decision.end)
        for decision in answer.decisions
        if decision.included and decision.section in turns and decision.start is not None
    )
    starts = [section["start"] for section in answer.assembly.sections if section["key"] in turns]
    system = answer.content[: starts[0] if said else None].rstrip()
    first = [Message(role="system", content=system)] if system else []
    return first + [_message(answer.content[start:end]) for start, end in said]


def _message(turn: str) -> Message:
    lead = _LEAD.match(turn)
    if lead is None:
        raise ValueError("A turn in a context begins with its role.")
    return Message(role=lead[1], content=turn[lead.end() :])
