"""These forms edit relations, and choose the part of an agent's graph to show."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from memories.embeddings.active_model import SLOTS
from memories.forms.agent_item import AgentItemForm, valid_type
from memories.forms.fields import Line
from memories.models import Entity
from teams.sealing.names import stored_forms

MAX_SUGGESTIONS = 100


class RelationForm(AgentItemForm):
    """A form for a relation between two entities: type, weight and direction."""

    type = Line(
        label=_("Relation"),
        help_text=_("One word, read from the first to the second entity: works_on, knows, part_of …"),
        max_length=60,
        validators=[valid_type],
    )
    weight = forms.FloatField(
        label=_("Strength"),
        help_text=_("From 0 to 1. Strong relations are included first."),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    directed = forms.BooleanField(label=_("One direction only"), required=False, initial=True)


class NewRelationForm(RelationForm):
    """A form for a relation from a given entity to another, which is named like “Ada” or “Ada (person)”."""

    target = Line(
        label=_("To entity"),
        help_text=_("Its name, or one of its other names."),
        max_length=300,
        widget=forms.TextInput(attrs={"list": "entities", "autocomplete": "off"}),
    )
    field_order = ("type", "target", "weight", "directed")

    @property
    def suggestions(self) -> list[str]:
        """The most important entities, as suggestions like “Ada (person)”."""
        rows = Entity.objects.filter(agent=self.agent).order_by("-salience", "id")[:MAX_SUGGESTIONS]
        return [f"{one.name} ({one.type})" for one in rows.only("agent_id", "name", "type", "sensitivity")]

    def clean_target(self) -> Entity:
        sent = self.cleaned_data["target"]
        name, _bracket, type_ = sent.removesuffix(")").rpartition(" (")
        rows = Entity.objects.filter(agent=self.agent).defer(*SLOTS)
        names, forms = (stored_forms(rows, self.agent.pk, [one]) for one in (name, _format_name(sent)))
        found = list(rows.filter(name__in=names, type=type_)) or list(rows.filter(names__overlap=forms)[:2])
        if len(found) == 1:
            return found[0]
        if found:
            raise ValidationError(_("Several entities have this name. Add the type, as in “Ada (person)”."))
        raise ValidationError(_("No entity has this name. Create it first, or choose one from the list."))

    def values_of(self, thing: Any) -> dict[str, Any]:
        """Return the values of a relation by form field; the target is given by its name."""
        return {**super().values_of(thing), "target": thing.target.name}


def _format_name(name: str) -> str:
    return " ".join(name.lower().split())


DEPTHS = (("1", _("1")), ("2", _("2")), ("3", _("3")))


class GraphForm(forms.Form):
    """A form for the part of the graph to show: an entity in the middle, the depth, a type, or a name to search."""

    q = forms.CharField(
        label=_("Find an entity by name"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    depth = forms.ChoiceField(label=_("Depth"), choices=DEPTHS, required=False)
    type = forms.ChoiceField(label=_("Type"), required=False)
    entity = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, agent: Agent, types: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent = agent
        self.fields["type"].choices = [("", _("All types")), *((type_, type_) for type_ in types)]  # type: ignore[attr-defined]

    @property
    def steps(self) -> int:
        """The depth of the graph: how many relations away from the middle, 1 to 3."""
        return int(self.cleaned_data.get("depth") or 1)

    @property
    def selected_type(self) -> str:
        """The type of entities to show; "" for all types."""
        return str(self.cleaned_data.get("type", ""))

    @property
    def query(self) -> str:
        """The name to search for, or ""."""
        return str(self.cleaned_data.get("q", ""))

    def middle(self) -> Entity | None:
        """Return the agent's entity whose id is in the URL; None without one."""
        named = self.cleaned_data.get("entity")
        return Entity.objects.filter(agent=self.agent, id=named).defer(*SLOTS).first() if named else None
