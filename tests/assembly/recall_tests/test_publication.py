"""Recall tests on a draft before it is published: a test that holds today fails on a draft that breaks it."""

import pytest

from agents.keys import api_key_create
from agents.models import Agent, AgentFile
from agents.services import agent_delete
from assembly.models import PublicationGuard, RecallResult, RecallTest, StoredProfile
from assembly.profiles.services import profile_create, profile_delete
from assembly.profiles.shipped import SHIPPED
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.publication import (
    find_guarded_text,
    has_guard,
    publication_guard_set,
    runs_concerned,
    try_draft,
    try_profile,
    try_rule,
    visible_runs,
)
from assembly.rules.catalogue import parse_draft_rule
from assembly.rules.services import rule_create
from config.http.errors import Forbidden, NotFound
from memories.models import Memory
from teams.activity.models import Activity
from teams.models import Team, TeamFile, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM, Action
from teams.services import team_update
from teams.versioned_text.versioned_file import file_save
from tests.assembly.recall_tests.conftest import RULE_TEXT, create
from tests.client import Api, problem

pytestmark = pytest.mark.django_db

BROKEN = "# Refunds\n\nAsk the finance team.\n"
REASON = "It is in the published version of Knowledge, and not in the draft."


def guard(about: str) -> None:
    publication_guard_set(text=find_guarded_text(SYSTEM, about), guarded=True, principal=SYSTEM)


def test_a_draft_that_breaks_a_test_is_seen_before_publishing(refund_test: RecallTest, knowledge: AgentFile) -> None:
    report = try_draft(SYSTEM, knowledge.about, BROKEN)
    (failed,) = report.failed
    assert (failed.run.test, failed.held_before, failed.reasons) == (refund_test, True, [REASON])
    assert not try_draft(SYSTEM, knowledge.about, knowledge.content + "More.").failed
    assert not RecallResult.objects.exists()


def test_a_guarded_file_refuses_the_draft_over_rest_with_which_and_why(
    refund_test: RecallTest, knowledge: AgentFile, admin_api: Api
) -> None:
    guard(knowledge.about)
    path, version = "agents/ada/files/KNOWLEDGE", f'"{knowledge.version}"'
    refused = admin_api.put(path, {"content": BROKEN}, if_match=version)
    assert problem(refused) == (409, "publication_refused")
    document = refused.json()
    assert document["detail"] == (
        f"Nothing was published: 1 recall test fails with this text. “Refunds” for Ada: “{RULE_TEXT}”: {REASON}"
    )
    (test,) = document["tests"]
    assert (test["id"], test["agent"], test["held_before"]) == (str(refund_test.id), "ada", True)
    assert [failure["reason"] for failure in test["failures"]] == [REASON]
    knowledge.refresh_from_db()
    assert knowledge.content != BROKEN
    fine = admin_api.put(path, {"content": f"{knowledge.content}\nMore.\n"}, if_match=version)
    assert fine.status_code == 200, fine.content


def test_without_a_guard_the_draft_is_published(refund_test: RecallTest, knowledge: AgentFile, admin_api: Api) -> None:
    answer = admin_api.put("agents/ada/files/KNOWLEDGE", {"content": BROKEN}, if_match=f'"{knowledge.version}"')
    assert answer.status_code == 200


def test_a_guarded_text_of_a_team_and_of_the_organisation_is_refused(agent: Agent, team: Team, admin_api: Api) -> None:
    create(Expectation("exclude", text="forbidden words"), agent=None, team=team)
    create(Expectation("exclude", text="forbidden words"), agent=None, team=team, profile="memory", name="Wide")
    goals = TeamFile.objects.get(team=team, file_key="GOALS")
    file = organisation_file_create(key="promises", title="Promises", principal=SYSTEM)
    guard(goals.about)
    guard(file.about)
    refused = admin_api.put("teams/care/files/GOALS", {"content": "Forbidden words"}, if_match='"1"')
    assert problem(refused) == (409, "publication_refused")
    path = f"organisation/files/{file.file_key}"
    answer = admin_api.put(path, {"content": "# Refunds\n\nForbidden words on parcels."}, if_match='"1"')
    assert problem(answer) == (409, "publication_refused")
    assert [test["name"] for test in answer.json()["tests"]] == ["Wide"], "the own profile has no such files"


