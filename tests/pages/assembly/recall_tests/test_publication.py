"""Recall tests on the pages of a draft, a profile and a rule; publishing says which test fails and why."""

from agents.models import Agent, AgentFile
from assembly.models import PublicationGuard, RecallResult, RecallTest, StoredProfile
from assembly.profiles.services import profile_create
from assembly.profiles.shipped import SHIPPED
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.publication import find_guarded_text, publication_guard_set
from assembly.rules.services import rule_create
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.drafts import Draft, draft_save
from tests.assembly.recall_tests.conftest import create
from tests.pages.conftest import SignedIn

BROKEN = "# Refunds\n\nAsk the finance team.\n"
REASON = "It is in the published version of Knowledge, and not in the draft."
ADDRESS = "/agents/luna/files/KNOWLEDGE/"
POOR = (
    "name: house\nbudget: 400\nsections:\n"
    "  - {key: identity, heading: Identity, layer: L1, source: agent_files, shape: text}\n"
)


def draft_of_editor(knowledge: AgentFile, editor: User) -> Draft:
    return draft_save(
        person_id=editor.id, about=knowledge.about, content=BROKEN, based_on=knowledge.version, expected_revision=0
    )


def test_the_step_before_publishing_shows_the_results(
    refund_test: RecallTest, knowledge: AgentFile, editor: User, signed_in: SignedIn
) -> None:
    address = f"/drafts/{draft_of_editor(knowledge, editor).id}/recall-tests/"
    browser = signed_in(editor)
    page = browser.get(f"{ADDRESS}?step=publish").content.decode()
    assert f'hx-get="{address}"' in page
    for headers in ({}, {"HX-Request": "true"}):
        panel = browser.get(address, headers=headers).content.decode()
        assert "1 of 1 recall test fails." in panel
        assert REASON in panel
        assert "It passes without this change." in panel
    assert not RecallResult.objects.exists()


def test_a_draft_is_nobody_elses(
    refund_test: RecallTest, knowledge: AgentFile, editor: User, teammate: User, signed_in: SignedIn
) -> None:
    address = f"/drafts/{draft_of_editor(knowledge, editor).id}/recall-tests/"
    assert signed_in(teammate).get(address).status_code == 404


def test_publishing_a_guarded_draft_says_which_test_fails_and_why(
    refund_test: RecallTest, knowledge: AgentFile, editor: User, signed_in: SignedIn
) -> None:
    draft = draft_of_editor(knowledge, editor)
    browser = signed_in(editor)
    assert browser.post("/recall-tests/guard/", {"about": knowledge.about, "on": ""})["Location"] == ADDRESS
    sent = {"deed": "publish", "revision": draft.revision, "note": ""}
    page = browser.post(ADDRESS, sent)
    assert page.status_code == 409
    assert "1 recall test fails with this text." in page.content.decode()
    assert REASON in page.content.decode()
    knowledge.refresh_from_db()
    assert knowledge.content != BROKEN
    browser.post("/recall-tests/guard/", {"about": knowledge.about})
    assert browser.post(ADDRESS, sent).status_code == 302
    knowledge.refresh_from_db()
    assert knowledge.content == BROKEN


def test_a_version_that_breaks_a_test_is_not_restored(
    refund_test: RecallTest, knowledge: AgentFile, editor: User, signed_in: SignedIn
) -> None:
    publication_guard_set(text=find_guarded_text(SYSTEM, knowledge.about), guarded=True, principal=SYSTEM)
    answer = signed_in(editor).post(f"{ADDRESS}history/1/restore/", {"version": knowledge.version, "note": ""})
    assert answer.status_code == 409
    assert "1 recall test fails with this text." in answer.content.decode()


def test_who_may_set_a_guard(
    knowledge: AgentFile, teammate: User, editor: User, outsider: User, signed_in: SignedIn
) -> None:
    for person, status in ((outsider, 404), (teammate, 403), (editor, 302)):
        assert (
            signed_in(person).post("/recall-tests/guard/", {"about": knowledge.about, "on": ""}).status_code == status
        )
    assert PublicationGuard.objects.get().setter_name == "Edda"
    for about in ("", "\x00", "memory:1", "profile:", "profile:missing"):
        assert signed_in(editor).post("/recall-tests/guard/", {"about": about}).status_code == 404
    assert signed_in(editor).post("/recall-tests/guard/", {"about": "profile:operations"}).status_code == 403


def test_a_profile_is_tried_on_its_page_and_its_guard_refuses(
    agent: Agent, team: Team, memory: Memory, admin: User, signed_in: SignedIn
) -> None:
    text = SHIPPED["operations"].replace("name: operations", "name: house")
    profile_create(name="house", content=text, principal=SYSTEM)
    create(Expectation("include", ref=memory.ref), agent=agent, team=team, profile="house")
    browser = signed_in(admin)
    sent = {"version": 1, "content": POOR}
    page = browser.post("/profiles/house/edit/recall-tests/", sent).content.decode()
    assert "1 of 1 recall test fails." in page
    assert "has no section for it" in page
    assert "{key: identity" in page
    assert "Line 1" in browser.post("/profiles/house/edit/recall-tests/", {**sent, "content": "x"}).content.decode()
    assert "Refuse publishing if it breaks a test" in browser.get("/profiles/house/").content.decode()
    browser.post("/recall-tests/guard/", {"about": "profile:house", "on": ""})
    refused = browser.post("/profiles/house/edit/", sent)
    assert refused.status_code == 422
    assert "has no section for it" in refused.content.decode()
    assert StoredProfile.objects.get(name="house").version == 1


def test_a_rule_is_tried_on_its_page(
    refund_test: RecallTest, team: Team, editor: User, teammate: User, signed_in: SignedIn
) -> None:
    rule_create(name="quiet", content="then: {exclude: [{source: daily_logs}]}\n", owner=team, principal=SYSTEM)
    browser = signed_in(editor)
    sent = {"version": 1, "content": "then: {exclude: [{source: agent_memories}]}\n"}
    for address, more in (("quiet/edit", {}), ("new", {"owner": "team:demo", "name": "new-one"})):
        page = browser.post(f"/rules/{address}/recall-tests/", {**sent, **more}).content.decode()
        assert "1 of 1 recall test fails." in page
        assert "It passes without this change." in page
    assert "Choose the scope of the rule." in browser.post("/rules/new/recall-tests/", sent).content.decode()
    assert signed_in(teammate).post("/rules/quiet/edit/recall-tests/", sent).status_code == 403


def test_a_page_names_the_test_that_failed_before(
    refund_test: RecallTest, knowledge: AgentFile, team: Team, editor: User, signed_in: SignedIn
) -> None:
    create(Expectation("include", text="Nobody wrote this."), agent=None, team=team, name="Lost")
    publication_guard_set(text=find_guarded_text(SYSTEM, knowledge.about), guarded=True, principal=SYSTEM)
    text = f"{knowledge.content}\nMore.\n"
    draft = draft_save(
        person_id=editor.id, about=knowledge.about, content=text, based_on=knowledge.version, expected_revision=0
    )
    browser = signed_in(editor)
    answer = browser.post(ADDRESS, {"deed": "publish", "revision": draft.revision, "note": ""}, follow=True)
    assert "“Lost” for Luna failed before, and fails with this text, too." in answer.content.decode()
    knowledge.refresh_from_db()
    assert knowledge.content == text
