"""Forms of external sources. A secret can only be written: no page shows it again."""

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
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_CHOICES, Sensitivity

PLAIN_INPUT = {"autocomplete": "off", "spellcheck": "false"}


class ExternalSourceForm(forms.Form):
    """The form of an external source, without its name."""

    label = forms.CharField(
        label=_("Label"),
        help_text=_("Name of the webhook."),
        max_length=MAX_LABEL_CHARACTERS,
        validators=[validate_storable],
    )
    url = forms.CharField(
        label=_("URL"),
        help_text=_("URL that is queried by POST: https://search.example.org/ask. Private addresses are rejected."),
        max_length=MAX_URL_CHARACTERS,
        widget=forms.TextInput(attrs={**PLAIN_INPUT, "inputmode": "url"}),
    )
    secret = forms.CharField(
        label=_("Secret"),
        help_text=_("Sent as a bearer token, stored encrypted, and never shown again."),
        required=False,
        strip=False,
        validators=[valid_secret],
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    limit = forms.IntegerField(label=_("Maximum results"), min_value=1, max_value=MAX_LIMIT, initial=DEFAULT_LIMIT)
    timeout_ms = forms.IntegerField(
        label=_("Timeout in milliseconds"),
        help_text=_("A context has its own deadline, which also applies."),
        min_value=MIN_TIMEOUT_MS,
        max_value=MAX_TIMEOUT_MS,
        initial=DEFAULT_TIMEOUT_MS,
    )

    sensitivity = forms.TypedChoiceField(
        label=_("Sensitivity"),
        help_text=_("Of all its results. It is not queried for those without the clearance."),
        choices=LEVEL_CHOICES,
        initial=Sensitivity.INTERNAL,
        coerce=int,
        required=False,
        empty_value=None,
    )

    def facts(self, *, enabled: bool, sensitivity: int = DEFAULT_LEVEL) -> ExternalSourceConfig:
        """Return the settings in a valid form."""
        told = ("label", "url", "limit", "timeout_ms")
        level = self.cleaned_data["sensitivity"]
        return ExternalSourceConfig(
            **{name: self.cleaned_data[name] for name in told},
            enabled=enabled,
            sensitivity=sensitivity if level is None else level,
        )

    def require_secret(self) -> None:
        """Add an error to the secret of a rejected form: its page shows every value but the secret, which has to be
        entered again.
        """
        if self.data.get("secret") and "secret" not in self.errors:
            self.add_error("secret", _("Enter it again; it is not shown anywhere."))


class ExternalSourceNewForm(ExternalSourceForm):
    """The form of a new external source."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_(
            "Lower-case letters, digits and underscores. It is the key of the sections that use the "
            "source; it cannot be changed."
        ),
        max_length=MAX_NAME_CHARACTERS,
        validators=[validate_name],
        widget=forms.TextInput(attrs=PLAIN_INPUT),
    )
    field_order = ("name",)


class ExternalSourceEditForm(ExternalSourceForm):
    """The form of an existing external source, at the version that the page showed."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    without_secret = forms.BooleanField(label=_("Remove secret"), required=False)
    field_order = ("label", "url", "secret", "without_secret")

    def __init__(self, data: Any = None, *, source: ExternalSource) -> None:
        shown = ("label", "url", "limit", "timeout_ms", "sensitivity", "version")
        super().__init__(data, initial={name: getattr(source, name) for name in shown})
        if source.sealed_secret:
            self.fields["secret"].help_text = _("A secret is set. Leave this empty to keep it; it is never shown.")
        else:
            del self.fields["without_secret"]

    def new_secret(self) -> str | None:
        """Return the new secret, "" to delete it, None to leave it unchanged."""
        if self.cleaned_data.get("without_secret"):
            return ""
        return self.cleaned_data["secret"] or None


class SwitchForm(forms.Form):
    """The form that enables or disables a source, at the version that the page showed."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    on = forms.BooleanField(required=False)


class QueryForm(forms.Form):
    """The form with the query of a test."""

    query = forms.CharField(
        label=_("Query"),
        help_text=_("Like the topic of a context."),
        max_length=MAX_QUERY_CHARACTERS,
        validators=[validate_storable],
    )
