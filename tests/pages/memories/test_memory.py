"""One memory: read, edited by two at once, pinned, retired and brought back; its versions, and who used it."""

import uuid
from typing import Any

import pytest

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Memory
from memories.services import MAX_PINNED, MemoryFacts, facts_of, memories_create, memory_create, memory_update
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of

WRITTEN = {"text": "Tours start at the chapel.", "kind": "fact", "salience": "0.5", "credibility": "0.5"}


@pytest.fixture
def memory(agent: Agent, owner: User) -> Memory:
    facts = MemoryFacts(kind="fact", text="Tours start at the stage.")
    return memory_create(owner=agent, facts=facts, principal=owner.principal)


@pytest.fixture
def path(memory: Memory) -> str:
    return f"/memories/{memory.id}/"


ANSWERS = {  # the owner, the editor, the teammate (a viewer), the outsider and the admin
    "": (200, 200, 200, 404, 200),
    "edit/": (200, 200, 403, 404, 200),
    "retire/": (200, 200, 403, 404, 200),
    "versions/": (200, 200, 200, 404, 200),
    "versions/1/": (200, 200, 200, 404, 200),
    "versions/9/": (404, 404, 404, 404, 404),
    "pin/": (405, 405, 405, 405, 405),
}


@pytest.mark.parametrize("address", ANSWERS)
def test_everybody_is_answered_as_the_table_says(
    *,
    address: str,
    path: str,
    signed_in: SignedIn,
    owner: User,
    editor: User,
    teammate: User,
    outsider: User,
    admin: User,
) -> None:
    people = (owner, editor, teammate, outsider, admin)
    assert tuple(signed_in(person).get(path + address).status_code for person in people) == ANSWERS[address]


@pytest.mark.parametrize("address", ["pin/", "bring-back/", "separate/", "versions/1/restore/", "retire/", "edit/"])
def test_only_those_who_may_write_change_anything(
    *, address: str, path: str, memory: Memory, signed_in: SignedIn, teammate: User, outsider: User
) -> None:
    body = {**WRITTEN, "version": 1, "reason": "No."}
    assert signed_in(teammate).post(path + address, body).status_code == 403
    assert signed_in(outsider).post(path + address, body).status_code == 404
    memory.refresh_from_db()
    assert memory.version == 1


def test_who_may_not_see_the_owner_learns_nothing_of_it(signed_in: SignedIn, outsider: User, memory: Memory) -> None:
    for id_ in (memory.id, uuid.uuid4()):
        shown = text_of(signed_in(outsider).get(f"/memories/{id_}/"))
        assert "This memory was not found." in shown
        assert "luna" not in shown.lower()


def test_who_may_only_read_sees_no_way_to_change(signed_in: SignedIn, teammate: User, path: str) -> None:
    shown = text_of(signed_in(teammate).get(path))
    assert "Tours start at the stage." in shown
    assert not [word for word in ("Edit", "Archive", ">Pin<") if word in shown]


def test_editing_makes_a_version_with_its_note(signed_in: SignedIn, editor: User, path: str, memory: Memory) -> None:
    written = {**WRITTEN, "version": 1, "note": "They moved."}
    assert "Saved as version 2." in text_of(signed_in(editor).post(f"{path}edit/", written, follow=True))
    version = text_of(signed_in(editor).get(f"{path}versions/2/"))
    for words in ("They moved.", "Tours start at the stage.", "Tours start at the chapel."):
        assert words in version


def test_of_two_at_once_nobody_loses_a_word(
    signed_in: SignedIn, editor: User, owner: User, path: str, memory: Memory
) -> None:
    theirs = MemoryFacts(kind="fact", text="Tours start at the loft.")
    memory_update(memory=memory, expected_version=1, facts=theirs, superseded_by=None, principal=owner.principal)
    response = signed_in(editor).post(f"{path}edit/", {**WRITTEN, "version": 1})
    assert response.status_code == 412
    shown = text_of(response)
    assert "Olga Owner saved a newer version" in shown
    assert "Tours start at the loft." in shown
    assert ">\nTours start at the chapel.</textarea>" in shown
    assert 'name="version" value="2"' in shown
    memory.refresh_from_db()
    assert memory.text == "Tours start at the loft."


def test_opening_and_saving_changes_nothing(signed_in: SignedIn, agent: Agent, editor: User, owner: User) -> None:
    from django.utils import timezone

    facts = MemoryFacts(kind="fact", text="One\r\ntwo", occurred_at=timezone.now(), salience=1 / 3)
    address = f"/memories/{memory_create(owner=agent, facts=facts, principal=owner.principal).id}/edit/"
    browser = signed_in(editor)
    form = browser.get(address).context["form"]
    values = {name: form[name].value() for name in form.fields}
    shown: dict[str, Any] = {name: form.fields[name].prepare_value(value) for name, value in values.items()}
    shown["occurred_at"] = f"{facts.occurred_at:%Y-%m-%dT%H:%M:%S}"
    shown["note"] = ""
    assert "No changes, so there is no new version." in text_of(browser.post(address, shown, follow=True))


def test_a_memory_is_pinned_and_unpinned(signed_in: SignedIn, editor: User, path: str, memory: Memory) -> None:
    browser = signed_in(editor)
    assert "Memory pinned." in text_of(browser.post(f"{path}pin/", {"version": 1}, follow=True))
    memory.refresh_from_db()
    assert memory.pinned
    assert browser.post(f"{path}pin/", {"version": 1}).status_code == 412
    assert "Memory unpinned." in text_of(browser.post(f"{path}pin/", {"version": 2}, follow=True))


