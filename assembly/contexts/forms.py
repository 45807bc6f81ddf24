"""Forms of contexts: the filters of the list, which stand in the address, and the filters of one context's items."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from assembly.contexts.search.criteria import ContextQuery
from assembly.contexts.search.parameters import MAX_WORDS_CHARACTERS, PARAMETERS, WARNINGS, parse_context_query
from assembly.contexts.search.things import is_plain_name
from assembly.contexts.search.visible_owners import VisibleOwner, VisibleOwners
from assembly.engine.codes import DECISION_CODES, Code
from assembly.engine.reasons import warning_label
from assembly.models import Purpose
from assembly.profiles.catalogue import all_profiles
from assembly.records.reader import StoredAssembly
from teams.forms import validate_storable
from teams.models import User

MAX_FILTER_CHARACTERS = 200


class ItemFilterForm(forms.Form):
    """By what became of them, by section, by reason and by words; the choices are what the context has."""

    which = forms.ChoiceField(
        label=_("Show"),
        required=False,
        choices=[("", _("All that was considered")), ("in", _("What is in")), ("out", _("What was left out"))],
    )
    section = forms.ChoiceField(label=_("Section"), required=False)
    code = forms.ChoiceField(label=_("Outcome"), required=False)
    q = forms.CharField(
        label=_("Words in it"),
        required=False,
        max_length=MAX_FILTER_CHARACTERS,
        validators=[validate_storable],
        strip=True,
    )

    def __init__(self, *args: Any, told: StoredAssembly, codes: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sections = [(section.key, section.label) for section in told.sections if section.considered]
        self.fields["section"].choices = [("", _("All sections")), *sections]  # type: ignore[attr-defined]
        self.fields["code"].choices = [("", _("All outcomes")), *codes.items()]  # type: ignore[attr-defined]


_LABELS: Mapping[str, object] = {
    Code.REQUIRED: _("told because it always is"),
    Code.PINNED: _("told because it is pinned"),
    Code.RULE_INCLUDED: _("told by a rule"),
    Code.FITS: _("told whole"),
    Code.TRUNCATED: _("cut to fit"),
    Code.COMPACTED: _("made shorter"),
    Code.SUMMARISED: _("told as a summary"),
    Code.OVER_SECTION_BUDGET: _("left out: no room in its section"),
    Code.OVER_TOTAL_BUDGET: _("left out: no room in the whole"),
    Code.OUTRANKED: _("left out: others ranked higher"),
    Code.BELOW_RELEVANCE: _("left out: too far from the topic"),
    Code.DUPLICATE: _("left out: it was there already"),
    Code.CONFLICT_LOST: _("left out: it lost a conflict"),
    Code.RULE_EXCLUDED: _("left out by a rule"),
    Code.FILTERED: _("left out: the request did not want it"),
    Code.SUPERSEDED: _("left out: something newer replaced it"),
    Code.EXPIRED: _("left out: it had expired"),
    Code.EMPTY: _("empty"),
}


def reason_label(code: str) -> str:
    """Of a reason code."""
    return str(_LABELS[Code(code)])


DAYS = {"today": 1, "week": 7, "month": 30}
MAX_PEOPLE = 500
SEARCH = {"type": "search", "autocomplete": "off"}
REFERENCE_ATTRIBUTES = {
    "autocomplete": "off",
    "spellcheck": "false",
    "placeholder": _("A part of its name, or its address"),
    "hx-get": reverse_lazy("context_list"),
    "hx-trigger": "input changed delay:300ms",
    "hx-include": "closest form",
}
"""What is typed is looked up at once, where the list stands."""
REFERENCE_FIELDS = ("contains", "omits")
CHOOSE_HELP = _("Choose below which one you mean, or paste the address of its page.")
ADVANCED_FIELDS = ("requested_by", "purpose", "profile", "warning", "reason", "since", "until", "contains", "omits")
"""Those that are folded away until one of them is used."""


PURPOSE_LABELS = {
    Purpose.AGENT.value: _("For an agent"),
    Purpose.PREVIEW.value: _("Previews"),
    Purpose.TEST.value: _("Tests"),
}


class FastSelect(forms.Select):
    """As Django's, written at once: there a template of its own writes each option, and here are hundreds."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        attributes = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        chosen = str(value or "")
        marked = ((key, SafeString(" selected") if key == chosen else "", label) for key, label in self.choices)
        options = format_html_join("", '<option value="{}"{}>{}</option>', marked)
        return format_html("<select{}>{}</select>", flatatt(attributes), options)


