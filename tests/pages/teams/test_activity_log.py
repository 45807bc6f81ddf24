"""Administrative acts are recorded with who, what and when, and are read by those who manage."""

import csv
import datetime
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from allauth.mfa.models import Authenticator
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from agents.quotas.access import agent_subject, team_subject
from agents.quotas.models import LIMIT_NAMES
from agents.quotas.services import limits_set
from agents.services import agent_create, agent_update
from assembly.models import Assembly
from assembly.monitoring.webhooks.services import WebhookFacts, webhook_create, webhook_update
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.sources.external.services import (
    ExternalSourceConfig,
    external_source_create,
    external_source_update,
)
from teams.activity.reading import readable_activities
from teams.models import Activity, Membership, Role, Team, User
from teams.people import person_update
from teams.principal import SYSTEM
from teams.readings.expired_lines import activities_prune
from teams.services import membership_set, team_create
from tests.pages.conftest import SignedIn, text_of

LOG = "/activity/"


def key_of(agent: Agent) -> ApiKey:
    return api_key_create(agent=agent, name="CI")[0]


def context_of(agent: Agent) -> Assembly:
    return assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest()).assembly


def with_second_factor(person: User) -> bool:
    """Set up an authenticator app for the person."""
    return bool(Authenticator.objects.create(user=person, type=Authenticator.Type.TOTP, data={}))


Act = Callable[[Client, Agent, User], Any]


def posted(path: str, **data: str) -> Act:
    return lambda browser, _agent, mate: browser.post(path.format(mate=mate.id), data)


ACTS: dict[str, tuple[Act, str]] = {
    "person.created": (posted("/people/", username="newbie", name="New"), "New"),
    "person.changed": (posted("/people/{mate}/", name="Timothy", is_active="on"), "Tim"),
    "person.password_reset": (posted("/people/{mate}/password/"), "Tim"),
    "person.signed_out": (posted("/people/{mate}/sign-out/"), "Tim"),
    "person.second_factor_removed": (
        lambda browser, _agent, mate: with_second_factor(mate) and browser.post(f"/people/{mate.id}/second-factor/"),
        "Tim",
    ),
    "team.created": (posted("/teams/new/", name="Care"), "Care"),
    "team.deleted": (posted("/teams/demo/delete/", typed="demo"), "Demo"),
    "member.set": (posted("/teams/demo/members/{mate}/role/", role="admin"), "Tim"),
    "member.removed": (posted("/teams/demo/members/{mate}/remove/"), "Tim"),
    "agent.deleted": (posted("/agents/luna/delete/", typed="luna"), "Luna"),
    "key.created": (posted("/agents/luna/keys/", name="CI", lifetime="90"), "CI"),
    "key.revoked": (lambda browser, agent, _mate: browser.post(f"/agents/luna/keys/{key_of(agent).id}/revoke/"), "CI"),
    "export.downloaded": (lambda browser, _agent, _mate: browser.get("/agents/luna/export/download/"), ".zip"),
    "bundle.downloaded": (
        lambda browser, agent, _mate: browser.get(f"/contexts/{context_of(agent).id}/bundle/"), "Luna",
    ),
}  # fmt: skip


@pytest.mark.parametrize("action", sorted(ACTS))
def test_each_act_is_recorded_with_its_actor(
    action: str, signed_in: SignedIn, admin: User, agent: Agent, teammate: User
) -> None:
    act, target = ACTS[action]
    answer = act(signed_in(admin), agent, teammate)
    assert answer.status_code < 400
    found = Activity.objects.filter(action=action, actor=admin.principal.ref).get()
    assert (found.actor, found.actor_name) == (admin.principal.ref, str(admin))
    assert target in found.target


def test_an_entry_says_what_it_was_before(signed_in: SignedIn, admin: User, team: Team, teammate: User) -> None:
    membership_set(team=team, user=teammate, role=Role.VIEWER)
    browser = signed_in(admin)
    browser.post(f"/teams/demo/members/{teammate.id}/role/", {"role": "editor"})
    assert Activity.objects.first().detail == {"team": "Demo", "role": "editor", "before": {"role": "viewer"}}  # type: ignore[union-attr]
    assert "role: viewer → editor" in text_of(browser.get(LOG))


def test_what_is_refused_or_changes_nothing_leaves_no_entry(
    signed_in: SignedIn, teammate: User, owner: User, team: Team
) -> None:
    before = Activity.objects.count()
    signed_in(teammate).post(f"/teams/demo/members/{owner.id}/remove/")
    membership_set(team=team, user=teammate, role=Membership.objects.get(team=team, user=teammate).role)
    assert Activity.objects.count() == before


