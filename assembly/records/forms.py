"""The forms of keeping records: for how long, and a flag on one of them."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from assembly.models.retention import MAX_DAYS, MAX_FLAG_NOTE_CHARACTERS
from assembly.records.retention_policies import EffectiveRetention, RetentionRule
from teams.forms import validate_storable

DEFAULT, FOR_EVER, DAYS = "default", "for_ever", "days"


class RetentionForm(forms.Form):
    """For how long; for a team, also that the organisation's rule is to hold."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    rule = forms.ChoiceField(label=_("Keep contexts"), widget=forms.RadioSelect)
    days = forms.IntegerField(
        label=_("Days"), help_text=_("Counted from the moment of each context."),
        min_value=1, max_value=MAX_DAYS, required=False,
    )  # fmt: skip
    confirmed = forms.BooleanField(required=False, widget=forms.HiddenInput)
    keep_flagged = forms.BooleanField(
        label=_("Keep what somebody flagged"),
        help_text=_("A context that has the flag “keep” stays, however old it is."),
        required=False,
    )

    def __init__(self, *args: Any, held: EffectiveRetention, **kwargs: Any) -> None:
        days, own = held.keeping.days, held.policy
        rule = DEFAULT if held.team and not own else DAYS if days else FOR_EVER
        initial = {"version": held.version, "rule": rule, "days": days, "keep_flagged": held.keeping.keep_flagged}
        super().__init__(*args, **{**kwargs, "initial": initial})
        choices = [(FOR_EVER, _("For ever")), (DAYS, _("For as many days as given below"))]
        of_team = [(DEFAULT, _("As the organisation does"))] if held.team else []
        self.fields["rule"].choices = [*of_team, *choices]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        if values.get("rule") == DAYS and not values.get("days") and "days" not in self.errors:
            self.add_error("days", ValidationError(_("Give a number of days, or keep contexts for ever.")))
        return values

    @property
    def keeping(self) -> RetentionRule | None:
        """What a valid form says; None: as the organisation does."""
        rule, days = self.cleaned_data["rule"], self.cleaned_data["days"]
        if rule == DEFAULT:
            return None
        return RetentionRule(days if rule == DAYS else None, self.cleaned_data["keep_flagged"])


class FlagForm(forms.Form):
    """That a context is to be kept, and why; or need not be any more."""

    keep = forms.BooleanField(required=False)
    note = forms.CharField(
        label=_("Why?"), required=False, max_length=MAX_FLAG_NOTE_CHARACTERS, validators=[validate_storable]
    )
