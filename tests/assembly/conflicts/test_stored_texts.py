"""A conflict is stored if its sides have the compared texts at that moment, and follows all passages of a document."""

from dataclasses import replace
from typing import Any

import pytest

from agents.models import Agent
from assembly.conflicts import compared_texts, find
from assembly.conflicts.find import item_conflicts_find
from assembly.conflicts.known_conflicts import side_texts
from assembly.conflicts.services import EditedSide, conflict_edit, conflict_resolve
from assembly.models import Conflict
from memories.embeddings.indexing import document_split
from memories.models import Memory
from memories.services import facts_of, memory_delete, memory_update
from memories.services.document import documents_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, found_conflict, remember, run_jobs
from tests.assembly.monitoring.trends.count_factories import told

pytestmark = pytest.mark.django_db


def change(memory: Memory, text: str) -> None:
    memory.refresh_from_db()
    memory_update(
        memory=memory, expected_version=memory.version, facts=replace(facts_of(memory), text=text),
        superseded_by=None, principal=SYSTEM,
    )  # fmt: skip


def edit(conflict: Conflict, text: str, editor: User) -> Conflict:
    """A person gives the side that says 8 this text."""
    side: EditedSide = "left" if conflict.left_statement == EIGHTY else "right"
    return conflict_edit(conflict=conflict, side=side, text=text, principal=editor.principal)


def while_comparing(monkeypatch: pytest.MonkeyPatch, happens: Any) -> None:
    """This happens once after the job has read the texts, and before it stores what it found."""
    compare, waiting = find._compare, [happens]

    def slow(*texts: Any) -> Any:
        relations = compare(*texts)
        if waiting and relations:
            waiting.pop()()
        return relations

    monkeypatch.setattr(find, "_compare", slow)


def test_the_text_from_before_an_edit_opens_the_conflict_again(agent: Agent, team: Team, editor: User) -> None:
    conflict = edit(found_conflict(agent, agent), "Nobody answers the support line.", editor)
    memory = agent.memories.get(text="Nobody answers the support line.")
    run_jobs()
    change(memory, EIGHTY)
    run_jobs()
    conflict.refresh_from_db()
    assert (conflict.status, conflict.resolution, conflict.resolved_at) == ("open", "", None)
    assert (conflict.resolved_by, conflict.resolver_name, conflict.reason) == ("", "", "")
    assert conflict.strategy == "flag"
    assert [(one.action, one.by_name) for one in conflict.decisions.all()] == [
        ("resolve", "Edda Editor"),
        ("undo", "Dossier"),
    ]
    editor.refresh_from_db()
    assert editor.open_conflicts == 1
    context = told(agent, team, topic="When does the support line open?", profile="memory")
    assert context.warnings == ["CONFLICT_FLAGGED"]


