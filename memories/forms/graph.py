"""What of the graph is asked for."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from memories.models import Entity
from memories.spaces import SLOTS

DEPTHS = (("1", _("1 step")), ("2", _("2 steps")), ("3", _("3 steps")))


class GraphForm(forms.Form):
    """A name to search; the entity in the middle, how far around it, and of which type."""

    q = forms.CharField(
        label=_("Find an entity by name"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    depth = forms.ChoiceField(label=_("How far"), choices=DEPTHS, required=False)
    type = forms.ChoiceField(label=_("Show"), required=False)
    entity = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, agent: Agent, types: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent = agent
        self.fields["type"].choices = [("", _("All types")), *((type_, type_) for type_ in types)]  # type: ignore[attr-defined]

    @property
    def steps(self) -> int:
        """How many relations away from the middle, 1 to 3."""
        return int(self.cleaned_data.get("depth") or 1)

    @property
    def only_type(self) -> str:
        """The one type to show; "" for all."""
        return str(self.cleaned_data.get("type", ""))

    @property
    def query(self) -> str:
        """The name that is searched, or ""."""
        return str(self.cleaned_data.get("q", ""))

    def middle(self) -> Entity | None:
        """The agent's entity that the address names."""
        named = self.cleaned_data.get("entity")
        return Entity.objects.filter(agent=self.agent, id=named).defer(*SLOTS).first() if named else None
