"""The page of learned weights: everybody reads, admins learn and switch."""

import datetime
import re
from typing import Any

import pytest

from agents.models import Agent
from assembly.learned_weights import jobs
from assembly.learned_weights.services import shadow_report_create, weights_learn
from assembly.models import Assembly, LearnedWeights
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.learned_weights import profile_in_force
from assembly.profiles.services import profile_create
from memories.models import Job
from teams.models import User
from teams.principal import SYSTEM
from tests import personas as cast
from tests.assembly.learned_weights.conftest import contexts_with_feedback
from tests.assembly.learned_weights.world import NAME, START, WITHOUT_BLOCKS
from tests.pages import personas
from tests.pages.conftest import SignedIn, text_of

pytestmark = pytest.mark.usefixtures("module_database")
owner, editor, teammate, team, agent, contexts = cast.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent, contexts_with_feedback
)

PAGE = f"/profiles/{NAME}/learned-weights/"
SWITCH, LEARN = f"{PAGE}switch/", f"{PAGE}learn/"
LEAST = 50


@pytest.fixture
def learned(contexts: list[Assembly], agent: Agent) -> LearnedWeights:
    moment = START + datetime.timedelta(days=1)
    asked = AssemblyRequest(topic="", profile=NAME, max_tokens=120, now=moment)
    assemble(agent=agent, asked=asked, principal=SYSTEM)
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    shadow_report_create(learned=learned)
    return learned


def test_an_admin_switches_on_and_off(learned: LearnedWeights, signed_in: SignedIn, admin: User) -> None:
    client = signed_in(admin)
    page = client.get(PAGE)
    assert "Switch on" in text_of(page)
    cells = "".join(rf"\s*<td class=\"num\">{one}</td>" for one in (r"0\.80", r"0\.\d\d", r"-0\.\d\d"))
    assert re.search(rf"Recency</th>{cells}", text_of(page))
    assert "With these weights, the recall of used items rises from" in text_of(page)
    on = client.post(SWITCH, {"version": "1", "on": "1"}, follow=True)
    assert "Learned weights switched on." in text_of(on)
    assert profile_in_force(NAME).weights.recency < 0.8
    off = client.post(SWITCH, {"version": "1"}, follow=True)
    assert "Learned weights switched off." in text_of(off)
    assert profile_in_force(NAME).weights.recency == 0.8


def test_the_report_links_to_contexts_that_the_reader_may_see(
    learned: LearnedWeights, signed_in: SignedIn, teammate: User, outsider: User
) -> None:
    differing = Assembly.objects.get(budget=120)
    assert f"/contexts/{differing.id}/" in signed_in(teammate).get(PAGE).content.decode()
    page = signed_in(outsider).get(PAGE)
    assert page.status_code == 200
    assert str(differing.id) not in page.content.decode()


def test_without_a_gain_there_is_no_button_and_the_page_says_why(
    contexts: list[Assembly], signed_in: SignedIn, admin: User
) -> None:
    weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    client = signed_in(admin)
    page = text_of(client.get(PAGE))
    assert "There is no shadow report yet." in page
    assert "Switch on" not in page
    refused = client.post(SWITCH, {"version": "1", "on": "1"}, follow=True)
    assert "There is no shadow report on version 1 yet." in text_of(refused)
    assert not LearnedWeights.objects.filter(state="on").exists()


@pytest.mark.parametrize("who", ["owner", "mixed", "teammate", "outsider"])
def test_only_admins_of_the_organisation_learn_and_switch(
    who: str, learned: LearnedWeights, signed_in: SignedIn, request: pytest.FixtureRequest
) -> None:
    client = signed_in(request.getfixturevalue(who))
    page = text_of(client.get(PAGE))
    assert "Switch on" not in page
    assert "Learn from feedback" not in page
    assert client.post(SWITCH, {"version": "1", "on": "1"}).status_code == 403
    assert client.post(LEARN).status_code == 403
    assert not LearnedWeights.objects.filter(state="on").exists()
    assert not Job.objects.exists()


@pytest.mark.parametrize("version", ["", "0", "-1", "one", "9" * 30, "٣"])
def test_unknown_versions_are_refused(version: str, signed_in: SignedIn, admin: User) -> None:
    answer = signed_in(admin).post("/profiles/coding/learned-weights/switch/", {"version": version}, follow=True)
    assert answer.status_code == 200
    assert not LearnedWeights.objects.exists()


def test_with_too_little_feedback_learning_does_not_begin(signed_in: SignedIn, admin: User) -> None:
    client = signed_in(admin)
    page = "/profiles/coding/learned-weights/"
    assert "0 contexts of the present version of the profile have feedback" in text_of(client.get(page))
    assert "No weights have been learned yet." in text_of(client.get(page))
    refused = text_of(client.post(f"{page}learn/", follow=True))
    assert re.search(r"0 contexts of version \d+ of the profile coding, and 200 are needed", refused)
    assert not Job.objects.exists()


def test_an_admin_starts_learning_once(
    contexts: list[Assembly], signed_in: SignedIn, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MIN_CONTEXTS", LEAST)
    client = signed_in(admin)
    assert "Weights are being learned." in text_of(client.post(LEARN, follow=True))
    assert "Wait for the report" in text_of(client.post(LEARN, follow=True))
    assert Job.objects.get().kind == "learn_weights"
    Job.objects.update(status="parked", error="3 contexts have feedback; 200 are needed.")
    assert "Learning failed: 3 contexts have feedback; 200 are needed." in text_of(client.get(PAGE))


def test_conversation_has_none(signed_in: SignedIn, admin: User) -> None:
    client = signed_in(admin)
    page = "/profiles/conversation/learned-weights/"
    assert "never has learned weights" in text_of(client.get(page))
    assert "never has learned weights" in text_of(client.post(f"{page}learn/", follow=True))


def test_a_profile_without_blocks_has_no_button(signed_in: SignedIn, admin: User) -> None:
    profile_create(name="turns", content=WITHOUT_BLOCKS, principal=SYSTEM)
    client = signed_in(admin)
    page = text_of(client.get("/profiles/turns/learned-weights/"))
    assert "no section with blocks" in page
    assert "Learn from feedback" not in page
    assert "no section with blocks" in text_of(client.post("/profiles/turns/learned-weights/learn/", follow=True))
    assert not Job.objects.exists()


def test_unknown_profiles_are_not_found(signed_in: SignedIn, admin: User) -> None:
    client = signed_in(admin)
    for method, address in (("get", ""), ("post", "learn/"), ("post", "switch/")):
        assert getattr(client, method)(f"/profiles/moons/learned-weights/{address}").status_code == 404


def test_the_page_of_the_profile_leads_here(learned: LearnedWeights, signed_in: SignedIn, teammate: User) -> None:
    assert f'href="{PAGE}"' in signed_in(teammate).get(f"/profiles/{NAME}/").content.decode()


def test_more_versions_take_no_more_queries(
    learned: LearnedWeights, signed_in: SignedIn, admin: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(2):
        shadow_report_create(learned=weights_learn(profile=NAME, principal=SYSTEM, least=LEAST))
    client = signed_in(admin)
    with django_assert_max_num_queries(16):
        client.get(PAGE)
