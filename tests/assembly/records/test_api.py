"""REST: for how long contexts are kept, flags, and bundles: who may, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Assembly, AssemblyFlag, RetentionPolicy
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.bundle_reader import read_bundle
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db
As = Callable[[User], Api]


@pytest.fixture
def members(owner: User, editor: User, teammate: User, agent_api: Api, as_person: As) -> tuple[Api, ...]:
    """The team's admin, its editor, its viewer, and the key of its agent."""
    return (*map(as_person, (owner, editor, teammate)), agent_api)


@pytest.fixture
def strangers(outsider: User, other_agent_api: Api, as_person: As) -> tuple[Api, ...]:
    return as_person(outsider), other_agent_api


@pytest.fixture
def record(agent: Agent, team: Team) -> Assembly:
    return assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=SYSTEM).assembly


def test_a_team_has_the_organisations_time_until_it_has_its_own(
    admin_api: Api, owner: User, team: Team, as_person: As
) -> None:
    assert admin_api.put("retention", {"days": 365}, if_none_match="*").json()["version"] == 1
    of_owner = as_person(owner)
    inherited = of_owner.get("teams/care/retention")
    assert (inherited.json()["days"], inherited.json()["inherited"], inherited["ETag"]) == (365, True, '"0"')
    saved = of_owner.put("teams/care/retention", {"days": 30, "keep_flagged": False}, if_none_match="*")
    assert (saved.status_code, saved["ETag"]) == (200, '"1"')
    assert saved.json()["updated_by"]["name"] == "Olga Owner"
    for_ever = of_owner.put("teams/care/retention", {"days": None}, if_match='"1"').json()
    assert (for_ever["days"], for_ever["keep_flagged"], for_ever["version"]) == (None, True, 2)
    assert of_owner.delete("teams/care/retention").status_code == 204
    assert of_owner.get("teams/care/retention").json()["days"] == 365


def test_nobody_overwrites_what_he_has_not_read(admin_api: Api) -> None:
    assert problem(admin_api.put("retention", {"days": 1})) == (428, "precondition_required")
    admin_api.put("retention", {"days": 30}, if_none_match="*")
    assert problem(admin_api.put("retention", {"days": 1}, if_none_match="*")) == (412, "precondition_failed")
    stale = admin_api.put("retention", {"days": 1}, if_match='"7"')
    assert problem(stale) == (412, "stale_version")
    assert stale.json()["current"]["days"] == 30
    assert admin_api.put("retention", {"days": 30}, if_match='"1"').json()["version"] == 1, "the same makes no version"


@pytest.mark.parametrize("days", [0, -1, 36_501, "30", 1.5, True, 10**30, []])
def test_days_that_are_none_are_refused(days: Any, admin_api: Api) -> None:
    assert errors_of(admin_api.put("retention", {"days": days}, if_none_match="*")) == {"days"}
    assert not RetentionPolicy.objects.exists()


def test_only_admins_say_for_how_long(members: tuple[Api, ...], strangers: tuple[Api, ...]) -> None:
    for api in (*members, *strangers):
        assert problem(api.put("retention", {"days": 1}, if_none_match="*"))[0] == 403
        assert problem(api.delete("retention"))[0] == 403
    for api in members[1:]:
        assert api.get("teams/care/retention").status_code == 200
        assert problem(api.put("teams/care/retention", {"days": 1}, if_none_match="*"))[0] == 403
    for api in strangers:
        assert problem(api.get("teams/care/retention"))[0] == 404
    assert problem(members[0].delete("teams/care/retention"))[0] == 404, "there is none of its own"


def test_an_editor_flags_a_context_and_a_viewer_does_not(
    record: Assembly, members: tuple[Api, ...], strangers: tuple[Api, ...]
) -> None:
    address = f"assemblies/{record.id}/flag"
    _, of_editor, viewer, _ = members
    assert problem(of_editor.get(address))[0] == 404
    flagged = of_editor.put(address, {"note": "for the auditor"})
    assert (flagged.json()["note"], flagged.json()["created_by"]["name"]) == ("for the auditor", "Edda Editor")
    assert of_editor.put(address, {"note": "again"}).json()["note"] == "for the auditor"
    assert errors_of(of_editor.put(address, {"note": "x" * 201})) == {"note"}
    assert viewer.get(address).status_code == 200
    assert problem(viewer.put(address, {}))[0] == problem(viewer.delete(address))[0] == 403
    for stranger in strangers:
        assert {problem(stranger.send(method, address, {}))[0] for method in ("GET", "PUT", "DELETE")} == {404}
    assert of_editor.delete(address).status_code == 204
    assert not AssemblyFlag.objects.exists()


def test_a_bundle_is_for_those_who_see_the_context(
    record: Assembly, members: tuple[Api, ...], strangers: tuple[Api, ...]
) -> None:
    address = f"assemblies/{record.id}/bundle"
    for api in members[2:]:
        answer = api.get(address)
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
        assert set(read_bundle(answer.content).records) == {record.id}
    for stranger in strangers:
        assert problem(stranger.get(address))[0] == 404
