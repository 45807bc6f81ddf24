"""The forms of webhooks. Secrets are made here, never entered."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assembly.models import Webhook, WebhookEvent
from assembly.models.external import MAX_LABEL_CHARACTERS, MAX_URL_CHARACTERS
from assembly.webhooks.services import WebhookFacts
from teams.forms import storable
from teams.models import Team
from teams.principal import Principal


class WebhookForm(forms.Form):
    """An address, and what it is told."""

    label = forms.CharField(
        label=_("Label"), help_text=_("What people call it."), max_length=MAX_LABEL_CHARACTERS, validators=[storable]
    )
    url = forms.CharField(
        label=_("URL"),
        help_text=_("Where messages are sent, by POST: https://hooks.example.org/dossier. Private ones are refused."),
        max_length=MAX_URL_CHARACTERS,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
    )
    events = forms.MultipleChoiceField(
        label=_("It is told when"),
        choices=WebhookEvent.choices,
        initial=[WebhookEvent.ALERT_OPENED, WebhookEvent.ALERT_CLOSED],
        widget=forms.CheckboxSelectMultiple,
    )

    def facts(self, *, active: bool) -> WebhookFacts:
        """What a valid form says."""
        given = self.cleaned_data
        return WebhookFacts(given["label"], given["url"], tuple(given["events"]), active)


class WebhookNewForm(WebhookForm):
    """A new webhook, of one of the teams that the person manages or of the organisation."""

    team = forms.ModelChoiceField(
        Team.objects.none(),
        to_field_name="slug",
        label=_("Team"),
        required=False,
        empty_label=_("The whole organisation"),
        help_text=_("Whose alerts it is told of."),
    )
    field_order = ("label", "team")

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        team: Any = self.fields["team"]
        team.queryset = Team.objects.manageable_by(principal).order_by("name")
        if not principal.is_admin:
            team.required, team.empty_label = True, None


class WebhookEditForm(WebhookForm):
    """A webhook, as it stood in the version that the page showed."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, webhook: Webhook) -> None:
        shown = ("label", "url", "events", "version")
        super().__init__(data, initial={name: getattr(webhook, name) for name in shown})


class VersionForm(forms.Form):
    """From which version of a webhook something is done, and whether it is to be on."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    on = forms.BooleanField(required=False)
