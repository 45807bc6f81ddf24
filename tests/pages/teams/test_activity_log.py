"""Administrative acts are recorded with who, what and when, and are read by those who manage."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Activity, Membership, Role, Team, User
from teams.principal import SYSTEM
from teams.services import membership_set, team_create
from tests.pages.conftest import SignedIn, text_of

LOG = "/activity/"


def key_of(agent: Agent) -> ApiKey:
    return api_key_create(agent=agent, name="CI")[0]


def context_of(agent: Agent) -> Assembly:
    return assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest()).assembly


Act = Callable[[Client, Agent, User], Any]


def posted(path: str, **data: str) -> Act:
    return lambda browser, _agent, mate: browser.post(path.format(mate=mate.id), data)


ACTS: dict[str, tuple[Act, str]] = {
    "person.created": (posted("/people/", username="newbie", name="New"), "New"),
    "person.changed": (posted("/people/{mate}/", name="Timothy", is_active="on"), "Tim"),
    "person.password_reset": (posted("/people/{mate}/password/"), "Tim"),
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


def test_entries_cannot_be_changed_or_deleted(admin: User) -> None:
    team_create(slug="care", name="Care", principal=admin.principal)
    with pytest.raises(DatabaseError), transaction.atomic():
        Activity.objects.update(target="x")
    with pytest.raises(DatabaseError), transaction.atomic():
        Activity.objects.all().delete()


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
    assert found["results"][0]["actor"] == {"ref": admin.principal.ref, "name": str(admin)}
    assert secret not in str(found)
    assert api.get("/api/v1/activities?action=nope").status_code == 422
    assert api.get("/api/v1/activities?action=team.created").json()["results"][0]["target"] == "Secret"


def test_the_key_of_an_agent_reads_nothing(agent: Agent) -> None:
    _key, secret = api_key_create(agent=agent, name="Luna", principal=SYSTEM)
    assert Client(headers={"authorization": f"Bearer {secret}"}).get("/api/v1/activities").json()["results"] == []
