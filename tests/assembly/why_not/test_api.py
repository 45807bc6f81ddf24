"""GET /assemblies/{id}/why-not: for whoever may see the assembly; what it names does bring the thing in."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from agents.models import Agent
from agents.services import daily_log_append
from assembly.models import Assembly, StoredRule
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from assembly.sources.base import RequestFilters
from assembly.why_not.changes import RemedyChange, apply_changes
from memories.models import Entity, Memory
from memories.services import MemoryFacts, memories_create, memory_create, memory_update
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_create, file_save
from tests.assembly.conftest import NOW
from tests.assembly.failing_sources import raising, replaced
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def memories(team: Team) -> list[Memory]:
    """Eight of the team, of which five have a place: the newest."""
    facts = [MemoryFacts(kind="fact", text=f"The stage number {number} is free") for number in range(8)]
    memories_create(owner=team, facts=facts, principal=SYSTEM)
    return list(Memory.objects.filter(team=team).order_by("id"))


@pytest.fixture
def told(agent: Agent, team: Team, memories: list[Memory]) -> Assembly:
    return assembled(agent, team)


def assembled(agent: Agent, team: Team | None, **wishes: Any) -> Assembly:
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(**wishes)).assembly


def asked(api: Api, told: Assembly, query: str) -> Any:
    answer = api.get(f"assemblies/{told.id}/why-not?{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def brings_it_in(told: Assembly, answer: Any, remedy: Any) -> bool:
    """Whether exactly the changes of the answer bring it in, made on what the record holds."""
    changes = [RemedyChange(**change) for change in remedy["changes"]]
    after = apply_changes(load_record(told).inputs, changes).assembled()
    return any(one.ref == answer["decision"]["ref"] and one.included for one in after.decisions)


def test_it_says_where_it_ranked_what_beat_it_and_what_would_bring_it_in(
    agent_api: Api, told: Assembly, memories: list[Memory]
) -> None:
    answer = asked(agent_api, told, f"ref=memory:{memories[0].id}")
    assert (answer["considered"], answer["decision"]["included"]) == (True, False)
    assert answer["reason"].startswith("Ranked 8; the limit of Team Knowledge is 5.")
    around = answer["ranking"]["around"]
    assert [one["rank"] for one in around] == [3, 4, 5, 6, 7, 8]
    assert around[-1]["ref"] == f"memory:{memories[0].id}@1"
    assert (answer["ranking"]["above"], answer["ranking"]["below"]) == (2, 0)
    remedies = {remedy["changes"][-1]["kind"]: remedy for remedy in answer["remedies"]}
    assert remedies["top_k"]["message"] == "It would be included if Team memories had a limit of 8 items instead of 5."
    assert len(remedies["top_k"]["included_refs"]) == 3
    assert remedies["pin"]["excluded_refs"] == [f"memory:{memories[3].id}@1"]
    assert remedies["pin"]["side_effects"] == "Replaces: “The stage number 3 is free”."
    assert all(brings_it_in(told, answer, remedy) for remedy in answer["remedies"])


def test_what_has_no_room_would_fit_with_so_many_tokens_more(agent_api: Api, agent: Agent, team: Team) -> None:
    daily_log_append(agent=agent, date=NOW.date(), text="Rehearsed the whole play twice.", principal=SYSTEM)
    told = assembled(agent, team, max_tokens=12, now=NOW)
    answer = asked(agent_api, told, "q=rehearsed")
    budgets = [remedy for remedy in answer["remedies"] if remedy["changes"][0]["kind"] == "budget"]
    (whole,) = [remedy for remedy in budgets if remedy["code"] == "fits"]
    more = int(whole["changes"][0]["value"]) - 12
    assert f"with {more} more tokens" in whole["message"]
    codes = [
        next(one.code for one in load_record(again).decisions if one.ref == answer["decision"]["ref"])
        for again in (assembled(agent, team, max_tokens=12 + tokens, now=NOW) for tokens in (more, more - 1))
    ]
    assert codes == ["fits", "truncated"], "told again for real, it is as it was said"


def test_what_a_rule_a_filter_or_time_leaves_out(
    agent_api: Api, agent: Agent, team: Team, memories: list[Memory]
) -> None:
    content = "then: {exclude: [{memory_kind: fact}]}\n"
    file_create(file=StoredRule(name="no-facts", team=team, content=content), author=SYSTEM.author)
    newest, retired = memories[-1], memories[-2]
    memory_update(
        memory=retired, facts=MemoryFacts(kind="note", text="Once so"), principal=SYSTEM,
        expected_version=1, superseded_by=None, retired_because="It was moved",
    )  # fmt: skip
    file = team.files.get(file_key="GOALS")
    file_save(file=file, content="Sell every seat.", expected_version=1, author=SYSTEM.author)
    told = assembled(agent, team, filters=RequestFilters(exclude=(f"team_file:{file.id}",)))
    kinds = {}
    for ref in (f"memory:{newest.id}", f"memory:{retired.id}", f"team_file:{file.id}"):
        answer = asked(agent_api, told, f"ref={ref}")
        kinds[answer["decision"]["code"]] = answer["remedies"][0]["changes"][0]["kind"]
        assert all(brings_it_in(told, answer, remedy) for remedy in answer["remedies"])
    assert kinds == {"rule_excluded": "without_rule", "expired": "not_archived", "filtered": "without_exclusion"}


def test_what_is_in_has_a_standing_and_needs_no_remedy(agent_api: Api, told: Assembly) -> None:
    answer = asked(agent_api, told, "q=instructions")
    assert answer["decision"]["code"] == "required"
    assert answer["remedies"] == []
    assert answer["reason"] == "Required: Instructions is always included in full."


def test_words_that_fit_several_answer_for_the_best_and_name_the_others(agent_api: Api, told: Assembly) -> None:
    answer = asked(agent_api, told, "q=stage+number")
    assert len(answer["matches"]) == 8
    assert not answer["matches"][0]["included"], "of equals, what is missing comes first"
    assert answer["matches"][0]["ref"] == answer["decision"]["ref"]


def test_words_in_another_form_find_what_was_considered(agent_api: Api, told: Assembly, memories: list[Memory]) -> None:
    answer = asked(agent_api, told, "q=stages+numbered+1")
    assert answer["decision"]["ref"] == f"memory:{memories[1].id}@1"


def test_an_older_version_answers_for_the_thing(agent_api: Api, told: Assembly, memories: list[Memory]) -> None:
    answer = asked(agent_api, told, f"ref=memory:{memories[0].id}@7")
    assert answer["decision"]["ref"] == f"memory:{memories[0].id}@1"


def reason(answer: Any) -> Any:
    assert (answer["considered"], answer["decision"], answer["remedies"]) == (False, None, [])
    return answer["not_considered"][0]["code"]


def test_what_was_not_considered_says_why(
    agent_api: Api, agent: Agent, team: Team, memories: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    entity = Entity.objects.create(agent=agent, type="person", name="Grace Hopper")
    facts = [MemoryFacts(kind="fact", text=f"Newer {number}") for number in range(40)]
    memories_create(owner=team, facts=facts, principal=SYSTEM)
    told = assembled(agent, team, now=NOW)
    assert reason(asked(agent_api, told, f"ref=entity:{entity.id}")) == "no_section"
    assert reason(asked(agent_api, told, "q=hopper")) == "no_section"
    assert reason(asked(agent_api, told, f"ref=memory:{memories[0].id}")) == "not_selected"
    late = memory_create(owner=team, facts=MemoryFacts(kind="fact", text="Too late"), principal=SYSTEM)
    assert reason(asked(agent_api, told, f"ref={late.id}")) == "created_later"
    replaced(monkeypatch, "team_memories", raising)
    broken = assembled(agent, team, budgets=RequestBudgets(time_ms=5_000))
    assert reason(asked(agent_api, broken, f"ref=memory:{memories[0].id}")) == "source_failed"


def test_what_belongs_to_others_is_as_unknown_as_what_is_not_there(admin_api: Api, told: Assembly) -> None:
    far = team_create(slug="far-away", name="Far")
    secret = memory_create(owner=far, facts=MemoryFacts(kind="fact", text="Velvet"), principal=SYSTEM)
    answers = [
        asked(admin_api, told, query) for query in (f"ref=memory:{secret.id}", f"ref=memory:{uuid4()}", "q=velvet")
    ]
    assert answers[0] == answers[1] == answers[2]
    assert reason(answers[0]) == "unknown"


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("", {"ref"}),
        ("q=", {"ref"}),
        ("q=%20", {"ref"}),
        ("ref=%00", {"ref"}),
        (f"q={'x' * 401}", {"q"}),
        ("why=not", {"why"}),
    ],
)
def test_what_cannot_be_asked_is_explained(agent_api: Api, told: Assembly, query: str, fields: set[str]) -> None:
    assert errors_of(agent_api.get(f"assemblies/{told.id}/why-not?{query}")) == fields


@pytest.mark.parametrize(
    "query", ["ref=memory:", "ref=:::", "ref=@", "q=@", "q=%", "q=a'b\\", "q=(", "ref=chunk:x@1#2"]
)
def test_odd_questions_have_an_answer(agent_api: Api, told: Assembly, query: str) -> None:
    assert reason(asked(agent_api, told, query)) == "unknown"


def test_only_those_who_may_see_the_assembly_are_answered(
    told: Assembly, teammate: User, outsider: User, other_agent_api: Api, as_person: Callable[[User], Api]
) -> None:
    path = f"assemblies/{told.id}/why-not?q=stage"
    assert as_person(teammate).get(path).status_code == 200
    for stranger in (as_person(outsider), other_agent_api):
        assert problem(stranger.get(path)) == (404, "not_found")
    assert problem(Api().get(path)) == (401, "not_authenticated")


def test_it_is_read_with_few_queries(agent_api: Api, told: Assembly, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(5):
        asked(agent_api, told, "q=stage")
