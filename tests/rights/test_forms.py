"""What forms offer: for a person whose roles differ from team to team, exactly what the access functions allow.

Every form is in one of the three tables; a new one joins it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.urls import get_resolver

from agents.access import agent_for
from agents.forms import AgentForm, AgentSettingsForm
from assembly.conflicts.forms import ConflictFilterForm
from assembly.contexts.forms import ContextFilterForm
from assembly.contexts.preview import PreviewForm
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.monitoring.alerts.services import AlertFilterForm
from assembly.monitoring.trends.filters import TrendFilterForm
from assembly.monitoring.webhooks.services import WebhookNewForm
from assembly.recall_tests.forms import NewRecallTestForm
from assembly.rules.form_fields import ConditionForm, field_choices
from assembly.rules.forms import RuleForm, owner_choices
from assembly.simulation.draft_preview.forms import DraftPreviewForm
from assembly.simulation.draft_preview.subject import agent_file_subject, team_file_subject
from assembly.simulation.time_travel.forms import AsOfForm
from config.http.errors import Forbidden, NotFound
from teams.access import team_for
from teams.forms import NewPersonForm
from teams.principal import Action, Principal
from teams.readings.views import ReadingFilterForm
from tests.rights.needs import MAY, Standing
from tests.rights.world import FOREIGN, HELPED, LED, WATCHED, Owned, World

pytestmark = [pytest.mark.finding("1w"), pytest.mark.django_db]

STANDINGS: Mapping[str, Mapping[str, Standing]] = {
    "mixed": {LED: "admin", HELPED: "editor", WATCHED: "viewer"},
    "outsider": {FOREIGN: "admin"},
    "stranger": {},
    "viewer": {LED: "viewer"},
    "editor": {LED: "editor"},
    "admin": dict.fromkeys((LED, HELPED, WATCHED, FOREIGN), "organisation"),
}
Offers = Mapping[str, set[str]]


def _choices(form: forms.BaseForm, *names: str) -> Offers:
    """What the fields offer, without the words for none and all."""
    return {name: {str(value) for value, _label in form.fields[name].choices} - {"", "*"} for name in names}  # type: ignore[attr-defined]


def _models(form: forms.BaseForm, *names: str) -> Offers:
    """What the fields of models offer, by slug."""
    return {name: {row.slug for row in form.fields[name].queryset} for name in names}  # type: ignore[attr-defined]


def _rule_owners(principal: Principal, _world: World) -> Offers:
    form = RuleForm(choices=owner_choices(principal))
    offered = [str(value) for _group, choices in form.fields["owner"].choices if isinstance(choices, list)  # type: ignore[attr-defined]
               for value, _label in choices]  # fmt: skip
    return {
        kind + "s": {name.partition(":")[2] for name in offered if name.startswith(kind)} for kind in ("agent", "team")
    }


def _filters(principal: Principal, _world: World) -> Offers:
    form = ContextFilterForm({}, visible=VisibleOwners(principal))
    return {name: {str(value) for value, _ in form.fields[name].widget.choices} - {""} for name in ("agent", "team")}


def _readings(principal: Principal, world: World) -> Offers:
    offered = _choices(ReadingFilterForm(principal=principal), "owner")["owner"]
    return {
        kind + "s": {
            slug_of(owned, teams=kind == "team")
            for owned in world.teams.values()
            if f"{kind}:{(owned.team if kind == 'team' else owned.agent).id}" in offered
        }
        for kind in ("agent", "team")
    }


def _named(principal: Principal, _world: World) -> Offers:
    return _choices(ConditionForm(names=field_choices(principal)), "agents", "teams")


# The form, what it offers to somebody, and the action that each field is about.
OFFERED: Mapping[type[forms.BaseForm], tuple[Callable[[Principal, World], Offers], Action]] = {
    AgentForm: (lambda principal, _world: _models(AgentForm(principal=principal), "teams"), Action.MANAGE),
    AgentSettingsForm: (
        lambda principal, _world: _models(AgentSettingsForm(principal=principal), "teams"), Action.MANAGE,
    ),
    WebhookNewForm: (lambda principal, _world: _models(WebhookNewForm(principal=principal), "team"), Action.MANAGE),
    NewRecallTestForm: (lambda principal, _world: _models(NewRecallTestForm(principal=principal), "team"), Action.EDIT),
    RuleForm: (_rule_owners, Action.EDIT),
    ConditionForm: (_named, Action.READ),
    PreviewForm: (
        lambda principal, _world: _models(PreviewForm(principal=principal), "agent", "team"), Action.READ,
    ),
    AlertFilterForm: (
        lambda principal, _world: _models(AlertFilterForm(principal=principal), "agent", "team"), Action.READ,
    ),
    ConflictFilterForm: (
        lambda principal, _world: _models(ConflictFilterForm(principal=principal), "agent", "team"), Action.READ,
    ),
    NewPersonForm: (
        lambda principal, _world: _models(NewPersonForm(principal=principal), "team"), Action.MANAGE,
    ),
    TrendFilterForm: (
        lambda principal, _world: _models(TrendFilterForm({}, principal=principal), "agent", "team"), Action.READ,
    ),
    ContextFilterForm: (_filters, Action.READ),
    ReadingFilterForm: (_readings, Action.MANAGE),
}  # fmt: skip
OF_ONE_OWNER = {
    "AsOfForm", "DraftPreviewForm",  # tried below
    "EventFilter", "GraphForm", "ItemSearch", "PatternSearch", "ToolSearch", "ThreadSearch", "DocumentSearch",
    "EntitySearch", "AgentItemForm", "EntityForm", "PatternForm", "ThreadForm", "ToolForm", "DocumentForm",
    "RelationForm", "SensitivityForm",
    "NewRelationForm", "MemoryListForm", "MergeForm", "WhatIfForm", "ItemFilterForm", "RecallTestForm",
}  # fmt: skip
"""They offer what belongs to one agent, team or context, which their page fetched with permission (`test_pages`)."""
NAMING = {"MemberForm"}
"""They offer nothing, and take names of things that the person may see; tried below."""
PLAIN = {
    "DecisionForm", "FeedbackForm", "ReasonForm", "SubjectForm", "SubjectSearchForm", "ErasureForm", "HoldForm",
    "CorrectionForm",
    "UserSettingsForm", "GlobalSearchForm", "ActivityFilterForm",
    "TextForm", "DraftForm", "PublishForm", "RestoreForm", "NamedForm", "TeamForm", "TeamSettingsForm",
    "DeletionForm",
    "RoleForm", "PersonForm", "ApiKeyForm", "AdminKeyForm", "KeyFilterForm", "LogSearch",
    "ContextRequestForm", "ProfileForm", "WhyNotForm", "RetentionForm", "StoragePolicyForm",
    "FlagForm", "RuleActionForm",
    "ExternalSourceForm",
    "ExternalSourceNewForm", "ExternalSourceEditForm", "SwitchForm", "QueryForm", "WebhookForm", "WebhookEditForm",
    "VersionForm", "WebhookVersionForm", "StoredForm", "MemoryForm", "MemoryEditForm", "RetireForm",
    "GoalForm", "ResultForm", "SearchForm", "OrganisationFileForm", "OrganisationFileSettingsForm",
    "ArchiveForm", "LimitsForm", "_OnceOnly", "AuthenticateForm", "ReauthenticateForm", "ChangePasswordForm",
}  # fmt: skip
"""Their choices are the same for everybody who gets to them."""
PERSONAL = {"principal", "visible", "agents", "teams", "choices", "names"}
"""Arguments by which a form is told whose choices it offers."""


def all_forms() -> dict[str, type[forms.BaseForm]]:
    """Every form of the project by its name."""
    assert get_resolver().url_patterns  # imports the views
    import_module("teams.sign_in.forms")  # which allauth imports when it needs them
    ours = tuple(f"{config.name}." for config in apps.get_app_configs() if "/site-packages/" not in config.path)
    found = {}
    for form in _below(forms.BaseForm):
        if form.__module__.startswith((*ours, "config.")):
            found[form.__name__] = form
    return found


def _below(form: type[Any]) -> Iterator[type[Any]]:
    children: list[type[Any]] = form.__subclasses__()
    for one in children:
        yield one
        yield from _below(one)


def test_every_form_is_in_a_table() -> None:
    named = {form.__name__ for form in OFFERED} | OF_ONE_OWNER | NAMING | PLAIN
    assert set(all_forms()) == named


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_plain_form_is_told_of_nobody(name: str) -> None:
    form = all_forms()[name]
    assert not PERSONAL & set(inspect.signature(form).parameters)
    fields = getattr(form, "base_fields", {}).values()
    assert not [field for field in fields if isinstance(field, forms.ModelChoiceField)]


@pytest.mark.parametrize("who", STANDINGS)
@pytest.mark.parametrize("form", OFFERED, ids=lambda form: form.__name__)
def test_a_form_offers_exactly_what_one_may(form: type[forms.BaseForm], who: str, world: World) -> None:
    offers, action = OFFERED[form]
    principal = world.people[who].principal
    for name, offered in offers(principal, world).items():
        teams = name.startswith("team")
        allowed = {slug_of(owned, teams=teams) for owned in allowing(principal, action, world, teams=teams)}
        by_role = {slug for slug, standing in STANDINGS[who].items() if action.value in MAY[standing]}
        assert offered == allowed, name
        assert allowed == {slug_of(world.teams[slug], teams=teams) for slug in by_role}, name


def allowing(principal: Principal, action: Action, world: World, *, teams: bool) -> Iterator[Owned]:
    """Those of which the access function permits the action."""
    for owned in world.teams.values():
        try:
            (team_for if teams else agent_for)(principal, slug_of(owned, teams=teams), action)
        except (NotFound, Forbidden):
            continue
        yield owned


def slug_of(owned: Owned, *, teams: bool) -> str:
    """The slug of the team, or of its agent."""
    return owned.team.slug if teams else owned.agent.slug


def test_what_is_not_offered_is_not_taken(world: World) -> None:
    """A viewer elsewhere who is admin here neither puts their agent there nor takes another's out."""
    browser = world.browsers["mixed"]
    led = world.teams[LED]
    for slug in (HELPED, WATCHED, FOREIGN):
        there = world.teams[slug].team
        form = {"version": 1, "name": "Renamed", "timezone": "UTC", "teams": [led.team.id, there.id]}
        assert browser.post(f"/agents/{led.agent.slug}/settings/", form).status_code == 422
        assert set(led.agent.teams.all()) == {led.team}
        body = {"teams": [LED, slug]}
        answer = world.api("mixed").patch(f"agents/{led.agent.slug}", body, if_match='"1"')
        assert answer.status_code in {403, 404, 422}
        assert set(led.agent.teams.all()) == {led.team}


