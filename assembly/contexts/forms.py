"""These forms hold the filters of the list of contexts, from the URL, the filters of one context's items, and feedback
on a context.
"""

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

from assembly.contexts.search.criteria import ANY_FILE, ContextQuery
from assembly.contexts.search.parameters import (
    MAX_WORDS_CHARACTERS,
    PARAMETERS,
    WARNINGS,
    parse_context_query,
)
from assembly.contexts.search.things import is_plain_name
from assembly.contexts.search.visible_owners import VisibleOwner, VisibleOwners
from assembly.engine.codes import DECISION_CODES, Code
from assembly.engine.reasons import warning_label
from assembly.models import Purpose
from assembly.models.feedback import MAX_REF_CHARACTERS
from assembly.models.proposal import MAX_NOTE_CHARACTERS
from assembly.profiles.catalogue import all_profiles
from assembly.records.feedback import MAX_REFS, FeedbackFacts
from assembly.records.reader import StoredAssembly
from assembly.records.section_names import section_name
from teams.forms import validate_storable
from teams.models import User

MAX_FILTER_CHARACTERS = 200
ITEM_SORTS = ("title", "section", "outcome", "tokens", "score", "rank")
"""The columns that sort a context's items; a minus before one reverses the order."""


class ItemFilterForm(forms.Form):
    """A form that filters a context's items by inclusion, section, reason code and words."""

    which = forms.ChoiceField(
        label=_("Items"),
        required=False,
        choices=[("", _("All candidates")), ("in", _("Included")), ("out", _("Excluded"))],
    )
    section = forms.ChoiceField(label=_("Section"), required=False)
    code = forms.ChoiceField(label=_("Outcome"), required=False)
    q = forms.CharField(
        label=_("Words"),
        required=False,
        max_length=MAX_FILTER_CHARACTERS,
        validators=[validate_storable],
        strip=True,
    )

    sort = forms.RegexField(
        rf"^-?({'|'.join(ITEM_SORTS)})\Z", required=False, widget=forms.HiddenInput, max_length=MAX_FILTER_CHARACTERS
    )

    def __init__(self, *args: Any, told: StoredAssembly, codes: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sections = [(section.key, section_name(section)) for section in told.sections if section.considered]
        self.fields["section"].choices = [("", _("All sections")), *sections]  # type: ignore[attr-defined]
        self.fields["code"].choices = [("", _("All outcomes")), *codes.items()]  # type: ignore[attr-defined]


_LABELS: Mapping[str, object] = {
    Code.REQUIRED: _("Required"),
    Code.PINNED: _("Pinned"),
    Code.RULE_INCLUDED: _("Included by rule"),
    Code.FITS: _("Included in full"),
    Code.TRUNCATED: _("Truncated"),
    Code.COMPACTED: _("Shortened"),
    Code.SUMMARISED: _("Summarised"),
    Code.OVER_SECTION_BUDGET: _("Excluded: section limit"),
    Code.OVER_TOTAL_BUDGET: _("Excluded: budget"),
    Code.OUTRANKED: _("Excluded: low rank"),
    Code.BELOW_RELEVANCE: _("Excluded: low relevance"),
    Code.UNTRUSTED_ORIGIN: _("Excluded: untrusted origin"),
    Code.DUPLICATE: _("Excluded: duplicate"),
    Code.CONFLICT_LOST: _("Excluded: conflict"),
    Code.RULE_EXCLUDED: _("Excluded by rule"),
    Code.FILTERED: _("Excluded by request"),
    Code.SUPERSEDED: _("Excluded: superseded"),
    Code.EXPIRED: _("Excluded: expired"),
    Code.EMPTY: _("empty"),
}


def reason_label(code: str) -> str:
    """Return the label of a reason code."""
    return str(_LABELS[Code(code)])


DAYS = {"today": 1, "week": 7, "month": 30}
MAX_PEOPLE = 500
SEARCH = {"type": "search", "autocomplete": "off"}
REFERENCE_ATTRIBUTES = {
    "autocomplete": "off",
    "spellcheck": "false",
    "placeholder": _("Name or URL"),
    "hx-get": reverse_lazy("context_list"),
    "hx-trigger": "input changed delay:300ms, change consume target:template",
    "hx-include": "closest form",
}
"""Attributes of a field whose text is looked up with htmx while it is typed.

The second trigger only stops the event, as no field matches its target: without it, leaving the field would submit the
form, and the matches would be replaced while somebody chooses one of them.
"""
REFERENCE_FIELDS = ("included_ref", "excluded_ref")
CHOOSE_HELP = _("Select a match below, or paste the URL of its page.")
ADVANCED_FIELDS = (
    "requested_by",
    "purpose",
    "profile",
    "warning",
    "reason",
    "since",
    "until",
    "included_ref",
    "excluded_ref",
    "file_loss",
)
"""Fields that are folded away until one of them is used."""


PURPOSE_LABELS = {
    Purpose.AGENT.value: _("By agents"),
    Purpose.PREVIEW.value: _("Previews"),
    Purpose.TEST.value: _("Tests"),
}


class FastSelect(forms.Select):
    """A select widget rendered in Python: Django's renders a template per option, which is slow for hundreds."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        attributes = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        chosen = str(value or "")
        marked = ((key, SafeString(" selected") if key == chosen else "", label) for key, label in self.choices)
        options = format_html_join("", '<option value="{}"{}>{}</option>', marked)
        return format_html("<select{}>{}</select>", flatatt(attributes), options)


class ContextFilterForm(forms.Form):
    """A form with the filters of the list of contexts, from the URL; its choices are what the user may see.

    The fields show text as given; `assembly.contexts.search.parameters` parses it, as for the API.
    """

    q = forms.CharField(
        label=_("Search"), required=False, validators=[validate_storable], widget=forms.TextInput(SEARCH)
    )
    agent = forms.CharField(label=_("Agent"), required=False, widget=FastSelect)
    team = forms.CharField(label=_("Team"), required=False, widget=FastSelect)
    when = forms.ChoiceField(
        label=_("Time"),
        required=False,
        choices=[
            ("", _("Any time")),
            ("today", _("Today")),
            ("week", _("The last 7 days")),
            ("month", _("The last 30 days")),
        ],
    )
    outcome = forms.CharField(
        label=_("Outcome"),
        required=False,
        widget=FastSelect(
            choices=[
                ("", _("All")),
                ("truncated", _("Truncated or with a warning")),
                ("excluded", _("With excluded items")),
            ]
        ),
    )
    requested_by = forms.CharField(label=_("Requested by"), required=False, widget=FastSelect)
    purpose = forms.CharField(
        label=_("Purpose"),
        required=False,
        widget=FastSelect(choices=[("", _("Any purpose")), *PURPOSE_LABELS.items()]),
    )
    profile = forms.CharField(label=_("Profile"), required=False, widget=FastSelect)
    warning = forms.CharField(
        label=_("Warning"),
        required=False,
        widget=FastSelect(choices=[("", _("Any")), *((code, warning_label(code)) for code in WARNINGS)]),
    )
    reason = forms.CharField(
        label=_("Decision"),
        required=False,
        widget=FastSelect(choices=[("", _("Any")), *((code, reason_label(code)) for code in DECISION_CODES)]),
    )
    since = forms.CharField(label=_("From"), required=False, widget=forms.DateInput({"type": "date"}))
    until = forms.CharField(label=_("To"), required=False, widget=forms.DateInput({"type": "date"}))
    included_ref = forms.CharField(
        label=_("Contains"),
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(REFERENCE_ATTRIBUTES),
    )
    excluded_ref = forms.CharField(
        label=_("Excluded item"),
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(REFERENCE_ATTRIBUTES),
    )

    file_loss = forms.CharField(label=_("File over limit"), required=False, widget=FastSelect)

    def __init__(self, *args: Any, visible: VisibleOwners, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visible, self.wanted = visible, ContextQuery()
        self.fields["q"].widget.attrs["maxlength"] = MAX_WORDS_CHARACTERS
        self._offer("agent", _("All agents"), _owner_choices(visible.agents, visible.deleted_agents))
        self._offer("team", _("All teams"), _owner_choices(visible.teams, visible.deleted_teams))
        self._offer("requested_by", _("Anyone"), [("me", _("Me")), *self._people()])
        one_file = self.data.get("file_loss", "")
        chosen = [(one_file, _("The selected file"))] if one_file not in {"", ANY_FILE} else []
        self._offer("file_loss", _("Any"), [(ANY_FILE, _("Any file truncated or excluded")), *chosen])
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
        """The filters as API parameters; given dates override the choice “When”."""
        values = {name: str(self.cleaned_data.get(name) or "") for name in PARAMETERS}
        when = self.cleaned_data.get("when")
        if when and not (values["since"] or values["until"]):
            values["since"] = (timezone.now().date() - datetime.timedelta(days=DAYS[when] - 1)).isoformat()
        return {name: value for name, value in values.items() if value}

    @property
    def named(self) -> dict[str, str]:
        """Texts of reference fields that are names, not refs or addresses, so that an item must be chosen; by field."""
        typed = {name: str(self.cleaned_data.get(name) or "").strip() for name in REFERENCE_FIELDS}
        return {name: text for name, text in typed.items() if text and is_plain_name(text)}

    @property
    def more(self) -> list[forms.BoundField]:
        """The fields that are folded away until one of them is used."""
        return [self[name] for name in ADVANCED_FIELDS]

    @property
    def uses_advanced_filters(self) -> bool:
        """Whether a folded field has a value or an error."""
        return any(self.data.get(name) or name in self.errors for name in ADVANCED_FIELDS)

    def _offer(self, name: str, nothing: Any, choices: Iterable[tuple[str, Any]]) -> None:
        """Set the choices of a field, with the value from the URL added if it is not among them."""
        offered: list[tuple[str, Any]] = [("", nothing), *choices]
        asked = self.data.get(name, "")
        if asked and "\0" not in asked and asked not in dict(offered):
            offered.append((asked, asked))
        self.fields[name].widget.choices = offered

    def _people(self) -> Sequence[tuple[str, str]]:
        """Return the people who share a team with the user, as choices; all people for admins; at most 500."""
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


class FeedbackForm(forms.Form):
    """This form takes feedback on a context; its `verdict` is about the items that are sent as `pick`."""

    satisfaction = forms.TypedChoiceField(
        label=_("Was this context useful?"),
        required=False,
        coerce=float,
        empty_value=None,
        choices=[("", _("No answer")), ("1", _("Yes, fully")), ("0.75", _("Mostly")), ("0.5", _("Partly")),
                 ("0.25", _("Hardly")), ("0", _("No"))],
    )  # fmt: skip
    note = forms.CharField(
        label=_("Note"),
        required=False,
        max_length=MAX_NOTE_CHARACTERS,
        validators=[validate_storable],
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    verdict = forms.ChoiceField(choices=[("used", "used"), ("useless", "useless")], required=False)

    def facts(self, refs: Sequence[str]) -> FeedbackFacts:
        """Return the feedback of a valid form; the refs are the selected items, of which no list has more."""
        values = self.cleaned_data
        named = [ref for ref in refs[:MAX_REFS] if ref.isprintable() and len(ref) <= MAX_REF_CHARACTERS]
        return FeedbackFacts(
            satisfaction=values["satisfaction"],
            used=named if values["verdict"] == "used" else (),
            useless=named if values["verdict"] == "useless" else (),
            note=values["note"],
        )