class ContextFilterForm(forms.Form):
    """Which contexts are listed; the choices are what the person may see.

    The fields only show: what their texts mean is read by `assembly.finding`, as for the API.
    """

    q = forms.CharField(
        label=_("Search"), required=False, validators=[validate_storable], widget=forms.TextInput(SEARCH)
    )
    agent = forms.CharField(label=_("Agent"), required=False, widget=FastSelect)
    team = forms.CharField(label=_("Team"), required=False, widget=FastSelect)
    when = forms.ChoiceField(
        label=_("When"),
        required=False,
        choices=[
            ("", _("Any time")),
            ("today", _("Today")),
            ("week", _("The last 7 days")),
            ("month", _("The last 30 days")),
        ],
    )
    only = forms.CharField(
        label=_("Show"),
        required=False,
        widget=FastSelect(
            choices=[
                ("", _("All")),
                ("cut", _("Cut or with a warning")),
                ("left_out", _("With something left out")),
            ]
        ),
    )
    requested_by = forms.CharField(label=_("Asked for by"), required=False, widget=FastSelect)
    purpose = forms.CharField(
        label=_("Purpose"),
        required=False,
        widget=FastSelect(choices=[("", _("Any purpose")), *PURPOSE_LABELS.items()]),
    )
    profile = forms.CharField(label=_("Profile"), required=False, widget=FastSelect)
    warning = forms.CharField(
        label=_("Warning"),
        required=False,
        widget=FastSelect(choices=[("", _("Any or none")), *((code, warning_label(code)) for code in WARNINGS)]),
    )
    reason = forms.CharField(
        label=_("Something was"),
        required=False,
        widget=FastSelect(choices=[("", _("Anything")), *((code, reason_label(code)) for code in DECISION_CODES)]),
    )
    since = forms.CharField(label=_("From"), required=False, widget=forms.DateInput({"type": "date"}))
    until = forms.CharField(label=_("To"), required=False, widget=forms.DateInput({"type": "date"}))
    contains = forms.CharField(
        label=_("It was told"),
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(REFERENCE_ATTRIBUTES),
    )
    omits = forms.CharField(
        label=_("It was not told, though there"),
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(REFERENCE_ATTRIBUTES),
    )

    def __init__(self, *args: Any, visible: VisibleOwners, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visible, self.wanted = visible, ContextQuery()
        self.fields["q"].widget.attrs["maxlength"] = MAX_WORDS_CHARACTERS
        self._offer("agent", _("All agents"), _owner_choices(visible.agents, visible.deleted_agents))
        self._offer("team", _("All teams"), _owner_choices(visible.teams, visible.deleted_teams))
        self._offer("requested_by", _("Anybody"), [("me", _("Me")), *self._people()])
        self._offer("profile", _("Any profile"), [(entry.name, entry.name) for entry in all_profiles()])

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        self.wanted, faults = parse_context_query(self.parameters, self.visible)
        named = self.named
        for name, fault in faults.items():
            self.add_error(name, CHOOSE_HELP if name in named else fault)
        return values

    @property
    def parameters(self) -> dict[str, str]:
        """What is asked for, as the API takes it; dates go before “the last 7 days”."""
        values = {name: str(self.cleaned_data.get(name) or "") for name in PARAMETERS}
        when = self.cleaned_data.get("when")
        if when and not (values["since"] or values["until"]):
            values["since"] = (timezone.now().date() - datetime.timedelta(days=DAYS[when] - 1)).isoformat()
        return {name: value for name, value in values.items() if value}

    @property
    def named(self) -> dict[str, str]:
        """The names that stand where a thing is to be chosen, by their fields."""
        typed = {name: str(self.cleaned_data.get(name) or "").strip() for name in REFERENCE_FIELDS}
        return {name: text for name, text in typed.items() if text and is_plain_name(text)}

    @property
    def more(self) -> list[forms.BoundField]:
        """The fields that are folded away."""
        return [self[name] for name in ADVANCED_FIELDS]

    @property
    def uses_advanced_filters(self) -> bool:
        """Whether one of them narrows the list, or was filled in wrongly."""
        return any(self.data.get(name) or name in self.errors for name in ADVANCED_FIELDS)

    def _offer(self, name: str, nothing: Any, choices: Iterable[tuple[str, Any]]) -> None:
        """The choices, and what the address asks for beside them."""
        offered: list[tuple[str, Any]] = [("", nothing), *choices]
        asked = self.data.get(name, "")
        if asked and "\0" not in asked and asked not in dict(offered):
            offered.append((asked, asked))
        self.fields[name].widget.choices = offered

    def _people(self) -> Sequence[tuple[str, str]]:
        """Those whom the person meets in a team; admins meet all."""
        people = User.objects.exclude(id=self.visible.principal.id)
        if not self.visible.principal.is_admin:
            people = people.filter(memberships__team__in=[team.id for team in self.visible.teams]).distinct()
        rows = people.order_by("name", "username").values_list("id", "name", "username")[:MAX_PEOPLE]
        return [(f"person:{id_}", name or username) for id_, name, username in rows]


def _owner_choices(there: Sequence[VisibleOwner], deleted: Sequence[VisibleOwner]) -> list[tuple[str, Any]]:
    slugs = {one.slug for one in there}
    gone = {one.slug: one for one in deleted if one.slug not in slugs}
    return [
        *((one.slug, one.name) for one in there),
        *((one.slug, _("%(name)s (deleted)") % {"name": one.name}) for one in gone.values()),
    ]