def test_a_job_that_read_the_text_before_the_edit_does_not_undo_it(
    agent: Agent, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    conflict = found_conflict(agent, agent)
    memory = agent.memories.get(text=EIGHTY)
    while_comparing(monkeypatch, lambda: edit(conflict, "Nobody answers the support line.", editor))
    assert item_conflicts_find(kind="memory", id_=memory.id) == []
    conflict.refresh_from_db()
    assert (conflict.status, conflict.resolution) == ("resolved", "edited")


@pytest.mark.parametrize("compared", [0, 1])
@pytest.mark.parametrize("level", [1, 3])
def test_nothing_is_stored_of_a_memory_that_was_deleted_meanwhile(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, compared: int, level: int
) -> None:
    memories = [remember(agent, text, sensitivity=level) for text in (EIGHTY, NINETY)]
    while_comparing(monkeypatch, lambda: memory_delete(memory=memories[0], principal=SYSTEM))
    assert item_conflicts_find(kind="memory", id_=memories[compared].id) == []
    assert not Conflict.objects.exists()


@pytest.mark.parametrize("kind", ["memory", "document", "team_file"])
def test_nothing_is_stored_of_a_text_that_was_changed_meanwhile(
    agent: Agent, team: Team, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    memory = remember(agent, EIGHTY)
    item: Any
    if kind == "memory":
        item = remember(agent, NINETY)
    elif kind == "document":
        [item] = documents_create(agent=agent, facts=[{"path": "hours.md", "content": NINETY}], principal=SYSTEM)
        document_split(id_=item.id)
    else:
        item = team.files.get(file_key="CONTEXT")
        item = file_save(file=item, content=NINETY, expected_version=item.version, author=SYSTEM.author)

    def rewrite() -> None:
        if kind == "memory":
            change(item, "Tea is served at noon.")
        else:
            type(item).objects.filter(id=item.id).update(content="Tea is served at noon.", version=item.version + 1)

    if kind != "memory":
        compared_texts.texts_of(kind, item.id)
    while_comparing(monkeypatch, rewrite)
    assert item_conflicts_find(kind="memory", id_=memory.id) == []
    assert not Conflict.objects.exists()


def test_a_memory_that_is_archived_meanwhile_has_the_conflict_when_it_is_restored(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = [remember(agent, text) for text in (EIGHTY, NINETY)]

    def archive() -> None:
        memory_update(
            memory=memories[0], expected_version=1, facts=facts_of(memories[0]), superseded_by=None,
            retired_because="old", principal=SYSTEM,
        )  # fmt: skip

    while_comparing(monkeypatch, archive)
    item_conflicts_find(kind="memory", id_=memories[1].id)
    assert Conflict.objects.get().is_open


def long_text(last: str) -> str:
    """A text of two passages, with this in the second one."""
    filler = "\n\n".join(f"Paragraph {n} is long and says nothing of interest about topic {n}." for n in range(90))
    return f"# Gardens\n\n{filler}\n\n# Support\n\n{last}\n"


@pytest.fixture(params=["document", "team_file"])
def of_long_text(request: Any, agent: Agent, team: Team, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Any, Conflict]:
    """A kind, a document or file of this kind, and the conflict of a memory with a passage that is not compared."""
    monkeypatch.setattr(compared_texts, "MAX_PASSAGES", 1)
    item: Any
    if request.param == "document":
        facts = [{"path": "desk.md", "content": long_text(NINETY)}]
        [item] = documents_create(agent=agent, facts=facts, principal=SYSTEM)
    else:
        item = team.files.get(file_key="CONTEXT")
        item = file_save(file=item, content=long_text(NINETY), expected_version=item.version, author=SYSTEM.author)
    assert len(compared_texts.texts_of(request.param, item.id) or []) == 1
    memory = remember(agent, EIGHTY)
    item_conflicts_find(kind="memory", id_=memory.id)
    return request.param, item, Conflict.objects.get()


@pytest.mark.parametrize("is_decided", [True, False])
def test_a_passage_that_is_not_compared_is_still_there(
    of_long_text: tuple[str, Any, Conflict], editor: User, is_decided: bool
) -> None:
    kind, item, conflict = of_long_text
    if is_decided:
        conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    assert item_conflicts_find(kind=kind, id_=item.id) == []
    conflict.refresh_from_db()
    assert (conflict.status, conflict.gone_because) == ("resolved" if is_decided else "open", "")


def test_a_passage_that_is_not_compared_is_changed(of_long_text: tuple[str, Any, Conflict]) -> None:
    kind, item, conflict = of_long_text
    type(item).objects.filter(id=item.id).update(content=long_text("Nobody answers."), version=item.version + 1)
    assert item_conflicts_find(kind=kind, id_=item.id) == [conflict]
    conflict.refresh_from_db()
    assert (conflict.status, conflict.gone_because) == ("gone", "text_changed")


def test_a_passage_that_is_not_compared_is_the_other_side(of_long_text: tuple[str, Any, Conflict]) -> None:
    _kind, _item, conflict = of_long_text
    memory = next(side for side in conflict.sides if side.kind == "memory")
    [text] = compared_texts.texts_of("memory", memory.item) or []
    other = next(side for side in conflict.sides if side.kind != "memory")
    assert [one.sha256 for one in side_texts(text, other)] == [other.sha256]
    assert side_texts(text, replace(other, sha256=b"another")) == []
