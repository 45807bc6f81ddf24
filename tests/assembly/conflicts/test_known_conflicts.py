"""An open conflict that a later comparison no longer finds is gone, unless somebody has decided; it may come back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from agents.models import Agent
from assembly.conflicts import compared_texts, nearest_texts
from assembly.conflicts.counts import recount_open_conflicts
from assembly.conflicts.find import item_conflicts_find
from assembly.conflicts.known_conflicts import close_unfound
from assembly.conflicts.language_model import model_in_use as in_use
from assembly.conflicts.services import conflict_resolve, conflict_undo
from assembly.models import Alert, AlertKind, Conflict, Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.new_contexts import follow_assemblies
from config.http.errors import Conflict as ConflictError
from memories.embeddings.indexing import document_split
from memories.services import facts_of, memory_update
from memories.services.document import documents_create
from memories.services.memory import MemoryFacts
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember, run_jobs
from tests.assembly.conflicts.language_model.onnx_models import BEEF, VEGAN, write_model
from tests.assembly.monitoring.trends.count_factories import told
from tests.client import Api

pytestmark = pytest.mark.django_db
TEA, ROOM = "Tea is served at noon.", "Tea is served in the hall."
"""Two texts that do not contradict each other."""


@pytest.fixture
def conflict(agent: Agent) -> Conflict:
    """This returns what an earlier version took for a conflict."""
    first, second = remember(agent, TEA), remember(agent, ROOM)
    run_jobs()
    return conflict_between(first, second)


def compare_all() -> None:
    """Compare all texts anew."""
    call_command("find_conflicts", verbosity=0)
    run_jobs()


def state(conflict: Conflict) -> tuple[str, str, bool]:
    """The status, why it is gone, and whether it is closed."""
    conflict.refresh_from_db()
    return conflict.status, conflict.gone_because, conflict.closed is not None


def test_it_is_gone_after_its_item_was_compared(agent: Agent) -> None:
    first, second = remember(agent, TEA), remember(agent, ROOM)
    run_jobs()
    conflict = conflict_between(first, second)
    remember(agent, "Something else entirely.")
    run_jobs()
    assert state(conflict) == ("open", "", False), "neither side was compared"
    compare_all()
    assert state(conflict) == ("gone", "not_found", True)
    closed = conflict.closed
    compare_all()
    conflict.refresh_from_db()
    assert conflict.closed == closed


def test_counter_alert_and_webhook_follow(agent: Agent, team: Team, editor: User) -> None:
    Webhook.objects.create(label="Chat", url="https://93.184.216.34/", events=WebhookEvent.values, sealed_secret="x")
    first, second = remember(agent, TEA), remember(agent, ROOM)
    run_jobs()
    conflict = conflict_between(first, second)
    assert recount_open_conflicts(editor) == 1
    follow_assemblies([told(agent, team, topic="When and where is tea?", profile="memory")])
    assert Alert.objects.get(kind=AlertKind.CONFLICT_OPEN).is_open
    compare_all()
    assert state(conflict) == ("gone", "not_found", True)
    assert not Alert.objects.get(kind=AlertKind.CONFLICT_OPEN).is_open
    editor.refresh_from_db()
    assert editor.open_conflicts == 0
    events = WebhookDelivery.objects.order_by("created", "id").values_list("event", flat=True)
    assert list(events) == ["alert.opened", "alert.closed"]
    later = told(agent, team, topic="When and where is tea?", profile="memory")
    assert later.warnings == []


def test_another_text_closes_counter_and_alert_at_once(agent: Agent, team: Team, editor: User) -> None:
    memory = remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    conflict = Conflict.objects.get()
    editor.refresh_from_db()
    assert editor.open_conflicts == 1
    follow_assemblies([told(agent, team, topic="When does the support line open?", profile="memory")])
    memory_update(
        memory=memory, expected_version=1, facts=MemoryFacts(kind="fact", text="Nobody answers the support line."),
        superseded_by=None, principal=SYSTEM,
    )  # fmt: skip
    run_jobs()
    assert state(conflict) == ("gone", "text_changed", True)
    assert not Alert.objects.get(kind=AlertKind.CONFLICT_OPEN).is_open
    editor.refresh_from_db()
    assert editor.open_conflicts == 0


@pytest.fixture
def model(tmp_path: Path, settings: Any) -> Iterator[Path]:
    in_use._model_of.cache_clear()
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path / "tiny-nli")
    yield tmp_path / "tiny-nli"
    in_use._model_of.cache_clear()


def test_it_is_open_again_when_it_is_found_again(agent: Agent, model: Path, settings: Any) -> None:
    remember(agent, VEGAN)
    remember(agent, BEEF)
    run_jobs()
    conflict = Conflict.objects.get()
    settings.CONFLICT_MODEL_FOLDER = None
    compare_all()
    assert state(conflict) == ("gone", "not_found", True)
    with pytest.raises(ConflictError, match="no longer finds"):
        conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    settings.CONFLICT_MODEL_FOLDER = model
    compare_all()
    assert state(conflict) == ("open", "", False)
    conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)


def test_a_model_that_fails_closes_nothing(agent: Agent, model: Path) -> None:
    remember(agent, VEGAN)
    remember(agent, BEEF)
    run_jobs()
    conflict = Conflict.objects.get()
    in_use._model_of.cache_clear()
    (model / "model.onnx").write_bytes(b"no graph")
    compare_all()
    assert state(conflict) == ("open", "", False)


def test_a_decision_stays(conflict: Conflict) -> None:
    conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    compare_all()
    assert state(conflict) == ("resolved", "", False)
    conflict_undo(conflict=conflict, principal=SYSTEM)
    compare_all()
    assert state(conflict) == ("open", "", False), "somebody undid the decision, so that it is open"
    assert close_unfound([conflict]) == [], "the decision may come while texts are compared"


def test_an_archived_side_closes_nothing(agent: Agent) -> None:
    first, second = remember(agent, TEA), remember(agent, ROOM)
    run_jobs()
    conflict = conflict_between(first, second)
    memory_update(
        memory=first, expected_version=1, facts=facts_of(first), superseded_by=None, retired_because="old",
        principal=SYSTEM,
    )  # fmt: skip
    compare_all()
    assert state(conflict) == ("open", "", False)


@pytest.mark.parametrize(("texts", "status"), [((EIGHTY, NINETY), "open"), ((TEA, ROOM), "gone")])
def test_texts_that_are_nearer_hide_no_other_side(
    agent: Agent, texts: tuple[str, str], status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (remember(agent, text) for text in texts)
    run_jobs()
    conflict = Conflict.objects.first() or conflict_between(first, second)
    monkeypatch.setattr(nearest_texts, "NEAREST", 0)
    monkeypatch.setattr(nearest_texts, "FURTHER", 0)
    [text] = compared_texts.texts_of("memory", first.id) or []
    assert nearest_texts.nearest_texts(text) == []
    compare_all()
    assert state(conflict)[0] == status


@pytest.mark.parametrize("kind", ["team_file", "document"])
def test_a_passage_is_compared_again(agent: Agent, team: Team, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = remember(agent, TEA)
    item: Any
    if kind == "document":
        [item] = documents_create(agent=agent, facts=[{"path": "tea.md", "content": ROOM}], principal=SYSTEM)
        document_split(id_=item.id)
    else:
        item = team.files.get(file_key="CONTEXT")
        file_save(file=item, content=ROOM, expected_version=item.version, author=SYSTEM.author)
    run_jobs()
    [of_memory], [passage] = (compared_texts.texts_of(*one) or [] for one in (("memory", memory.id), (kind, item.id)))
    left, right = sorted((of_memory, passage), key=lambda one: one.item)
    measures = dict.fromkeys(("similarity", "subject", "severity", "probability"), 0.9)
    words = {"kind": "number", "cue": "The numbers differ.", "left_statement": left.text, "right_statement": right.text}
    conflict = compared_texts.conflict_between(left, right, **words, **measures)
    conflict.explain()
    conflict.save(force_insert=True)
    monkeypatch.setattr(nearest_texts, "NEAREST", 0)
    monkeypatch.setattr(nearest_texts, "FURTHER", 0)
    assert item_conflicts_find(kind="memory", id_=memory.id) == [conflict]
    assert state(conflict) == ("gone", "not_found", True)


def test_a_duplicate_that_is_none_is_gone_and_a_conflict_may_become_one(agent: Agent, team: Team) -> None:
    first, second, third = remember(agent, TEA), remember(agent, ROOM), remember(team, TEA)
    run_jobs()
    wrong = conflict_between(first, second, kind="duplicate", severity=0.0)
    Conflict.objects.filter(kind="duplicate", team=team).update(kind="number", severity=0.8, strategy="flag")
    disputed = Conflict.objects.get(team=team)
    follow_assemblies([told(agent, team, topic="When is tea served?", profile="memory")])
    assert Alert.objects.get(kind=AlertKind.CONFLICT_OPEN).is_open
    compare_all()
    assert state(wrong) == ("gone", "not_found", True)
    assert state(disputed) == ("open", "", False)
    assert disputed.kind == "duplicate"
    assert not Alert.objects.get(kind=AlertKind.CONFLICT_OPEN).is_open, "nobody needs to decide"
    assert third.id in {disputed.left_item, disputed.right_item}


def test_rest_tells_why_it_is_gone(conflict: Conflict, editor: User) -> None:
    api = Api(person=editor.principal)
    assert api.get(f"conflicts/{conflict.id}").json()["gone_because"] is None
    compare_all()
    [listed] = api.get("conflicts?status=gone").json()["results"]
    assert (listed["status"], listed["gone_because"]) == ("gone", "not_found")
    refused = api.post(f"conflicts/{conflict.id}/resolve", {"choice": "both"})
    assert (refused.status_code, refused.json()["detail"]) == (
        409, "Detection no longer finds this conflict. Reload the page.",
    )  # fmt: skip


def test_what_was_compared_while_the_model_rested_stays(
    agent: Agent, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path / "tiny-nli")
    in_use._model_of.cache_clear()
    now = [1_000.0]
    monkeypatch.setattr(in_use, "monotonic", lambda: now[0])
    filler = "\n\n".join(f"Paragraph {n} is long and says nothing of interest about topic {n}." for n in range(90))
    content = f"# One\n\n{BEEF}\n\n# Two\n\n{filler}\n\n# Three\n\nThe library cooks beef stew for the readers.\n"
    for text in (VEGAN, "The library cooks vegan food for the readers."):
        remember(agent, text)
    [item] = documents_create(agent=agent, facts=[{"path": "tea.md", "content": content}], principal=SYSTEM)
    document_split(id_=item.id)
    run_jobs()
    found = list(Conflict.objects.filter(kind="meaning"))
    assert len(found) == 4, "each passage contradicts each memory"
    model = in_use.model_in_use()
    assert model
    monkeypatch.setattr(model, "_failures", 1)
    monkeypatch.setattr(model, "_rests_until", now[0] + 1)

    def advance(_: int) -> None:
        now[0] += 2  # its rest ends between the first passage and the last one

    item_conflicts_find(kind="document", id_=item.id, advance=advance)
    assert not model.is_failing
    assert {state(conflict)[0] for conflict in found} == {"open"}
