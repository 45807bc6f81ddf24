"""The form of a storage policy: what is pinned, compressed and evicted."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memories.lifecycle.kv_policy import LIMITS, InvalidPolicy, KVPolicy, parse_policy
from teams.forms import validate_storable

MAX_PATTERNS_CHARACTERS = 10_000


def _number(name: str, label: Any, help_text: Any = "") -> forms.FloatField:
    least, most = LIMITS[name]
    return forms.FloatField(label=label, help_text=help_text, min_value=least, max_value=most)


class StoragePolicyForm(forms.Form):
    """A form for the policy of one content type, filled in with the one that holds."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    patterns = forms.CharField(
        label=_("Paths that stay hot"), help_text=_("One pattern per line, such as README* or *.py."),
        widget=forms.Textarea(attrs={"rows": 4}), required=False,
        max_length=MAX_PATTERNS_CHARACTERS, validators=[validate_storable],
    )  # fmt: skip
    ttl_hours = _number("pin.ttl_hours", _("They stay hot for (hours)"))
    max_size_mb = _number("pin.max_size_mb", _("They take at most (MB)"), _("For each agent or team."))
    age_threshold_hours = _number("compress.age_threshold_hours", _("Compress after (hours)"))
    access_threshold = forms.IntegerField(
        label=_("Unless contexts included it at least (times)"), min_value=0, max_value=1_000_000
    )
    compression_ratio = _number(
        "compress.compression_ratio", _("Aim of compression"), _("Size after, divided by size before. Nothing is lost.")
    )
    max_total_size_gb = _number(
        "evict.max_total_size_gb", _("Leave out of search over (GB)"), _("For each agent or team. Nothing is deleted.")
    )
    lru_weight = _number("evict.lru_weight", _("Weight of not being used"))
    quality_weight = _number("evict.quality_weight", _("Weight of low quality"))
    note = forms.CharField(label=_("Comment"), required=False, max_length=200, validators=[validate_storable])

    def __init__(self, *args: Any, policy: KVPolicy, version: int, **kwargs: Any) -> None:
        values = policy.as_json()
        initial = {**values["pin"], **values["compress"], **values["evict"], "version": version}
        initial["patterns"] = "\n".join(policy.pin.patterns)
        super().__init__(*args, **{**kwargs, "initial": initial})

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        if not self.errors:
            try:
                parse_policy(self.policy_json)
            except InvalidPolicy as wrong:
                self.add_error(wrong.field.rpartition(".")[2], str(wrong))
        return values

    @property
    def policy_json(self) -> dict[str, Any]:
        """The policy of the form as JSON values."""
        found = self.cleaned_data
        patterns = [line.strip() for line in found["patterns"].splitlines() if line.strip()]
        return {
            "pin": {"patterns": patterns, "max_size_mb": found["max_size_mb"], "ttl_hours": found["ttl_hours"]},
            "compress": {
                name: found[name] for name in ("age_threshold_hours", "access_threshold", "compression_ratio")
            },
            "evict": {name: found[name] for name in ("max_total_size_gb", "lru_weight", "quality_weight")},
        }
