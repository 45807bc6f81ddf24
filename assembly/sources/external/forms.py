"""The forms of external sources. A secret is only ever written: no page shows it again."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assembly.models import ExternalSource
from assembly.models.external_source import (
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_MS,
    MAX_LABEL_CHARACTERS,
    MAX_LIMIT,
    MAX_NAME_CHARACTERS,
    MAX_TIMEOUT_MS,
    MAX_URL_CHARACTERS,
    MIN_TIMEOUT_MS,
    validate_name,
)
from assembly.sources.external.services import MAX_QUERY_CHARACTERS, ExternalSourceConfig
from config.http.encryption import valid_secret
from teams.forms import validate_storable

PLAIN_INPUT = {"autocomplete": "off", "spellcheck": "false"}


class ExternalSourceForm(forms.Form):
    """An endpoint as it is registered, but for its name."""

    label = forms.CharField(
        label=_("Label"),
        help_text=_("What people call it."),
        max_length=MAX_LABEL_CHARACTERS,
        validators=[validate_storable],
    )
    url = forms.CharField(
        label=_("URL"),
        help_text=_("Where it is asked, by POST: https://search.example.org/ask. Private addresses are refused."),
        max_length=MAX_URL_CHARACTERS,
        widget=forms.TextInput(attrs={**PLAIN_INPUT, "inputmode": "url"}),
    )
    secret = forms.CharField(
        label=_("Secret"),
        help_text=_("Sent along as a bearer token, kept encrypted, and never shown again."),
        required=False,
        strip=False,
        validators=[valid_secret],
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    limit = forms.IntegerField(
        label=_("Most results of one answer"), min_value=1, max_value=MAX_LIMIT, initial=DEFAULT_LIMIT
    )
    timeout_ms = forms.IntegerField(
        label=_("Milliseconds that an answer may take"),
        help_text=_("A context has a deadline of its own, and never waits longer than that."),
        min_value=MIN_TIMEOUT_MS,
        max_value=MAX_TIMEOUT_MS,
        initial=DEFAULT_TIMEOUT_MS,
    )

    def facts(self, *, enabled: bool) -> ExternalSourceConfig:
        """What a valid form says."""
        told = ("label", "url", "limit", "timeout_ms")
        return ExternalSourceConfig(**{name: self.cleaned_data[name] for name in told}, enabled=enabled)

    def require_secret(self) -> None:
        """Of a refused form: its page shows every value but the secret, which must not be taken for kept."""
        if self.data.get("secret") and "secret" not in self.errors:
            self.add_error("secret", _("Enter it once more: it is shown nowhere, not even here."))


class ExternalSourceNewForm(ExternalSourceForm):
    """A new endpoint."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("Lower-case letters, digits and underscores. It is the key of the sections it fills, so it stays."),
        max_length=MAX_NAME_CHARACTERS,
        validators=[validate_name],
        widget=forms.TextInput(attrs=PLAIN_INPUT),
    )
    field_order = ("name",)


class ExternalSourceEditForm(ExternalSourceForm):
    """A registered endpoint, as it stood in the version that the page showed."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    without_secret = forms.BooleanField(label=_("Remove the secret"), required=False)
    field_order = ("label", "url", "secret", "without_secret")

    def __init__(self, data: Any = None, *, source: ExternalSource) -> None:
        shown = ("label", "url", "limit", "timeout_ms", "version")
        super().__init__(data, initial={name: getattr(source, name) for name in shown})
        if source.sealed_secret:
            self.fields["secret"].help_text = _("There is one. Leave this empty to keep it; it is never shown again.")
        else:
            del self.fields["without_secret"]

    def new_secret(self) -> str | None:
        """The new secret, "" for none, None to keep the one that there is."""
        if self.cleaned_data.get("without_secret"):
            return ""
        return self.cleaned_data["secret"] or None


class SwitchForm(forms.Form):
    """On or off, from the version that the page showed."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    on = forms.BooleanField(required=False)


class QueryForm(forms.Form):
    """What an endpoint is asked, to see what it tells."""

    query = forms.CharField(
        label=_("Query"),
        help_text=_("As the topic of a context would be."),
        max_length=MAX_QUERY_CHARACTERS,
        validators=[validate_storable],
    )
