"""What a list of contexts shows, as a sentence: “Of Luna, in the last 7 days, with something left out”."""

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _

from assembly.context_forms import ContextFilterForm
from assembly.engine.reasons import warning_label
from assembly.finding import Thing
from assembly.reason_labels import reason_label
from assembly.views.thing_titles import thing_title

Words = Callable[[ContextFilterForm, str], str]
"""Says what a parameter that is given wants."""


def sentence(form: ContextFilterForm) -> str:
    """The whole of it; empty where everything is shown."""
    values = form.cleaned_data
    when = [_when(values)] if any(values.get(name) for name in ("when", "since", "until")) else []
    said = {name: words(form, str(values[name])) for name, words in WORDS.items() if values.get(name)}
    parts = [said[name] for name in BEFORE if name in said] + when + [said[name] for name in AFTER if name in said]
    whole = ", ".join(parts)
    return whole[:1].upper() + whole[1:]


def _when(values: Mapping[str, str]) -> str:
    since, until = values.get("since"), values.get("until")
    if since and until:
        return _("from %(since)s to %(until)s") % {"since": since, "until": until}
    if since or until:
        return _("from %s on") % since if since else _("up to %s") % until
    return {"today": _("today"), "week": _("in the last 7 days"), "month": _("in the last 30 days")}[values["when"]]


def _chosen(form: ContextFilterForm, name: str, value: str) -> str:
    """The label of a choice."""
    return str(dict(form.fields[name].widget.choices).get(value, value))


def _agent(form: ContextFilterForm, value: str) -> str:
    return _("of %s") % _chosen(form, "agent", value)


def _team(form: ContextFilterForm, value: str) -> str:
    return _("in %s") % _chosen(form, "team", value)


def _requested_by(form: ContextFilterForm, value: str) -> str:
    who = _("you") if value == "me" else _chosen(form, "requested_by", value)
    return _("asked for by %s") % who


def _profile(_form: ContextFilterForm, value: str) -> str:
    return _("by the profile %s") % value


def _words(_form: ContextFilterForm, value: str) -> str:
    return _("with the words “%s”") % value


def _only(_form: ContextFilterForm, value: str) -> str:
    return _("cut or with a warning") if value == "cut" else _("with something left out")


def _warning(_form: ContextFilterForm, value: str) -> str:
    return _("with the warning “%s”") % warning_label(value)


def _reason(_form: ContextFilterForm, value: str) -> str:
    return _("where something was %s") % reason_label(value)


def _contains(form: ContextFilterForm, _value: str) -> str:
    return _("that contain %s") % _title(form, form.wanted.contains)


def _omits(form: ContextFilterForm, _value: str) -> str:
    return _("that leave out %s") % _title(form, form.wanted.omits)


def _title(form: ContextFilterForm, thing: Thing | None) -> str:
    return thing_title(thing, form.sight.principal) if thing else ""


BEFORE = ("agent", "team", "requested_by")
AFTER = ("profile", "only", "warning", "reason", "contains", "omits", "q")
WORDS: Mapping[str, Words] = {
    "agent": _agent,
    "team": _team,
    "requested_by": _requested_by,
    "profile": _profile,
    "only": _only,
    "warning": _warning,
    "reason": _reason,
    "contains": _contains,
    "omits": _omits,
    "q": _words,
}
