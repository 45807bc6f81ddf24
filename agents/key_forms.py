"""The forms of keys: new ones of agents and admins, and which of all keys are shown."""

import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import ApiKey
from teams.forms import validate_storable

DEFAULT_DAYS = "90"
NEVER = "never"
LIFETIMES = [(DEFAULT_DAYS, _("90 days")), ("365", _("A year")), (NEVER, _("Until it is revoked"))]


class AdminKeyForm(forms.Form):
    """A new key of an admin: a name, and how long it is valid."""

    name = forms.CharField(
        label=_("What the key is for"), help_text=_("Shown as the author of what it writes."), max_length=120
    )
    lifetime = forms.ChoiceField(label=_("Valid for"), choices=LIFETIMES, initial=DEFAULT_DAYS, required=False)
    until = forms.DateField(
        label=_("Or until the end of this day"),
        help_text=_("In UTC. Takes the place of the choice above."),
        widget=forms.DateInput(attrs={"type": "date"}),
        required=False,
    )

    def clean_until(self) -> datetime.date | None:
        until: datetime.date | None = self.cleaned_data["until"]
        if until and until < timezone.now().date():
            raise ValidationError(_("This day is over. Choose a later one."), code="past")
        return until

    def facts(self) -> dict[str, Any]:
        """The name and the moment at which the key expires, None for never, as `api_key_create` takes them."""
        return {"name": self.cleaned_data["name"], "expires": self._expires()}

    def _expires(self) -> datetime.datetime | None:
        if until := self.cleaned_data["until"]:
            midnight = datetime.datetime.combine(until, datetime.time(), datetime.UTC)
            return midnight + datetime.timedelta(days=1)
        lifetime = self.cleaned_data["lifetime"] or DEFAULT_DAYS
        return None if lifetime == NEVER else timezone.now() + datetime.timedelta(days=int(lifetime))


class ApiKeyForm(AdminKeyForm):
    """A new key of an agent."""

    scopes = forms.MultipleChoiceField(
        label=_("What it may do besides"),
        help_text=_("Every key reads the files, and writes daily logs, memories and events."),
        choices=ApiKey.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    def facts(self) -> dict[str, Any]:
        """The same, with the scopes."""
        return {**super().facts(), "scopes": self.cleaned_data["scopes"]}


class KeyFilterForm(forms.Form):
    """Which keys are shown: of whom, in which state, by whom made, and by words."""

    kind = forms.ChoiceField(
        label=_("Of whom"),
        choices=[("", _("All")), ("agent", _("Agents")), ("admin", _("Admins"))],
        required=False,
    )
    state = forms.ChoiceField(
        label=_("State"),
        choices=[("", _("All")), ("usable", _("Usable")), ("expired", _("Expired")), ("revoked", _("Revoked"))],
        required=False,
    )
    q = forms.CharField(
        label=_("Name, agent or who made it"),
        max_length=120,
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    made_by = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def narrowed(self, keys: "QuerySet[ApiKey]", now: datetime.datetime) -> "QuerySet[ApiKey]":
        """Those of the keys that fit what was chosen; what was filled in wrongly narrows nothing."""
        if not self.is_valid():
            return keys
        chosen = self.cleaned_data
        if chosen["made_by"]:
            keys = keys.filter(created_by=f"person:{chosen['made_by']}")
        if words := chosen["q"].strip():
            named = Q(name__icontains=words) | Q(lookup__icontains=words) | Q(creator_name__icontains=words)
            keys = keys.filter(named | Q(agent__name__icontains=words) | Q(agent__slug__icontains=words))
        return keys_of_kind(keys_in_state(keys, chosen["state"], now), chosen["kind"])


def keys_of_kind(keys: "QuerySet[ApiKey]", kind: str) -> "QuerySet[ApiKey]":
    """Those of an `agent` or an `admin`; all for an empty kind."""
    return keys.filter(agent__isnull=kind == "admin") if kind else keys


def keys_in_state(keys: "QuerySet[ApiKey]", state: str, now: datetime.datetime) -> "QuerySet[ApiKey]":
    """Those that are `usable`, `expired` or `revoked`; all for an empty state."""
    if state == "usable":
        return keys.filter(id__in=ApiKey.objects.usable(now).values("id"))
    if state == "expired":
        return keys.filter(revoked=None, expires__lte=now)
    return keys.filter(revoked__isnull=False) if state == "revoked" else keys