def test_one_pin_too_many_is_explained(
    signed_in: SignedIn, agent: Agent, owner: User, path: str, memory: Memory
) -> None:
    facts = [MemoryFacts(kind="fact", text=str(number)) for number in range(MAX_PINNED)]
    for other in memories_create(owner=agent, facts=facts, principal=owner.principal):
        memory_update(
            memory=other, expected_version=1, facts=facts_of(other), superseded_by=None, pinned=True,
            principal=owner.principal,
        )  # fmt: skip
    shown = text_of(signed_in(owner).post(f"{path}pin/", {"version": 1}, follow=True))
    assert "At most 20 memories can be pinned." in shown


def test_a_memory_is_retired_with_a_reason_and_comes_back(
    signed_in: SignedIn, editor: User, path: str, memory: Memory
) -> None:
    browser = signed_in(editor)
    assert browser.post(f"{path}retire/", {"version": 1, "reason": " "}).status_code == 422
    shown = text_of(browser.post(f"{path}retire/", {"version": 1, "reason": "The stage burnt down."}, follow=True))
    assert "Archived: “The stage burnt down.”" in shown
    assert ">Pin<" not in shown
    assert "Memory restored." in text_of(browser.post(f"{path}bring-back/", {"version": 2}, follow=True))
    memory.refresh_from_db()
    assert memory.stands


def test_a_version_is_restored_as_a_new_one(signed_in: SignedIn, editor: User, path: str, memory: Memory) -> None:
    browser = signed_in(editor)
    browser.post(f"{path}edit/", {**WRITTEN, "version": 1, "kind": "decision"})
    browser.post(f"{path}pin/", {"version": 2})
    browser.post(f"{path}versions/1/restore/", {"version": 3})
    memory.refresh_from_db()
    assert (memory.text, memory.kind, memory.version) == ("Tours start at the stage.", "fact", 4)
    assert memory.pinned
    assert "Version 1 restored." in text_of(browser.get(path))


def test_the_contexts_that_used_it_are_those_that_one_may_see(
    *, signed_in: SignedIn, agent: Agent, team: Team, owner: User, teammate: User, admin: User, path: str
) -> None:
    secret = team_create(slug="secret", name="Secret")
    secret.agent_links.create(agent=agent)
    for at, topic in ((team, "Where do tours start?"), (team, "Where do tours start?"), (secret, "A secret")):
        assemble(agent=agent, team=at, asked=AssemblyRequest(topic=topic), principal=SYSTEM)
    assemble(agent=agent, team=team, asked=AssemblyRequest(topic="Nothing", max_tokens=1), principal=SYSTEM)
    shown = text_of(signed_in(teammate).get(path))
    assert "Included in <b>2</b> contexts, excluded from <b>1</b>." in " ".join(shown.split())
    assert "A secret" not in shown
    assert "Included in <b>3</b> contexts, excluded from <b>1</b>." in " ".join(
        text_of(signed_in(admin).get(path)).split()
    )


def test_the_page_takes_as_many_queries_for_many_uses_as_for_few(
    *, signed_in: SignedIn, agent: Agent, team: Team, owner: User, teammate: User, path: str,
    django_assert_num_queries: Any,
) -> None:  # fmt: skip
    browser = signed_in(teammate)
    browser.get(path)
    for times in (1, 5):
        for number in range(times):
            assemble(agent=agent, team=team, asked=AssemblyRequest(topic=f"{times} {number}"), principal=SYSTEM)
        with django_assert_num_queries(21):
            browser.get(path)


def test_a_context_leads_to_the_version_that_it_told(
    *, signed_in: SignedIn, agent: Agent, team: Team, owner: User, teammate: User, path: str
) -> None:
    told = assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=owner.principal).assembly
    assert f"{path}versions/1/" in text_of(signed_in(teammate).get(f"/contexts/{told.id}/exact/"))


def test_the_language_is_shown_and_corrected(
    signed_in: SignedIn, editor: User, owner: User, path: str, memory: Memory
) -> None:
    page = signed_in(editor)
    assert "<dt>Language</dt><dd>English</dd>" in text_of(page.get(path))
    written = {**WRITTEN, "text": memory.text, "language": "dutch"}
    page.post(f"{path}edit/", {**written, "version": 1})
    assert "<dt>Language</dt><dd>Dutch</dd>" in text_of(page.get(path))
    written |= {"text": "Die Führungen beginnen an der Brücke, und das bei jedem Wetter."}
    page.post(f"{path}edit/", {**written, "version": 2})
    assert "<dt>Language</dt><dd>German</dd>" in text_of(page.get(path)), "the field was left as it was"
    assert page.post(f"{path}edit/", {**written, "language": "klingon", "version": 3}).status_code == 422
    version = text_of(page.get(f"{path}versions/3/"))
    for word in ("Language", "Dutch", "German"):
        assert word in version


def test_words_are_searched_for_in_the_languages_of_the_owner(
    signed_in: SignedIn, owner: User, agent: Agent, memory: Memory
) -> None:
    german = MemoryFacts(kind="fact", text="Die Führungen beginnen an der Brücke, und das bei jedem Wetter.")
    memory_create(owner=agent, facts=german, principal=owner.principal)
    found = text_of(signed_in(owner).get(f"/agents/{agent.slug}/memories/?by=words&q=Brücken"))
    assert german.text in found
    assert memory.text not in found
    assert memory.text in text_of(signed_in(owner).get(f"/agents/{agent.slug}/memories/?by=words&q=stages"))
