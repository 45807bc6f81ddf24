"""This module puts levels of detail in words: how agents may get a text, and at which level a context has an item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.engine.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from assembly.engine.types import LEVELS, Decision, Level
from assembly.pipeline.levels import derivers, levels_of
from assembly.pipeline.summaries.model_server import ModelServer

LEVEL_NAMES: Mapping[Level, str | Promise] = {
    "macro": gettext_lazy("outline"),
    "micro": gettext_lazy("key sentences"),
    "atomic": gettext_lazy("whole"),
}


def level_sentence(decision: Decision) -> str:
    """Return at which level of detail the item competed or is included, and the tokens of each; "" without levels."""
    if "lod" not in decision.detail:
        return ""
    level: Level = decision.detail["lod"]
    tokens: Mapping[Level, int] = decision.detail["levels"]
    sentence = _("Level of detail: %(name)s (%(code)s).") % {"name": LEVEL_NAMES[level], "code": level}
    others = [one for one in LEVELS if one in tokens and one != level]
    if not others:
        return sentence
    counts = ", ".join(f"{LEVEL_NAMES[one]} ({one}) {intcomma(tokens[one])}" for one in others)
    return f"{sentence} " + _("Tokens of the others: %(counts)s.") % {"counts": counts}


@dataclass(frozen=True, slots=True)
class LevelForm:
    """A form of a text has the name and the code of its level, its tokens and, if it is shorter, its text."""

    name: str
    code: Level
    tokens: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class LevelledText:
    """A levelled text is one that agents may get, with its forms, the shortest first.

    `title` names it among the texts of its item.
    """

    forms: Sequence[LevelForm]
    title: str = ""


def highest_sent_word(row: Any) -> str:
    """Return the level up to which a configured model gets texts, if this item is above it; else ""."""
    server = ModelServer.configured()
    is_kept_back = server is not None and not server.may_read(row.sensitivity)
    return server.highest.label.lower() if server and is_kept_back else ""


def levelled_texts(titled: Sequence[tuple[str, str]]) -> list[LevelledText]:
    """Return the forms of each text, which comes after its title, with tokens of the default tokenizer."""
    texts = {text for _title, text in titled}
    tokenizer, levels = get_tokenizer(DEFAULT_TOKENIZER), levels_of(texts, derivers(), private=texts)
    found = []
    for title, text in titled:
        short = {level: summary.text for level, summary in levels[text].items()}
        forms = [
            LevelForm(str(LEVEL_NAMES[level]), level, tokenizer.count(short[level]), short[level])
            for level in LEVELS
            if level != "atomic" and level in short
        ]
        whole = LevelForm(str(LEVEL_NAMES["atomic"]), "atomic", tokenizer.count(text.rstrip()))
        found.append(LevelledText([*forms, whole], title))
    return found
