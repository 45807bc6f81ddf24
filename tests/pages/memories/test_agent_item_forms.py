"""Things that an agent keeps are made, changed and deleted in a browser; nothing that was typed gets lost."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from agents.models import Agent
from memories.models import Document, Entity, Pattern, Relation, Thread, Tool
from memories.models.agent_item import AgentItem as KeptModel
from memories.services.agent_item import agent_item_update, agent_items_create
from teams.models import User
from tests.memories.worked_agent import Kept, keep
from tests.pages.conftest import SignedIn, text_of

LUNA = "/agents/luna"
ENTITY = {
    "name": "Mara",
    "type": "person",
    "aliases": "M.\r\nMarita",
    "properties": "since: 2019\r\nrole: host",
    "salience": "0.9",
}
PATTERN = {"name": "Ask first", "guidance": "One\r\nTwo", "keywords": "a\r\nb", "applications": "10", "successes": "8"}
THREAD = {"title": "The move", "summary": "Boxes are packed.", "status": "active"}
TOOL = {"name": "mail", "description": "Sends.", "schema": '{"type": "object"}'}
DOCUMENT = {"path": "docs/a.md", "content": "One\r\nTwo\r\n", "language": "", "is_open": "on"}
FORMS: dict[str, tuple[type[KeptModel], dict[str, str], dict[str, Any]]] = {
    "entities": (Entity, ENTITY, {"aliases": ["M.", "Marita"], "properties": {"since": 2019, "role": "host"}}),
    "patterns": (Pattern, PATTERN, {"keywords": ["a", "b"], "guidance": "One\nTwo", "successes": 8}),
    "threads": (Thread, THREAD, {"summary": "Boxes are packed."}),
    "tools": (Tool, TOOL, {"schema": {"type": "object"}}),
    "documents": (Document, DOCUMENT, {"content": "One\nTwo\n", "is_open": True}),
}
MAIN_TEXT = {
    "entities": "name", "patterns": "guidance", "threads": "summary", "tools": "description", "documents": "content"
}  # fmt: skip


@pytest.mark.parametrize("plural", FORMS)
def test_a_thing_is_made_and_shown(plural: str, signed_in: SignedIn, editor: User, agent: Agent) -> None:
    model, data, said = FORMS[plural]
    response = signed_in(editor).post(f"{LUNA}/{plural}/new/", {"version": 0, **data})
    thing: Any = model._default_manager.get(agent=agent)
    assert response["Location"] == f"{LUNA}/{plural}/{thing.pk}/"
    assert {name: getattr(thing, name) for name in said} == said
    assert thing.editor_ref == editor.principal.ref


@pytest.mark.parametrize("plural", FORMS)
def test_opening_and_saving_changes_nothing(plural: str, signed_in: SignedIn, editor: User, agent: Agent) -> None:
    model, data, _said = FORMS[plural]
    browser = signed_in(editor)
    browser.post(f"{LUNA}/{plural}/new/", {"version": 0, **data})
    thing: Any = model._default_manager.get()
    edit = f"{LUNA}/{plural}/{thing.pk}/edit/"
    form = browser.get(edit).context["form"]
    shown = {field.name: field.value() for field in form if field.value() not in (None, False)}
    response = browser.post(edit, {key: "on" if value is True else value for key, value in shown.items()}, follow=True)
    assert "No changes, so there is no new version." in text_of(response)
    assert model._default_manager.get().version == 1


@pytest.mark.parametrize("plural", FORMS)
def test_who_was_overtaken_sees_both_and_saves_again(
    plural: str, signed_in: SignedIn, editor: User, owner: User, agent: Agent
) -> None:
    model, data, _said = FORMS[plural]
    browser = signed_in(editor)
    browser.post(f"{LUNA}/{plural}/new/", {"version": 0, **data})
    thing: Any = model._default_manager.get()
    field = MAIN_TEXT[plural]
    agent_item_update(thing=thing, expected_version=1, changes={field: "Theirs &co"}, principal=owner.principal)
    edit = f"{LUNA}/{plural}/{thing.pk}/edit/"
    response = browser.post(edit, {"version": 1, **data, field: "Mine"})
    page = text_of(response)
    assert response.status_code == 412
    assert "Olga Owner saved a newer version" in page
    assert "Theirs &amp;co" in page
    assert "Mine" in page
    assert model._default_manager.get().version == 2
    again = response.context["form"]["version"].value()
    browser.post(edit, {"version": again, **data, field: "Mine"})
    assert getattr(model._default_manager.get(), field) == "Mine"


@pytest.mark.parametrize("plural", FORMS)
def test_a_thing_is_deleted_after_a_question(plural: str, signed_in: SignedIn, editor: User, agent: Agent) -> None:
    model, data, _said = FORMS[plural]
    browser = signed_in(editor)
    browser.post(f"{LUNA}/{plural}/new/", {"version": 0, **data})
    address = f"{LUNA}/{plural}/{model._default_manager.get().pk}/delete/"
    assert "This cannot be undone" in text_of(browser.get(address))
    assert model._default_manager.count() == 1
    assert "deleted." in text_of(browser.post(address, follow=True))
    assert model._default_manager.count() == 0


@pytest.mark.parametrize("plural", FORMS)
def test_the_same_again_is_explained(plural: str, signed_in: SignedIn, editor: User, agent: Agent) -> None:
    browser = signed_in(editor)
    for _ in range(2):
        response = browser.post(f"{LUNA}/{plural}/new/", {"version": 0, **FORMS[plural][1]})
    if plural == "threads":  # two may have the same title
        assert response.status_code == 302
    else:
        assert response.status_code == 422
        assert ". Change that one, or use another name." in text_of(response)


FAULTS = [
    ("entities", {"properties": "no pair"}, "name: value"),
    ("entities", {"properties": "a: [1, 2]"}, "A value is a text"),
    ("entities", {"properties": "a: 1e999"}, "at most 18 digits"),
    ("entities", {"properties": 'a: "\\u0000"'}, "cannot be stored"),
    ("entities", {"type": "two words"}, "Use one word"),
    ("entities", {"name": "a\x00b"}, "Null characters"),
    ("entities", {"aliases": "x" * 201}, "too long"),
    ("entities", {"salience": "2"}, "less than or equal to 1"),
    ("patterns", {"successes": "11"}, "There cannot be more successful applications than applications."),
    ("patterns", {"guidance": "  "}, "required"),
    ("tools", {"schema": "{"}, "see line 1"),
    ("tools", {"schema": "[]"}, "JSON object"),
    ("tools", {"schema": '{"type": "nonsense"}'}, "breaks the rule"),
    ("tools", {"schema": "[" * 15_000}, "nested"),
    ("threads", {"status": "gone"}, "valid choice"),
    ("documents", {"path": ""}, "Enter a path, or choose a file."),
    ("documents", {"content": "x" * 1_000_001}, "too long"),
    ("documents", {"path": "a\tb"}, "one line"),
]


@pytest.mark.parametrize(("plural", "changes", "fault"), FAULTS)
def test_what_cannot_be_kept_is_explained(
    plural: str, changes: dict[str, str], fault: str, signed_in: SignedIn, editor: User
) -> None:
    model, data, _said = FORMS[plural]
    response = signed_in(editor).post(f"{LUNA}/{plural}/new/", {"version": 0, **data, **changes})
    assert response.status_code == 422
    assert fault in text_of(response)
    assert model._default_manager.count() == 0


@pytest.fixture(autouse=True)
def _there_is_an_agent(agent: Agent) -> None:
    pass


@pytest.mark.parametrize(
    "properties",
    [
        {"a": "1", "b": 1, "c": 1.5, "d": True, "e": None, "f": "true", "g": "null"},
        {"colon: inside": "x", '"quoted"': '"', " space ": " x ", "empty": ""},
        {"lines": "one\ntwo", "brackets": "[draft] x", "brace": "{", "list": "[1]", "nan": "NaN"},
    ],
)
def test_properties_come_back_as_they_were(
    properties: dict[str, Any], signed_in: SignedIn, editor: User, agent: Agent
) -> None:
    facts = {"name": "x", "type": "person", "properties": properties}
    [thing] = agent_items_create(model=Entity, agent=agent, facts=[facts], principal=editor.principal)
    browser = signed_in(editor)
    form = browser.get(f"{LUNA}/entities/{thing.pk}/edit/").context["form"]
    data = {field.name: field.value() for field in form}
    browser.post(f"{LUNA}/entities/{thing.pk}/edit/", {**data, "name": "y"})
    thing.refresh_from_db()
    assert (thing.name, thing.properties) == ("y", properties)


def test_a_document_is_uploaded(signed_in: SignedIn, editor: User) -> None:
    file = SimpleUploadedFile("lights.py", "\ufeffprint('é')\r\n".encode())
    signed_in(editor).post(f"{LUNA}/documents/new/", {"version": 0, "upload": file})
    document = Document.objects.get()
    assert (document.path, document.content) == ("lights.py", "print('é')\r\n")


@pytest.mark.parametrize(
    ("name", "data"), [("a.bin", b"\xff\xfe\x00"), ("a.txt", b"a\x00b"), ("big.txt", b"x" * 4_000_001)]
)
def test_what_is_no_text_is_refused(name: str, data: bytes, signed_in: SignedIn, editor: User) -> None:
    file = SimpleUploadedFile(name, data)
    response = signed_in(editor).post(f"{LUNA}/documents/new/", {"version": 0, "upload": file})
    assert response.status_code == 422
    assert not Document.objects.exists()


def test_pieces_that_are_not_made_yet_are_announced(signed_in: SignedIn, editor: User) -> None:
    browser = signed_in(editor)
    address = browser.post(f"{LUNA}/documents/new/", {"version": 0, **DOCUMENT})["Location"]
    page = text_of(browser.get(f"{address}?as=pieces"))
    assert "Not indexed yet" in page
    assert 'href="/jobs/"' in page


def test_an_upload_that_is_refused_stays_in_the_form(signed_in: SignedIn, editor: User) -> None:
    browser = signed_in(editor)
    browser.post(f"{LUNA}/documents/new/", {"version": 0, **DOCUMENT})
    file = SimpleUploadedFile("b.md", b"From the file.")
    response = browser.post(f"{LUNA}/documents/new/", {"version": 0, "path": "docs/a.md", "upload": file})
    assert response.status_code == 422
    assert "From the file." in text_of(response)


def test_a_relation_is_made_by_name_changed_and_deleted(
    signed_in: SignedIn, editor: User, owner: User, agent: Agent
) -> None:
    kept = keep(agent, owner.principal)
    agent_items_create(
        model=Entity, agent=agent, facts=[{"name": "Mara", "type": "person", "aliases": ["The host"]}],
        principal=owner.principal,
    )  # fmt: skip
    browser = signed_in(editor)
    new = f"{LUNA}/entities/{kept.entity.pk}/relations/new/"
    data = {"version": 0, "type": "trusts", "weight": "0.7", "directed": "on"}
    assert "No entity has this name" in text_of(browser.post(new, {**data, "target": "Nobody"}))
    assert browser.post(new, {**data, "target": "the HOST"})["Location"].endswith(f"/entities/{kept.entity.pk}/")
    assert ". Change that one, or use another name." in text_of(browser.post(new, {**data, "target": "Mara (person)"}))
    relation = Relation.objects.get(type="trusts")
    edit = f"{LUNA}/relations/{relation.pk}/edit/"
    browser.post(edit, {"version": 1, "type": "admires", "weight": "1"})
    relation.refresh_from_db()
    assert (relation.type, relation.weight, relation.directed, relation.version) == ("admires", 1.0, False, 2)
    stale = browser.post(edit, {"version": 1, "type": "fears", "weight": "1"})
    assert (stale.status_code, "admires" in text_of(stale)) == (412, True)
    browser.post(f"{LUNA}/relations/{relation.pk}/delete/")
    assert not Relation.objects.filter(pk=relation.pk).exists()


def test_a_thread_is_resolved_and_taken_up_again(signed_in: SignedIn, editor: User, kept: Kept) -> None:
    browser = signed_in(editor)
    switch = f"{LUNA}/threads/{kept.thread.pk}/switch/"
    assert "” resolved. You can reopen it." in text_of(browser.post(switch, {"version": 1}, follow=True))
    assert browser.post(switch, {"version": 1}).status_code == 412
    assert browser.post(switch, {}).status_code == 302
    browser.post(switch, {"version": 2})
    touched = kept.thread.touched_at
    kept.thread.refresh_from_db()
    assert (kept.thread.status, kept.thread.touched_at > touched) == ("active", True)


@pytest.fixture
def kept(agent: Agent, owner: User) -> Kept:
    return keep(agent, owner.principal)


def test_readers_switch_no_thread(signed_in: SignedIn, teammate: User, outsider: User, kept: Kept) -> None:
    switch = f"{LUNA}/threads/{kept.thread.pk}/switch/"
    assert signed_in(teammate).post(switch, {"version": 1}).status_code == 403
    assert signed_in(outsider).post(switch, {"version": 1}).status_code == 404
