"""This page previews the context that an agent would get now."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.models import Purpose
from assembly.pipeline.request import MAX_TOKENS, MAX_TOPIC_CHARACTERS, AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import usable_profile_names
from config.http.errors import Forbidden, Invalid
from teams.access import principal_of
from teams.forms import validate_storable
from teams.models import Team
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_CHOICES


class ContextRequestForm(forms.Form):
    """A form for the profile, the topic and the budget of a context."""

    profile = forms.ChoiceField(
        label=_("Profile"),
        help_text=_("How the context is assembled."),
        required=False,
    )
    topic = forms.CharField(
        label=_("Topic"),
        help_text=_(
            "Topic of the conversation. The most relevant memories are preferred; without a topic, the newest."
        ),
        max_length=MAX_TOPIC_CHARACTERS,
        required=False,
        validators=[validate_storable],
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    max_tokens = forms.IntegerField(
        label=_("Budget in tokens"),
        help_text=_("A token is about three quarters of a word. Empty: the budget of the profile."),
        min_value=0,
        max_value=MAX_TOKENS,
        required=False,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = ("", _("The agent's profile"))
        self.fields["profile"].choices = [own, *((name, name) for name in usable_profile_names())]  # type: ignore[attr-defined]


class PreviewForm(ContextRequestForm):
    """A form for a preview of an agent's context.

    With `chosen`, the slug of an agent, only that agent's teams are offered.
    """

    field_order = ("agent", "team", "profile", "topic", "sensitivity", "max_tokens", "privacy_mode")

    sensitivity = forms.TypedChoiceField(
        label=_("Sensitivity"),
        help_text=_(
            "The context is at least as sensitive. The topic is not sent to external sources and servers of models "
            "that are for less sensitive texts."
        ),
        choices=LEVEL_CHOICES,
        coerce=int,
        empty_value=None,
        initial=int(DEFAULT_LEVEL),
        required=False,
    )
    privacy_mode = forms.ChoiceField(
        label=_("Privacy"),
        help_text=_("The stricter one of this and of the profile applies."),
        choices=[
            ("off", _("As the profile says")),
            ("mask", _("Mask personal data")),
            ("strict", _("Mask personal data, and tell nothing above internal")),
        ],
        initial="off",
        required=False,
    )

    agent = forms.ModelChoiceField(
        Agent.objects.none(), to_field_name="slug", label=_("Agent"), empty_label=_("Choose an agent")
    )
    team = forms.ModelChoiceField(
        Team.objects.none(),
        to_field_name="slug",
        label=_("Team"),
        required=False,
        empty_label=_("No team"),
        help_text=_("The team in which the agent works."),
    )

    def __init__(self, *args: Any, principal: Principal, chosen: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams = Team.objects.visible_to(principal).order_by("name")
        if chosen and Agent.objects.visible_to(principal).filter(slug=chosen).exists():
            teams = teams.filter(agent_links__agent__slug=chosen)
            if len(teams) == 1:
                self.initial.setdefault("team", teams[0])
        self.fields["agent"].queryset = Agent.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        agent, team = values.get("agent"), values.get("team")
        if agent and team and not team.agent_links.filter(agent=agent).exists():
            message = _("%(agent)s is not in %(team)s. Choose one of its teams, or none.")
            self.add_error("team", ValidationError(message, params={"agent": agent.name, "team": team.name}))
        return values


def preview(request: HttpRequest) -> HttpResponse:
    """Show the preview form; when posted, assemble the context and redirect to its page."""
    principal = principal_of(request)
    if request.method != "POST":
        chosen = request.GET.get("agent", "")
        # htmx requests the form again when the agent changes, so that only that agent's teams are offered.
        initial = {name: request.GET[name] for name in ("agent", "team", "topic", "max_tokens") if name in request.GET}
        return _page(request, PreviewForm(principal=principal, chosen=chosen, initial=initial))
    form = PreviewForm(request.POST, principal=principal)
    if form.is_valid():
        try:
            wishes = form.cleaned_data
            agent, team = wishes.pop("agent"), wishes.pop("team")
            wishes["privacy_mode"] = wishes["privacy_mode"] or "off"
            if wishes["sensitivity"] is None:
                wishes["sensitivity"] = DEFAULT_LEVEL
            asked = AssemblyRequest(**wishes, purpose=Purpose.PREVIEW)
            assembly = assemble(agent=agent, team=team, asked=asked, principal=principal).assembly
        except Forbidden as error:  # the sensitivity is above the clearance
            form.add_error("sensitivity", error.detail)
        except Invalid as error:
            for field in error.extra["errors"]:
                form.add_error(field if field in form.fields else None, error.detail)
        else:
            return redirect("context", id_=assembly.id)
    return _page(request, form, status=422)


def _page(request: HttpRequest, form: PreviewForm, status: int = 200) -> HttpResponse:
    return render(request, "assembly/contexts/preview.html", {"form": form}, status=status)
