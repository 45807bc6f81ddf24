"""When a rule applies, in words."""

from collections.abc import Callable, Iterator, Sequence

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from assembly.engine.rules import Condition, Window
from assembly.rule_fields import INTENTS, WEEKDAYS

DAY = "j F Y"


def story(when: Condition) -> list[str]:
    """All that must be so for the rule to apply, a part each; none: it always applies."""
    return list(_parts(when))


def _parts(when: Condition) -> Iterator[str]:
    if when.task_contains:
        yield _("the topic has %(words)s") % {"words": _either([f"“{word}”" for word in when.task_contains])}
    if when.intent:
        intents = {str(intent): str(label) for intent, label in INTENTS.items()}
        yield _("of the topic: %(intents)s") % {"intents": _either([_begun(intents, word) for word in when.intent])}
    for words, names in (
        (_("the agent is %(names)s"), when.agent),
        (_("the team is %(names)s"), when.team),
        (_("the profile is %(names)s"), when.profile),
    ):
        if names:
            yield words % {"names": _either(names)}
    if when.between:
        yield from _times(when.between)
    yield from (within for part in when.all for within in _parts(part))
    if when.any:
        yield _("one of these holds: %(parts)s") % {"parts": _either([_whole(part) for part in when.any], _bracketed)}
    if when.never:
        yield _("this does not hold: %(part)s") % {"part": _whole(when.never)}


def _times(window: Window) -> Iterator[str]:
    first, last = (date_format(day, DAY) if day else "" for day in (window.first, window.last))
    if first and last:
        yield _("the day is from %(first)s to %(last)s") % {"first": first, "last": last}
    elif first:
        yield _("the day is %(first)s or later") % {"first": first}
    elif last:
        yield _("the day is %(last)s or earlier") % {"last": last}
    if window.weekdays:
        days = {day: str(label) for day, label in WEEKDAYS}
        yield _("it is a %(days)s") % {"days": _either([days[day] for day in window.weekdays])}
    if window.opens is not None and window.closes is not None:
        hours = {"opens": f"{window.opens:%H:%M}", "closes": f"{window.closes:%H:%M}"}
        yield _("the agent's clock shows %(opens)s to %(closes)s") % hours


def _whole(when: Condition) -> str:
    return _(" and ").join(_parts(when)) or _("anything")


def _bracketed(text: str) -> str:
    return f"({text})"


def _begun(labels: dict[str, str], word: str) -> str:
    """A label as it stands within a sentence."""
    label = labels.get(word, word)
    return label[:1].lower() + label[1:]


def _either(words: Sequence[str], shown: Callable[[str], str] = str) -> str:
    *others, last = map(shown, words)
    return _("%(others)s or %(last)s") % {"others": ", ".join(others), "last": last} if others else last