def test_a_guarded_profile_is_refused(agent: Agent, team: Team, memory: Memory, admin_api: Api) -> None:
    text = SHIPPED["operations"].replace("name: operations", "name: house")
    profile_create(name="house", content=text, principal=SYSTEM)
    create(Expectation("include", ref=memory.ref), agent=agent, team=team, profile="house")
    section = "{key: identity, heading: Identity, layer: L1, source: agent_files, shape: text}"
    poor = f"name: house\nbudget: 400\nsections:\n  - {section}\n"
    (failed,) = try_profile(SYSTEM, "house", poor).failed
    assert [failure.code for failure in failed.failures] == ["no_section"]
    guard("profile:house")
    refused = admin_api.put("profiles/house", {"content": poor}, if_match='"1"')
    assert problem(refused) == (409, "publication_refused")
    assert "has no section for it" in refused.json()["detail"]
    assert StoredProfile.objects.get(name="house").version == 1
    profile_delete(name="house", principal=SYSTEM)
    assert not has_guard("profile:house")


def test_a_rule_is_tried_on_the_tests_of_its_owner(refund_test: RecallTest, agent: Agent, team: Team) -> None:
    rule = parse_draft_rule("then: {exclude: [{source: agent_memories}]}\n", name="r", version=1, scope="team")
    for owner in (agent, team, None):
        (failed,) = try_rule(SYSTEM, rule, owner).failed
        assert [failure.code for failure in failed.failures] == ["rule_excluded"]


def test_a_rule_is_tried_over_rest_before_it_counts(
    refund_test: RecallTest, team: Team, editor: User, teammate: User, outsider: User
) -> None:
    text = "then: {exclude: [{source: agent_memories}]}"
    said = {"content": text, "team": team.slug}
    answer = Api(person=editor.principal).post("rules/recall-tests", said)
    assert answer.status_code == 200
    (result,) = answer.json()["results"]
    assert (answer.json()["passed"], answer.json()["not_run"]) == (False, 0)
    assert (result["id"], result["agent"], result["held_before"]) == (str(refund_test.id), "ada", True)
    assert [one["code"] for one in result["expectations"] if not one["passed"]] == ["rule_excluded"]
    assert not RecallResult.objects.exists()
    rule_create(name="quiet", content="then: {exclude: [{source: daily_logs}]}", owner=team, principal=SYSTEM)
    stored = Api(person=teammate.principal).post("rules/recall-tests", {"name": "quiet"})
    assert stored.json()["passed"] is True
    assert Api(person=teammate.principal).post("rules/recall-tests", said).status_code == 403
    for body in (said, {"name": "quiet"}):
        assert Api(person=outsider.principal).post("rules/recall-tests", body).status_code == 404
    wrong = Api(person=editor.principal).post("rules/recall-tests", {**said, "content": "then: 1"})
    assert (wrong.status_code, set(wrong.json()["errors"])) == (422, {"content"})


def test_a_text_is_tried_over_rest_before_it_is_published(
    refund_test: RecallTest, knowledge: AgentFile, editor: User, teammate: User, outsider: User
) -> None:
    said = {"agent": "ada", "file": "KNOWLEDGE", "content": BROKEN}
    answer = Api(person=editor.principal).post("recall-tests/trial", said)
    assert (answer.status_code, answer.json()["passed"], answer.json()["not_run"]) == (200, False, 0)
    (result,) = answer.json()["results"]
    assert (result["id"], result["held_before"]) == (str(refund_test.id), True)
    assert [one["reason"] for one in result["expectations"] if not one["passed"]] == [REASON]
    assert Api(person=editor.principal).post("recall-tests/trial", {**said, "content": RULE_TEXT}).json()["passed"]
    knowledge.refresh_from_db()
    assert (RULE_TEXT in knowledge.content, RecallResult.objects.exists()) == (True, False)
    assert Api(person=teammate.principal).post("recall-tests/trial", said).status_code == 403
    assert Api(person=outsider.principal).post("recall-tests/trial", said).status_code == 404


def test_a_profile_is_tried_over_rest_by_admins(admin_api: Api, editor: User) -> None:
    profile_create(name="house", content=SHIPPED["operations"].replace("operations", "house", 1), principal=SYSTEM)
    of_profile = {"profile": "house", "content": "name: house\nsections: 1"}
    assert Api(person=editor.principal).post("recall-tests/trial", of_profile).status_code == 403
    assert problem(admin_api.post("recall-tests/trial", of_profile))[0] == 422
    fine = admin_api.post(
        "recall-tests/trial", {**of_profile, "content": SHIPPED["operations"].replace("operations", "house", 1)}
    )
    assert fine.json() == {"passed": True, "results": [], "not_run": 0}
    for wrong in ({}, {"agent": "ada", "team": "care", "file": "GOALS"}, {"profile": "house", "file": "GOALS"}):
        assert problem(admin_api.post("recall-tests/trial", {"content": "", **wrong}))[0] == 422


