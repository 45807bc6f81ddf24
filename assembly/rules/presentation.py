"""Sentences for the pages of rules: when a rule applies, what it does, and the guidance beside the editor."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.engine.rules import Actions, Condition, Selector, TimeWindow
from assembly.profiles.presentation import source_label
from assembly.rules.form_fields import INTENTS, WEEKDAYS
from teams.guidance import Guidance

DAY = "j F Y"


def condition_sentences(when: Condition) -> list[str]:
    """Return the conditions of a rule as sentences; an empty list means that it always applies."""
    return list(_condition_parts(when))


def _condition_parts(when: Condition) -> Iterator[str]:
    if when.task_contains:
        yield _("the topic contains %(words)s") % {"words": _any_of([f"“{word}”" for word in when.task_contains])}
    if when.intent:
        intents = {str(intent): str(label) for intent, label in INTENTS.items()}
        yield _("the intent is %(intents)s") % {
            "intents": _any_of([_label_in_sentence(intents, word) for word in when.intent])
        }
    for words, names in (
        (_("the agent is %(names)s"), when.agent),
        (_("the team is %(names)s"), when.team),
        (_("the profile is %(names)s"), when.profile),
    ):
        if names:
            yield words % {"names": _any_of(names)}
    if when.between:
        yield from _window_parts(when.between)
    yield from (within for part in when.all for within in _condition_parts(part))
    if when.any:
        yield _("any of these is true: %(parts)s") % {
            "parts": _any_of([_whole_condition(part) for part in when.any], _bracketed)
        }
    if when.never:
        yield _("this is not true: %(part)s") % {"part": _whole_condition(when.never)}


def _window_parts(window: TimeWindow) -> Iterator[str]:
    first, last = (date_format(day, DAY) if day else "" for day in (window.first, window.last))
    if first and last:
        yield _("the day is from %(first)s to %(last)s") % {"first": first, "last": last}
    elif first:
        yield _("the day is %(first)s or later") % {"first": first}
    elif last:
        yield _("the day is %(last)s or earlier") % {"last": last}
    if window.weekdays:
        days = {day: str(label) for day, label in WEEKDAYS}
        yield _("it is a %(days)s") % {"days": _any_of([days[day] for day in window.weekdays])}
    if window.opens is not None and window.closes is not None:
        hours = {"opens": f"{window.opens:%H:%M}", "closes": f"{window.closes:%H:%M}"}
        yield _("the agent's local time is %(opens)s to %(closes)s") % hours


def _whole_condition(when: Condition) -> str:
    return _(" and ").join(_condition_parts(when)) or _("any")


def _bracketed(text: str) -> str:
    return f"({text})"


def _label_in_sentence(labels: dict[str, str], word: str) -> str:
    """Return a label with a lower-case beginning, for use within a sentence."""
    label = labels.get(word, word)
    return label[:1].lower() + label[1:]


def _any_of(words: Sequence[str], shown: Callable[[str], str] = str) -> str:
    *others, last = map(shown, words)
    return _("%(others)s or %(last)s") % {"others": ", ".join(others), "last": last} if others else last


RULE_GUIDANCE = Guidance(
    name=gettext_lazy("Rule"),
    purpose=gettext_lazy("include, boost or exclude items"),
    question=gettext_lazy("Format of rules"),
    advice=(
        gettext_lazy("Under “when”: all conditions must match. Without conditions, the rule always applies."),
        gettext_lazy("task_contains: any of the words, as whole words, in the topic of the request."),
        gettext_lazy("agent, team, profile, intent: one of the listed values. between: from, until, weekdays, hours."),
        gettext_lazy("all, any, not: nested conditions."),
        gettext_lazy("always_include: if the item does not fit, the context has a warning."),
        gettext_lazy("boost multiplies the score: 2 doubles it, 0.5 halves it."),
        gettext_lazy("Items are named by path (** for any folders; GOALS for a file), kg_entity, memory_kind or tag."),
        gettext_lazy("boost and exclude can also name a source."),
    ),
    example=(
        "description: Decisions on security, whenever it is about signing in.\n"
        "when:\n"
        "  task_contains: [auth, login, session]\n"
        "then:\n"
        "  always_include:\n"
        "    - path: docs/security-decisions.md\n"
        "  boost:\n"
        "    - kg_entity: AuthService\n"
        "      weight: 2.0\n"
        "  exclude:\n"
        "    - path: generated/**\n"
    ),
)


GUIDANCE_NOTES = (
    gettext_lazy("“Always include”: if the item does not fit, the context has a warning."),
    gettext_lazy("“Boost” multiplies the score: 2 doubles it, 0.5 halves it, 0 removes it."),
    gettext_lazy("Paths may contain * for a part of a name and ** for any folders: docs/**, notes/*.md."),
    gettext_lazy("GOALS, CONTEXT, RULES, KNOWLEDGE are paths of files of the team or agent."),
    gettext_lazy("Kinds of memories are words like decision, learning, preference, fact."),
    gettext_lazy("Test it before you save: see what would have changed in recent contexts."),
)
"""The help beside the form."""


@dataclass(frozen=True, slots=True)
class ActionLine:
    """An action of a rule, in words."""

    what: str
    to: str


def action_lines(actions: Actions) -> list[ActionLine]:
    """Return the actions as sentences, in the order of the text."""
    return [*_lines_for(_("Always includes"), actions.always_include), *_boosts(actions), *_excludes(actions)]


def _boosts(actions: Actions) -> Iterator[ActionLine]:
    for boost in actions.boost:
        yield ActionLine(_("Boosts by %(weight)s") % {"weight": f"{boost.weight:g}"}, _selector_text(boost.selector))


def _excludes(actions: Actions) -> list[ActionLine]:
    return _lines_for(_("Excludes"), actions.exclude)


def _lines_for(what: str, selectors: Sequence[Selector]) -> list[ActionLine]:
    return [ActionLine(what, _selector_text(selector)) for selector in selectors]


def _selector_text(selector: Selector) -> str:
    if selector.by == "source":
        return source_label(selector.value)
    words = {
        "path": _("files at %(value)s"),
        "kg_entity": _("items about %(value)s"),
        "memory_kind": _("memories of kind %(value)s"),
        "tag": _("items with tag %(value)s"),
    }
    return words[selector.by] % {"value": selector.value}
