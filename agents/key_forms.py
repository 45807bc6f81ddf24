"""Forms of keys: new keys of agents and admins, and the filter of the list of keys."""

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
LIFETIMES = [(DEFAULT_DAYS, _("90 days")), ("365", _("1 year")), (NEVER, _("Until revoked"))]


class AdminKeyForm(forms.Form):
    """The form of a new admin key: its name and how long it is valid."""

    name = forms.CharField(
        label=_("Name"), help_text=_("Shown as the author of changes made with the key."), max_length=120
    )
    lifetime = forms.ChoiceField(label=_("Valid for"), choices=LIFETIMES, initial=DEFAULT_DAYS, required=False)
    until = forms.DateField(
        label=_("Or until the end of this day"),
        help_text=_("In UTC. Replaces the choice above."),
        widget=forms.DateInput(attrs={"type": "date"}),
        required=False,
    )

    def clean_until(self) -> datetime.date | None:
        until: datetime.date | None = self.cleaned_data["until"]
        if until and until < timezone.now().date():
            raise ValidationError(_("This day is in the past. Choose a later one."), code="past")
        return until

    def facts(self) -> dict[str, Any]:
        """Return the name and the expiry time, None for never, as arguments of `api_key_create`."""
        return {"name": self.cleaned_data["name"], "expires": self._expires()}

    def _expires(self) -> datetime.datetime | None:
        if until := self.cleaned_data["until"]:
            midnight = datetime.datetime.combine(until, datetime.time(), datetime.UTC)
            return midnight + datetime.timedelta(days=1)
        lifetime = self.cleaned_data["lifetime"] or DEFAULT_DAYS
        return None if lifetime == NEVER else timezone.now() + datetime.timedelta(days=int(lifetime))


class ApiKeyForm(AdminKeyForm):
    """The form of a new key of an agent."""

    scopes = forms.MultipleChoiceField(
        label=_("Additional permissions"),
        help_text=_("Every key can read the files, and write daily logs, memories and events."),
        choices=ApiKey.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    def facts(self) -> dict[str, Any]:
        """Return the name, the expiry time and the scopes, as arguments of `api_key_create`."""
        return {**super().facts(), "scopes": self.cleaned_data["scopes"]}


class KeyFilterForm(forms.Form):
    """The filter of the list of keys: by kind, state, creator, and words of the name."""

    kind = forms.ChoiceField(
        label=_("Owner"),
        choices=[("", _("All")), ("agent", _("Agents")), ("admin", _("Admins"))],
        required=False,
    )
    state = forms.ChoiceField(
        label=_("State"),
        choices=[("", _("All")), ("usable", _("Active")), ("expired", _("Expired")), ("revoked", _("Revoked"))],
        required=False,
    )
    q = forms.CharField(
        label=_("Name, agent or creator"),
        max_length=120,
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    made_by = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def narrowed(self, keys: "QuerySet[ApiKey]", now: datetime.datetime) -> "QuerySet[ApiKey]":
        """Return the keys that match the filter; invalid values are ignored."""
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
    """Return the keys of an `agent` or an `admin`; all keys for an empty kind."""
    return keys.filter(agent__isnull=kind == "admin") if kind else keys


def keys_in_state(keys: "QuerySet[ApiKey]", state: str, now: datetime.datetime) -> "QuerySet[ApiKey]":
    """Return the keys that are `usable`, `expired` or `revoked`; all keys for an empty state."""
    if state == "usable":
        return keys.filter(id__in=ApiKey.objects.usable(now).values("id"))
    if state == "expired":
        return keys.filter(revoked=None, expires__lte=now)
    return keys.filter(revoked__isnull=False) if state == "revoked" else keys