def test_a_guard_is_set_listed_and_removed_over_rest(
    knowledge: AgentFile, admin: User, editor: User, teammate: User, outsider: User
) -> None:
    api, name = Api(person=editor.principal), {"agent": "ada", "file": "KNOWLEDGE"}
    made = api.post("recall-tests/guards", name)
    assert (made.status_code, api.post("recall-tests/guards", name).json()) == (201, made.json())
    assert has_guard(knowledge.about)
    assert {key: made.json()[key] for key in ("agent", "team", "file", "profile")} == {
        "agent": "ada", "team": None, "file": "KNOWLEDGE", "profile": None,
    }  # fmt: skip
    path = f"recall-tests/guards/{made.json()['id']}"
    organisation_file_create(key="promises", title="Promises", principal=SYSTEM)
    profile_create(name="house", content=SHIPPED["operations"].replace("operations", "house", 1), principal=SYSTEM)
    for other in ({"file": "promises"}, {"profile": "house"}, {"team": "care", "file": "GOALS"}):
        assert Api(person=admin.principal).post("recall-tests/guards", other).status_code == 201
    listed = Api(person=teammate.principal).get("recall-tests/guards").json()["results"]
    assert [(one["agent"], one["team"], one["file"], one["profile"]) for one in listed] == [
        (None, "care", "GOALS", None), (None, None, None, "house"), (None, None, "promises", None),
        ("ada", None, "KNOWLEDGE", None),
    ]  # fmt: skip
    assert Api(person=teammate.principal).get(path).status_code == 200
    assert Api(person=teammate.principal).post("recall-tests/guards", name).status_code == 403
    assert Api(person=teammate.principal).delete(path).status_code == 403
    assert api.post("recall-tests/guards", {"profile": "house"}).status_code == 403
    stranger = Api(person=outsider.principal)
    assert {one["file"] for one in stranger.get("recall-tests/guards").json()["results"]} == {"promises", None}
    assert (stranger.get(path).status_code, stranger.delete(path).status_code) == (404, 404)
    assert stranger.post("recall-tests/guards", name).status_code == 404
    assert api.delete(path).status_code == 204
    assert (has_guard(knowledge.about), api.get(path).status_code) == (False, 404)


def test_a_text_concerns_the_tests_whose_contexts_can_have_it(
    refund_test: RecallTest, agent: Agent, team: Team, knowledge: AgentFile
) -> None:
    own = create(Expectation("include", text="x"), agent=agent, team=None, name="Own")
    create(Expectation("include", text="x"), agent=agent, team=team, name="Archived")
    RecallTest.objects.filter(name="Archived").update(archived=own.created)
    goals = TeamFile.objects.get(team=team, file_key="GOALS")
    names = {about: [run.test.name for run in runs_concerned(about)] for about in (
        knowledge.about, goals.about, f"daily_log:{agent.id}/2026-01-05", "profile:conversation", "profile:operations",
        "memory:1", "agent_file:nothing",
    )}  # fmt: skip
    assert list(names.values()) == [["Own", "Refunds"], ["Refunds"], ["Own", "Refunds"], ["Own", "Refunds"], [], [], []]


def test_tests_that_the_author_may_not_see_are_not_named(
    refund_test: RecallTest, knowledge: AgentFile, outsider: User, teammate: User
) -> None:
    runs = runs_concerned(knowledge.about)
    assert visible_runs(teammate.principal, runs) == runs
    assert visible_runs(outsider.principal, runs) == []


def test_who_may_set_a_guard(knowledge: AgentFile, teammate: User, editor: User, outsider: User) -> None:
    assert find_guarded_text(teammate.principal, knowledge.about).agent
    assert find_guarded_text(editor.principal, knowledge.about, Action.EDIT).agent
    with pytest.raises(Forbidden):
        find_guarded_text(teammate.principal, knowledge.about, Action.EDIT)
    with pytest.raises(Forbidden):
        find_guarded_text(editor.principal, "profile:operations", Action.EDIT)
    for about in (knowledge.about, "profile:missing", "agent_file:1", "memory:1"):
        with pytest.raises(NotFound):
            find_guarded_text(outsider.principal, about)


def test_a_guard_is_logged_and_goes_with_the_agent(knowledge: AgentFile, agent: Agent) -> None:
    guard(knowledge.about)
    guard(knowledge.about)
    assert Activity.objects.filter(action="publication_guard.set").count() == 1
    agent_delete(agent=agent, principal=SYSTEM)
    assert not PublicationGuard.objects.exists()


