"""The `when` of a rule's text."""

import datetime as dt
import re
from typing import get_args

import yaml

from assembly.engine.rules import WEEKDAYS, Condition, Window
from assembly.engine.signals import Intent
from assembly.profiles.fields import Fields

KNOWN = ("task_contains", "agent", "team", "profile", "intent", "between", "all", "any", "not")
BETWEEN = ("from", "until", "weekdays", "hours")
HOURS = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MAX_WORDS = 100
MAX_WORD_CHARACTERS = 200
MAX_PARTS = 20


def condition_read(node: yaml.Node, what: str) -> Condition:
    """The condition. Raises UnreadableProfile, which names the line."""
    fields = Fields(node, KNOWN, what)
    return Condition(
        task_contains=_words(fields, "task_contains"),
        agent=_words(fields, "agent"),
        team=_words(fields, "team"),
        profile=_words(fields, "profile"),
        intent=_chosen(fields, "intent", get_args(Intent)),
        between=_window(fields),
        all=_parts(fields, "all"),
        any=_parts(fields, "any"),
        never=condition_read(fields.nodes["not"], "“not”") if "not" in fields.nodes else None,
    )


def scalar(node: yaml.Node) -> str:
    """The text of one value as it was written; "" for a list, a mapping or nothing."""
    is_value = isinstance(node, yaml.ScalarNode) and not node.tag.endswith(":null")
    return str(node.value).strip() if is_value else ""


def _parts(fields: Fields, key: str) -> tuple[Condition, ...]:
    if key not in fields.nodes:
        return ()
    return tuple(condition_read(node, f"Each of “{key}”") for node in fields.nodes_of(key, MAX_PARTS))


def _words(fields: Fields, key: str) -> tuple[str, ...]:
    """A list of words, or a single one."""
    if key not in fields.nodes:
        return ()
    one = scalar(fields.nodes[key])
    words = (one,) if one else tuple(scalar(node) for node in fields.nodes_of(key, MAX_WORDS))
    if not all(0 < len(word) <= MAX_WORD_CHARACTERS and word.isprintable() for word in words):
        raise fields.fault(key, f"must be words of 1 to {MAX_WORD_CHARACTERS} characters each.")
    return words


def _chosen(fields: Fields, key: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(word.lower() for word in _words(fields, key))
    if not set(words) <= set(choices):
        raise fields.fault(key, f"must be of: {', '.join(choices)}.")
    return words


def _window(fields: Fields) -> Window | None:
    if "between" not in fields.nodes:
        return None
    window = Fields(fields.nodes["between"], BETWEEN, "“between”")
    if not window.nodes:
        raise fields.fault("between", f"needs at least one of: {', '.join(BETWEEN)}.")
    first, last = _date(window, "from"), _date(window, "until")
    if first and last and first > last:
        raise window.fault("until", "must not be before “from”.")
    opens, closes = _hours(window)
    return Window(first, last, _chosen(window, "weekdays", WEEKDAYS), opens, closes)


def _date(fields: Fields, key: str) -> dt.date | None:
    if key not in fields.nodes:
        return None
    written = scalar(fields.nodes[key])
    try:
        if DATE.fullmatch(written):
            return dt.date.fromisoformat(written)
    except ValueError:
        pass
    raise fields.fault(key, "must be a day of the calendar, as in 2026-12-24.")


def _hours(fields: Fields) -> tuple[dt.time | None, dt.time | None]:
    if "hours" not in fields.nodes:
        return None, None
    found = HOURS.fullmatch(scalar(fields.nodes["hours"]))
    opens, closes = (
        (dt.time(int(found[1]), int(found[2])), dt.time(int(found[3]), int(found[4]))) if found else (None, None)
    )
    if opens == closes:
        raise fields.fault("hours", "must be two different times of day, as in 09:00-17:30.")
    return opens, closes
