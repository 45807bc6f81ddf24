"""The pages of contexts made again: today, with something changed, beside one another; and proposals."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from agents.services import agent_delete
from assembly.models import Assembly, Proposal
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.services import rule_create
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.pages.conftest import SignedIn, text_of

NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def told(agent: Agent, team: Team, owner: User) -> Assembly:
    """A context under a rule, of files that were changed since."""
    author = owner.principal.author
    knowledge = agent.files.get(file_key="KNOWLEDGE")
    text = "\n\n".join(f"Paragraph {number}: the stage is free." for number in range(40))
    file_save(file=knowledge, content=text, expected_version=1, author=author)
    memories_create(owner=team, facts=[MemoryFacts(kind="fact", text="The stage <1> is free")], principal=SYSTEM)
    rule_create(name="hush", content="then: {exclude: [{path: RULES}]}\n", owner=None, principal=SYSTEM)
    assembly = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic="the stage")).assembly
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content="Open in <May>.", expected_version=1, author=author, note="the <new> plan")
    return assembly


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


def addresses(told: Assembly) -> list[str]:
    root = f"/contexts/{told.id}"
    return [f"{root}/rerun/", f"{root}/what-if/", f"/contexts/compare/?before={told.id}&after={told.id}"]


def wishes(**changes: Any) -> dict[str, Any]:
    """The form as it is sent, with all that is as it was."""
    return {"max_tokens": "16000", "topic": "the stage", "profile": "", "tokenizer": "", "with_rule": "", **changes}


def test_who_sees_the_context_sees_its_pages(
    signed_in: SignedIn, told: Assembly, request: pytest.FixtureRequest
) -> None:
    for name, status in {"owner": 200, "editor": 200, "teammate": 200, "admin": 200, "outsider": 404}.items():
        client = signed_in(request.getfixturevalue(name))
        for address in addresses(told):
            assert client.get(address).status_code == status, (name, address)


def test_today_says_what_changed_and_links_to_it(browser: Client, told: Assembly) -> None:
    page = text_of(browser.get(f"/contexts/{told.id}/rerun/"))
    assert "Re-run today: Luna" in page
    assert "Goals: version 1 → version 2 by Olga Owner on " in page
    assert "the &lt;new&gt; plan" in page
    assert "/teams/demo/files/GOALS/history/compare/?from=1&amp;to=2" in page
    assert browser.get("/teams/demo/files/GOALS/history/compare/?from=1&to=2").status_code == 200
    assert "Open in &lt;May&gt;." in page
    assert "<new>" not in page


def test_today_of_a_deleted_agent_is_a_clear_page(
    signed_in: SignedIn, admin: User, told: Assembly, agent: Agent
) -> None:
    agent_delete(agent=agent, principal=SYSTEM)
    response = signed_in(admin).get(f"/contexts/{told.id}/rerun/")
    assert response.status_code == 409
    assert "Luna was deleted" in text_of(response)


def test_the_form_offers_what_the_context_is_made_of(browser: Client, told: Assembly) -> None:
    page = text_of(browser.get(f"/contexts/{told.id}/what-if/"))
    assert "Unchanged (conversation v1)" in page
    assert 'name="file_KNOWLEDGE"' in page
    assert 'name="without_rules"' in page
    assert 'name="cap_knowledge"' in page
    assert 'name="cap_identity"' not in page


def test_a_smaller_budget_is_tried_from_the_record(browser: Client, told: Assembly) -> None:
    response = browser.post(f"/contexts/{told.id}/what-if/", wishes(max_tokens="60"))
    page = text_of(response)
    assert response.status_code == 200
    assert "Calculated from the record." in page
    assert "16,000" in page
    assert "Save as suggestion" in page
    assert page.count('<details class="fold">') == 3
    assert not Proposal.objects.exists()


def test_another_topic_is_read_anew_and_says_so(browser: Client, told: Assembly) -> None:
    page = text_of(browser.post(f"/contexts/{told.id}/what-if/", wishes(topic="the weather")))
    assert "Read again, as of now." in page
    assert f"/contexts/{told.id}/rerun/" in page


def test_files_rules_and_caps_are_tried(browser: Client, told: Assembly) -> None:
    sent = wishes(
        without_rules=["hush"], cap_knowledge="40", file_KNOWLEDGE="1", with_rule="then: {exclude: [{path: GOALS}]}"
    )
    page = text_of(browser.post(f"/contexts/{told.id}/what-if/", sent))
    assert "hush, version 1" in page
    assert "tried, version 1" in page
    assert "limit 40" in page


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, "Nothing would change. Change at least one parameter."),
        ({"max_tokens": "200001"}, "less than or equal to 200000"),
        ({"max_tokens": "x"}, "whole number"),
        ({"topic": "x" * 4_001}, "at most 4000"),
        ({"topic": "nul \x00"}, "Null characters"),
        ({"profile": "nope"}, "not one of the available choices"),
        ({"file_KNOWLEDGE": "77"}, "not one of the available choices"),
        ({"without_rules": ["nope"]}, "not one of the available choices"),
        ({"with_rule": "then: 1"}, "Line 1:"),
        ({"cap_knowledge": "-1"}, "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_is_explained_and_nothing_typed_is_lost(
    changes: dict[str, Any], fault: str, browser: Client, told: Assembly
) -> None:
    response = browser.post(
        f"/contexts/{told.id}/what-if/", wishes(**{"with_rule": "kept: yes", **changes}) if changes else wishes()
    )
    assert response.status_code == 422
    assert fault in text_of(response)
    assert changes.get("with_rule", "kept: yes" if changes else "") in text_of(response)


def test_it_is_kept_decided_and_deleted(signed_in: SignedIn, browser: Client, told: Assembly, owner: User) -> None:
    sent = wishes(max_tokens="60", file_KNOWLEDGE="1", cap_knowledge="30", note="Shorter <please>", save="1")
    page = text_of(browser.post(f"/contexts/{told.id}/what-if/", sent, follow=True))
    address = f"/proposals/{Proposal.objects.get().id}/"
    assert "Suggestion saved. Nothing was published." in page
    assert "Shorter &lt;please&gt;" in page
    assert "/agents/luna/files/KNOWLEDGE/history/1/" in page
    assert ">Accept<" not in page
    assert "Shorter &lt;please&gt;" in text_of(browser.get("/proposals/"))
    assert "Calculated from the record." in text_of(browser.get(f"{address}?try=1"))

    decided = text_of(signed_in(owner).post(f"{address}decide/", {"accept": "1"}, follow=True))
    assert "Accepted." in decided
    assert "Decided by <b>Olga Owner</b>" in decided
    again = text_of(signed_in(owner).post(f"{address}decide/", {"dismiss": "1"}, follow=True))
    assert "Olga Owner decided already: it is accepted." in again
    assert "No open suggestions." in text_of(browser.get("/proposals/"))
    assert "accepted" in text_of(browser.get("/proposals/?show=all"))
    browser.post(f"{address}delete/")
    assert not Proposal.objects.exists()


def test_a_proposal_is_decided_by_those_who_may(
    signed_in: SignedIn, browser: Client, told: Assembly, teammate: User, outsider: User
) -> None:
    browser.post(f"/contexts/{told.id}/what-if/", wishes(max_tokens="60", save="1"))
    address = f"/proposals/{Proposal.objects.get().id}/"
    assert signed_in(outsider).get(address).status_code == 404
    assert signed_in(outsider).post(f"{address}decide/", {"accept": "1"}).status_code == 404
    assert signed_in(teammate).get(address).status_code == 200
    assert signed_in(teammate).post(f"{address}decide/", {"accept": "1"}).status_code == 403
    assert signed_in(teammate).post(f"{address}delete/").status_code == 403
    assert browser.get(f"{address}decide/").status_code == 405


def test_who_may_only_read_may_look_but_not_keep(signed_in: SignedIn, teammate: User, told: Assembly) -> None:
    client = signed_in(teammate)
    page = text_of(client.post(f"/contexts/{told.id}/what-if/", wishes(max_tokens="60")))
    assert "Save as suggestion" not in page
    assert client.post(f"/contexts/{told.id}/what-if/", wishes(max_tokens="60", save="1")).status_code == 403
    assert not Proposal.objects.exists()


def test_a_proposal_outlives_its_context(browser: Client, told: Assembly) -> None:
    browser.post(f"/contexts/{told.id}/what-if/", wishes(max_tokens="60", save="1"))
    Proposal.objects.update(assembly_id=NOBODY)
    proposal = Proposal.objects.get()
    page = text_of(browser.get(f"/proposals/{proposal.id}/?try=1"))
    assert "The context on which it was simulated was deleted" in page


def test_the_other_context_is_chosen_from_a_list_or_by_its_address(
    browser: Client, told: Assembly, agent: Agent, team: Team
) -> None:
    other = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(max_tokens=60)).assembly
    page = text_of(browser.get(f"/contexts/compare/?before={told.id}"))
    assert f"?before={told.id}&amp;after={other.id}" in page
    assert f"before={other.id}" in text_of(browser.get("/contexts/compare/"))
    typed = f"http://testserver/contexts/{other.id}/"
    page = text_of(browser.get("/contexts/compare/", {"before": str(told.id), "after": typed}))
    assert "Compare contexts" in page
    assert "16,000" in page
    assert browser.get(f"/contexts/compare/?after={other.id}", follow=True).redirect_chain


def test_two_contexts_say_what_changed_from_one_to_the_other(
    browser: Client, told: Assembly, agent: Agent, team: Team
) -> None:
    other = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic="the stage")).assembly
    for before, after in ((told, other), (other, told)):
        page = text_of(browser.get(f"/contexts/compare/?before={before.id}&after={after.id}"))
        assert "Changes between the two" in page
        assert "Goals: version 1 → version 2 by Olga Owner on " in page
        assert "/teams/demo/files/GOALS/history/compare/?from=1&amp;to=2" in page
        assert ("The first context is the newer one: changes are listed from the second to the first." in page) is (
            before is other
        )


def test_two_contexts_of_a_deleted_agent_are_still_compared(
    signed_in: SignedIn, admin: User, told: Assembly, agent: Agent, team: Team
) -> None:
    other = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic="the stage")).assembly
    agent_delete(agent=agent, principal=SYSTEM)
    page = text_of(signed_in(admin).get(f"/contexts/compare/?before={told.id}&after={other.id}"))
    assert "Goals: version 1 → version 2" in page


@pytest.mark.parametrize("typed", ["nonsense", NOBODY, "\x00", "x" * 5_000])
def test_what_names_no_context_is_said(typed: str, browser: Client, told: Assembly) -> None:
    response = browser.get("/contexts/compare/", {"before": str(told.id), "after": typed})
    assert response.status_code == 404
    assert "Context not found. Check the URL and your permissions." in text_of(
        response
    ) or "No context found. Paste its URL or ID." in text_of(response)


def test_a_context_of_others_cannot_be_compared(signed_in: SignedIn, outsider: User, told: Assembly) -> None:
    response = signed_in(outsider).get(f"/contexts/compare/?before={told.id}")
    assert response.status_code == 404
    assert "Luna" not in text_of(response)


@pytest.mark.finding("E8")
def test_deleting_a_suggestion_asks_first(browser: Client, told: Assembly) -> None:
    browser.post(f"/contexts/{told.id}/what-if/", wishes(max_tokens="60", save="1"))
    address = f"/proposals/{Proposal.objects.get().id}/"
    assert f'href="{address}delete/"' in text_of(browser.get(address))
    assert "Delete the suggestion for Luna?" in text_of(browser.get(f"{address}delete/"))
    assert Proposal.objects.exists()


@pytest.mark.finding("E18")
def test_an_accepted_suggestion_says_how_it_is_applied(
    browser: Client, owner: User, signed_in: SignedIn, told: Assembly
) -> None:
    for changes, said in (
        ({"max_tokens": "60"}, "Accepted. Update your API calls to apply it."),
        ({"file_KNOWLEDGE": "1"}, "Accepted. Apply the changes with the links below."),
    ):
        browser.post(f"/contexts/{told.id}/what-if/", wishes(**changes, save="1"))
        proposal = Proposal.objects.order_by("-created", "-id")[0]
        assert said in text_of(signed_in(owner).post(f"/proposals/{proposal.id}/decide/", {"accept": "1"}, follow=True))


@pytest.mark.finding("E29")
def test_two_contexts_are_told_apart_by_their_times(browser: Client, told: Assembly, agent: Agent, team: Team) -> None:
    other = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(max_tokens=60)).assembly
    page = text_of(browser.get(f"/contexts/compare/?before={told.id}&after={other.id}"))
    for one in (told, other):
        assert f"{one.created:%H:%M:%S}" in page
