"""These forms set how long records are stored, and the flag that protects one record."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from assembly.models.retention import MAX_DAYS, MAX_FLAG_NOTE_CHARACTERS
from assembly.records.retention_policies import EffectiveRetention, RetentionRule
from teams.forms import validate_storable

DEFAULT, FOR_EVER, DAYS = "default", "for_ever", "days"


class RetentionForm(forms.Form):
    """A form for the retention of contexts: for ever, for some days or, for a team, as the organisation does."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    rule = forms.ChoiceField(label=_("Retain contexts"), widget=forms.RadioSelect)
    days = forms.IntegerField(
        label=_("Days"), help_text=_("From the time of each context."),
        min_value=1, max_value=MAX_DAYS, required=False,
    )  # fmt: skip
    confirmed = forms.BooleanField(required=False, widget=forms.HiddenInput)
    keep_flagged = forms.BooleanField(
        label=_("Retain flagged contexts"),
        help_text=_("Flagged contexts are not deleted."),
        required=False,
    )

    def __init__(self, *args: Any, held: EffectiveRetention, **kwargs: Any) -> None:
        days, own = held.keeping.days, held.policy
        rule = DEFAULT if held.team and not own else DAYS if days else FOR_EVER
        initial = {"version": held.version, "rule": rule, "days": days, "keep_flagged": held.keeping.keep_flagged}
        super().__init__(*args, **{**kwargs, "initial": initial})
        choices = [(FOR_EVER, _("Indefinitely")), (DAYS, _("Custom"))]
        of_team = [(DEFAULT, _("Default of the organisation"))] if held.team else []
        self.fields["rule"].choices = [*of_team, *choices]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        rule, days = values.get("rule"), values.get("days")
        if rule == DAYS and not days and "days" not in self.errors:
            self.add_error("days", ValidationError(_("Enter a number of days, or choose “Indefinitely”.")))
        if rule != DAYS and days and days != self.initial["days"]:
            self.add_error("rule", ValidationError(_("Choose “Custom” to use these days, or clear the number.")))
        return values

    @property
    def keeping(self) -> RetentionRule | None:
        """The retention rule of the valid form; None if the team follows the organisation's rule."""
        rule, days = self.cleaned_data["rule"], self.cleaned_data["days"]
        if rule == DEFAULT:
            return None
        return RetentionRule(days if rule == DAYS else None, self.cleaned_data["keep_flagged"])


class FlagForm(forms.Form):
    """A form that flags a context with a note, so that it is not deleted, or removes its flag."""

    keep = forms.BooleanField(required=False)
    note = forms.CharField(
        label=_("Comment"), required=False, max_length=MAX_FLAG_NOTE_CHARACTERS, validators=[validate_storable]
    )
