"""Whether a text that somebody is writing is a profile."""

from dataclasses import dataclass

from assembly.profiles.catalogue import fault_of
from assembly.profiles.tree import MAX_CHARACTERS, UnreadableProfile, line_numbered


@dataclass(frozen=True, slots=True)
class Check:
    """What is wrong with a text, and the line that it is about; without a fault the text can be used."""

    fault: UnreadableProfile | None
    excerpt: str


def check_of(sent: str) -> Check:
    """The check of a text as a browser sent it."""
    text = sent[: MAX_CHARACTERS + 1].replace("\r\n", "\n")
    fault = fault_of(text)
    return Check(fault, line_numbered(text, fault.line) if fault else "")
