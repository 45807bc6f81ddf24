"""Which thing a name means that was typed above the list of contexts: each choice leads back with its filter set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.http import urlencode

from assembly.context_forms import ContextFilterForm
from assembly.finding import Group, things_called


@dataclass(frozen=True, slots=True)
class Choice:
    """A thing, and the list of the contexts that it narrows."""

    title: str
    owner: str
    address: str


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """Things of one kind."""

    label: str
    choices: Sequence[Choice]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Question:
    """Which thing of that name the field means."""

    label: str
    words: str
    groups: Sequence[ChoiceGroup]


def questions(form: ContextFilterForm, path: str, asked: Mapping[str, str]) -> list[Question]:
    """One for each field that holds a name. `asked` is what the address asks for. Raises TooBroad."""
    kept = {name: value for name, value in asked.items() if name != "cursor"}
    found = []
    for name, words in form.named.items():
        groups = things_called(words, sight=form.sight, wanted=form.wanted)
        choices = [_group(group, f"{path}?", {**kept, name: ""}, name) for group in groups]
        found.append(Question(str(form.fields[name].label), words, choices))
    return found


def _group(group: Group, path: str, kept: Mapping[str, str], name: str) -> ChoiceGroup:
    choices = [Choice(one.title, one.owner, path + urlencode({**kept, name: one.ref})) for one in group.offered]
    return ChoiceGroup(group.label, choices, group.has_more)