def test_the_preview_of_a_draft_offers_agents_and_teams_of_the_person(world: World) -> None:
    """An agent that works in two teams: of the one that the person does not see, nothing is offered."""
    led, foreign = world.teams[LED], world.teams[FOREIGN]
    led.agent.teams.add(foreign.team)
    principal = world.people["mixed"].principal
    subject = agent_file_subject(principal, led.agent.slug, "IDENTITY")
    assert _choices(DraftPreviewForm(teams=subject.teams), "team") == {"team": {LED}}
    foreign.agent.teams.add(led.team)
    subject = team_file_subject(world.people["outsider"].principal, FOREIGN, "GOALS")
    assert {agent.slug for agent in subject.agents} == {led.agent.slug, foreign.agent.slug}


def test_the_question_of_a_moment_offers_the_teams_of_the_person(world: World) -> None:
    led = world.teams[LED]
    led.agent.teams.add(world.teams[FOREIGN].team)
    form = AsOfForm(agent=led.agent, teams=[led.team])
    assert _choices(form, "team") == {"team": {LED}}
    page = world.browsers["mixed"].get(f"/agents/{led.agent.slug}/as-of/").content.decode()
    assert world.teams[FOREIGN].secret not in page
    assert (
        world.browsers["mixed"].get(f"/agents/{led.agent.slug}/as-of/?day=2026-01-05&team={FOREIGN}").status_code == 422
    )


def test_a_team_takes_colleagues_of_the_one_who_adds_them(world: World) -> None:
    """A team admin names nobody but those whom they meet in a team; an admin of the organisation names everybody."""
    names = {"stranger": 422, "boss-foreign": 422, "boss-watched": 302, "member-helped": 302}
    for who, expected in (("mixed", names), ("admin", dict.fromkeys(names, 302))):
        for name, status in expected.items():
            form = {"username": name, "role": "viewer"}
            assert world.browsers[who].post(f"/teams/{LED}/members/", form).status_code == status, (who, name)