def test_an_agent_guards_no_text_of_its_team_that_people_wrote(agent: Agent, admin: User, team: Team) -> None:
    file = TeamFile.objects.get(team=team, file_key="GOALS")
    api = Api(api_key_create(agent=agent, scopes=["read", "team-files:write"], principal=SYSTEM)[1])
    name = {"team": team.slug, "file": "GOALS"}
    mine = api.post("recall-tests/guards", name)
    assert mine.status_code == 201, "nobody has written it"
    file_save(file=file, content="Be kind.", expected_version=file.version, author=admin.principal.author)
    assert api.delete(f"recall-tests/guards/{mine.json()['id']}").status_code == 403
    guard(file.about)
    refused = api.post("recall-tests/guards", {"team": team.slug, "file": "GOALS"})
    assert problem(refused)[0] == 403
    team_update(team=team, expected_version=team.version, name=team.name, agents_may_change_texts=True)
    assert api.delete(f"recall-tests/guards/{mine.json()['id']}").status_code == 204


def test_an_agent_removes_no_guard_that_people_set_on_its_file(knowledge: AgentFile, agent: Agent) -> None:
    api = Api(api_key_create(agent=agent, scopes=["read", "files:write"], principal=SYSTEM)[1])
    guard(knowledge.about)
    of_people = PublicationGuard.objects.get()
    assert problem(api.delete(f"recall-tests/guards/{of_people.id}"))[0] == 403
    assert PublicationGuard.objects.get() == of_people
    of_people.delete()
    mine = api.post("recall-tests/guards", {"agent": agent.slug, "file": "KNOWLEDGE"})
    assert mine.status_code == 201
    another = Api(api_key_create(agent=agent, scopes=["read", "files:write"], principal=SYSTEM)[1])
    assert another.delete(f"recall-tests/guards/{mine.json()['id']}").status_code == 204


def test_a_test_that_failed_before_refuses_nothing_and_is_named(
    refund_test: RecallTest, knowledge: AgentFile, agent: Agent, team: Team, admin_api: Api
) -> None:
    create(Expectation("include", text="Nobody wrote this."), agent=None, team=team, name="Lost")
    create(Expectation("include", text=RULE_TEXT), agent=agent, team=team, name="Gone")
    RecallTest.objects.filter(name="Gone").update(profile="missing")
    guard(knowledge.about)
    path, version = "agents/ada/files/KNOWLEDGE", f'"{knowledge.version}"'
    refused = admin_api.put(path, {"content": BROKEN}, if_match=version)
    assert problem(refused) == (409, "publication_refused")
    detail = refused.json()["detail"]
    assert detail.startswith("Nothing was published: 1 recall test fails with this text. “Refunds” for Ada: ")
    sentence = "The recall test “{}” for Ada failed before, and fails with this text, too."
    named = [sentence.format("Gone"), sentence.format("Lost")]
    assert detail.endswith(" ".join(named))
    tests = {one["name"]: (one["held_before"], one["broken"]) for one in refused.json()["tests"]}
    assert tests == {"Refunds": (True, True), "Lost": (False, False), "Gone": (False, False)}
    published = admin_api.put(path, {"content": f"{knowledge.content}\nMore.\n"}, if_match=version)
    assert (published.status_code, published.json()["notes"]) == (200, named)


def test_a_text_that_breaks_more_of_a_failing_test_is_refused(knowledge: AgentFile, team: Team, admin_api: Api) -> None:
    both = [Expectation("include", text=text) for text in ("Nobody wrote this.", RULE_TEXT)]
    create(*both, agent=None, team=team)
    guard(knowledge.about)
    refused = admin_api.put("agents/ada/files/KNOWLEDGE", {"content": BROKEN}, if_match=f'"{knowledge.version}"')
    assert problem(refused) == (409, "publication_refused")
    assert "Nobody wrote this." not in refused.json()["detail"]
    (test,) = refused.json()["tests"]
    assert (test["held_before"], test["broken"], len(test["failures"])) == (False, True, 2)


def test_a_profile_that_breaks_nothing_else_is_saved(agent: Agent, team: Team, admin_api: Api) -> None:
    text = SHIPPED["operations"].replace("name: operations", "name: house")
    profile_create(name="house", content=text, principal=SYSTEM)
    create(Expectation("include", text="Nobody wrote this."), agent=agent, team=team, profile="house")
    guard("profile:house")
    saved = admin_api.put("profiles/house", {"content": f"{text}\n"}, if_match='"1"')
    assert (saved.status_code, len(saved.json()["notes"])) == (200, 1)