def test_who_manages_a_team_reads_of_it_and_nobody_else_does(
    *, signed_in: SignedIn, admin: User, owner: User, teammate: User, outsider: User, team: Team
) -> None:
    membership_set(team=team, user=outsider, role=Role.VIEWER, principal=admin.principal)
    team_create(slug="secret", name="Secret", principal=SYSTEM)
    assert "Secret" in text_of(signed_in(admin).get(LOG))
    page = text_of(signed_in(owner).get(LOG))
    assert str(outsider) in page
    assert "Secret" not in page
    for person in (teammate, outsider):
        browser = signed_in(person)
        assert "No activity yet" in text_of(browser.get(LOG))
        assert browser.get("/activity/log.csv").content.count(b"\n") == 1
    assert Client().get(LOG).status_code == 302


def test_an_admin_of_one_team_reads_of_its_agents_and_no_name_of_another_team(
    *, signed_in: SignedIn, admin: User, owner: User, agent: Agent, team: Team
) -> None:
    secret = team_create(slug="secret", name="Secret merger", principal=SYSTEM)
    nova = agent_create(slug="nova", name="Nova", teams=[secret, team], principal=admin.principal)
    agent_update(agent=nova, expected_version=1, name="Nova 2", timezone="UTC", teams=[team], principal=admin.principal)
    api_key_create(agent=nova, name="Night", principal=admin.principal)
    page = text_of(signed_in(owner).get(LOG))
    assert "Secret" not in page
    for entry in ("Agent created", "Agent added to team", "Nova → Nova 2", "Night"):
        assert entry in page
    assert "<td>Agent removed from team</td>" not in page
    assert "Secret merger" in text_of(signed_in(admin).get(LOG))
    for joined in (team, secret):  # whichever of the teams of an agent comes first
        assert Activity.objects.filter(action="agent.created", team_ids__contains=[joined.id]).exists()


def test_tokens_in_addresses_are_not_recorded(signed_in: SignedIn, admin: User, team: Team) -> None:
    facts = WebhookFacts("", "https://8.8.8.8/hook/s3cret?key=s3cret", ("alert.opened",))
    webhook = webhook_create(facts=facts, team=team.slug, principal=admin.principal)
    webhook_update(
        webhook=webhook,
        facts=replace(facts, url="https://8.8.8.8/hook/s3cret2"),
        expected_version=1,
        principal=admin.principal,
    )
    source = ExternalSourceConfig("", "https://8.8.8.8/ask?token=s3cret")
    row = external_source_create(name="wiki", facts=source, secret="s3cret", principal=admin.principal)
    external_source_update(
        source=row,
        facts=replace(source, limit=7),
        secret="s3cret2",
        expected_version=1,
        principal=admin.principal,
    )
    entries = str(list(Activity.objects.values()))
    assert "8.8.8.8" in entries
    assert "s3cret" not in entries
    page = text_of(signed_in(admin).get(LOG))
    assert "url changed: yes" in page
    assert "secret changed: yes" in page


def test_admin_keys_that_end_with_the_rights_of_their_creator_are_recorded(admin: User, owner: User) -> None:
    changed = person_update(person=owner, name="Olga", is_admin=True, is_active=True, principal=admin.principal)
    api_key_create(agent=None, name="Audit", principal=changed.principal)
    person_update(person=owner, name="Olga", is_admin=False, is_active=True, principal=admin.principal)
    entry = Activity.objects.get(action="key.revoked")
    assert (entry.target, entry.actor) == ("Audit", admin.principal.ref)


def test_limits_are_recorded_for_the_teams_of_their_subject(admin: User, owner: User, team: Team, agent: Agent) -> None:
    subjects = [team_subject(admin.principal, team.slug), agent_subject(admin.principal, agent.slug)]
    for subject in subjects:
        for _ in range(2):  # the second time nothing is changed
            limits_set(subject=subject, limits=dict.fromkeys(LIMIT_NAMES, 5), principal=admin.principal)
    assert readable_activities(owner.principal).filter(action="limits.set").count() == 2


def test_entries_cannot_be_changed_or_deleted(admin: User) -> None:
    team_create(slug="care", name="Care", principal=admin.principal)
    with pytest.raises(DatabaseError), transaction.atomic():
        Activity.objects.update(target="x")
    with pytest.raises(DatabaseError), transaction.atomic():
        Activity.objects.all().delete()


def test_entries_go_when_their_time_is_over(settings: Any) -> None:
    now = timezone.now()
    for days in (1, 50, 399, 401, 800):
        with patch("django.utils.timezone.now", return_value=now - datetime.timedelta(days=days)):
            team_create(slug=f"t{days}", name=f"{days} days", principal=SYSTEM)
    assert activities_prune() == 2
    assert set(Activity.objects.values_list("target", flat=True)) == {"1 days", "50 days", "399 days"}
    settings.ACTIVITIES_DAYS = 1  # less than the database allows
    with patch("teams.readings.expired_lines.BATCH", 1):
        assert activities_prune() == 2
    assert Activity.objects.get().target == "1 days"


def test_an_entry_says_from_where_and_why(signed_in: SignedIn, admin: User, team: Team) -> None:
    Activity.objects.create(actor="system", action="team.created", target="Old")
    team_create(slug="job", name="By a command", principal=SYSTEM)
    browser = signed_in(admin)
    browser.post("/teams/new/", {"name": "Care"}, REMOTE_ADDR="192.0.2.7")
    _key, secret = api_key_create(agent=None, name="Audit", principal=admin.principal)
    api = Client(headers={"authorization": f"Bearer {secret}"}, REMOTE_ADDR="192.0.2.8")
    held = {"kind": "team", "target": str(team.id), "reason": "Case 4711"}
    assert api.post("/api/v1/legal-holds", held, content_type="application/json").status_code == 201
    found = api.get("/api/v1/activities").json()["results"]
    expected = {
        "Old": (None, ""), "By a command": ("", ""), "Care": ("192.0.2.7", ""),
        f"team:{team.id}": ("192.0.2.8", "Case 4711"),
    }  # fmt: skip
    assert expected.items() <= {one["target"]: (one["address"], one["reason"]) for one in found}.items()
    page = text_of(browser.get(LOG))
    for shown in ("192.0.2.7", "192.0.2.8", "Case 4711", "unknown"):
        assert shown in page
    assert "Case 4711" not in text_of(browser.get(f"{LOG}?q=192.0.2.7"))
    rows = list(csv.DictReader(io.StringIO(browser.get("/activity/log.csv?q=192.0.2.8").content.decode())))
    assert [(row["address"], row["reason"]) for row in rows] == [("192.0.2.8", "Case 4711")]


def test_filters_and_the_csv_agree(signed_in: SignedIn, admin: User) -> None:
    for name in ("Care", "=Sum", "Ops"):
        team_create(slug=name.strip("=").lower(), name=name, principal=SYSTEM)
    browser = signed_in(admin)
    page = text_of(browser.get(f"{LOG}?q=care&action=team.created&days=7"))
    assert "Care" in page
    assert ">Ops<" not in page
    rows = list(csv.DictReader(io.StringIO(browser.get("/activity/log.csv?q=sum").content.decode())))
    assert [row["target"] for row in rows] == ["'=Sum"]
    assert browser.get(f"{LOG}?action=nope").status_code == 422


def test_a_file_that_is_cut_says_where_the_rest_is(signed_in: SignedIn, admin: User) -> None:
    for number in range(5):
        team_create(slug=f"t{number}", name=f"T {number}", principal=SYSTEM)
    browser, path, targets = signed_in(admin), "/activity/log.csv?action=team.created", []
    with patch("teams.activity.log_files.MAX_FILE_ROWS", 2):
        while path:
            *rows, last = csv.DictReader(io.StringIO(browser.get(path).content.decode()))
            told, _, path = last["created_at"].partition("older ones: ")
            targets += [row["target"] for row in (rows if path else [*rows, last])]
            assert not path or told == "This file has 2 lines. There are "
    assert targets == [f"T {number}" for number in reversed(range(5))]
    entries = Activity.objects.filter(action="export.downloaded", target="activity.csv")
    assert sorted(entry.detail["rows"] for entry in entries) == [1, 2, 2]


def test_the_log_takes_few_queries(signed_in: SignedIn, admin: User, django_assert_num_queries: Any) -> None:
    browser = signed_in(admin)
    browser.get(LOG)
    for number in range(30):
        team_create(slug=f"t{number}", name=f"T {number}", principal=SYSTEM)
    with django_assert_num_queries(3):
        browser.get(LOG)


def test_the_api_lists_what_the_page_shows(admin: User, owner: User, team: Team, outsider: User) -> None:
    team_create(slug="secret", name="Secret", principal=SYSTEM)
    _key, secret = api_key_create(agent=None, name="Audit", principal=admin.principal)
    api = Client(headers={"authorization": f"Bearer {secret}"})
    found = api.get("/api/v1/activities?limit=2").json()
    assert [one["action"] for one in found["results"]] == ["key.created", "team.created"]
    assert found["results"][0]["actor"] == {"type": "person", "ref": admin.principal.ref, "name": str(admin)}
    assert secret not in str(found)
    assert api.get("/api/v1/activities?action=nope").status_code == 422
    assert api.get("/api/v1/activities?action=team.created").json()["results"][0]["target"] == "Secret"


def test_the_key_of_an_agent_reads_nothing(agent: Agent) -> None:
    _key, secret = api_key_create(agent=agent, name="Luna", principal=SYSTEM)
    assert Client(headers={"authorization": f"Bearer {secret}"}).get("/api/v1/activities").json()["results"] == []
