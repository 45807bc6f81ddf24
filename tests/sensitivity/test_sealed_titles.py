"""Titles, names, reasons and what records have of an item beside its text lie sealed above internal, and read as they
were written.
"""

import base64
import io
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from agents.models import Agent
from assembly.contexts.search.item_rows import organisation_files_with_names
from assembly.models import Alert, AlertKind, Assembly, Conflict, Piece, RecallTest
from assembly.monitoring.alerts.findings import Finding
from assembly.monitoring.alerts.watch import AlertUpdates
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create, recall_test_delete
from assembly.records.decisions_alone import load_decisions_or_errors
from assembly.records.raised_levels import raise_recorded_levels
from assembly.records.reader import load_record, replay
from assembly.records.seal_verification import VerificationCounts, piece_findings
from assembly.sources.kinds import KINDS
from config.db.statements import fetch_rows
from config.keys.envelope import DecryptionFailed
from config.keys.sealed_texts import MARK
from memories.lifecycle.plain_texts import plain_text_count
from memories.models import Event, Memory
from memories.services import MemoryFacts, memory_create, memory_update
from teams.level_changes import level_set
from teams.models import Activity, BrowserSession, OrganisationFile, Team, User
from teams.organisation import views
from teams.organisation.services import (
    organisation_file_create,
    organisation_file_delete,
    organisation_file_rename,
)
from teams.principal import SYSTEM
from teams.sealing import fields
from teams.sealing.columns import ACTIVITIES, PARTS
from teams.sensitivity import Sensitivity
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.monitoring.alerts.alert_factories import NOON, alert_on
from tests.client import Api
from tests.pages.conftest import SignedIn, text_of
from tests.sensitivity.restricted_things import raise_level

pytestmark = pytest.mark.django_db

WORD = "Vyqxquokka"
RESTRICTED, INTERNAL = Sensitivity.RESTRICTED, Sensitivity.INTERNAL
TABLES = (
    *("organisation_files", "organisation_file_versions", "activities", "pieces", "alerts", "recall_tests"),
    *("memories", "memory_versions", "conflicts", "conflict_decisions", "drafts", "browser_sessions"),
)


def holding(word: str = WORD) -> set[str]:
    """The columns in which the word lies in plain."""
    return {
        f"{table}.{column}"
        for table in TABLES
        for (column,) in fetch_rows(
            f"SELECT DISTINCT member FROM {table} AS row, jsonb_each_text(to_jsonb(row)) AS one (member, said)"  # noqa: S608
            " WHERE said ILIKE %s",
            [f"%{word}%"],
        )
    }


def house_file(title: str, level: int = INTERNAL, key: str = "house") -> OrganisationFile:
    return organisation_file_create(
        key=key, title=title, content="# Tea\n\nHow we make tea.", principal=SYSTEM, sensitivity=level
    )


def titles(page: Any) -> list[str]:
    return [card.file.title for card in page.context["cards"]]


def test_a_title_is_sealed_with_its_history_and_the_log_and_opened_again(admin_api: Api) -> None:
    file = house_file("Tea")
    file = organisation_file_rename(file=file, title=f"{WORD} tea", expected_version=1, principal=SYSTEM)
    assert holding() == {
        *("organisation_files.title", "organisation_file_versions.title", "organisation_file_versions.note"),
        *("activities.target", "activities.detail"),
    }
    with pytest.raises(IntegrityError, match="not sealed"), transaction.atomic():
        OrganisationFile.objects.filter(pk=file.pk).update(sensitivity=RESTRICTED)
    file = level_set(row=file, level=RESTRICTED, principal=SYSTEM)
    assert holding() == set()
    file = organisation_file_rename(file=file, title=f"{WORD} coffee", expected_version=3, principal=SYSTEM)
    assert holding() == set()
    assert OrganisationFile.objects.get().title == f"{WORD} coffee"
    assert [one.title for one in file.versions.order_by("version")] == ["Tea", f"{WORD} tea", f"{WORD} tea", file.title]
    entries = {one["action"]: one for one in admin_api.get("activities").json()["results"]}
    renamed = entries["organisation_file.renamed"]
    assert renamed["target"] in {f"{WORD} tea", f"{WORD} coffee"}
    assert renamed["detail"]["before"]["title"] in {"Tea", f"{WORD} tea"}
    level_set(row=file, level=INTERNAL, principal=SYSTEM)
    assert "organisation_files.title" in holding()
    organisation_file_delete(file=OrganisationFile.objects.get(), principal=SYSTEM)
    assert Activity.objects.get(action="organisation_file.deleted").target == f"{WORD} coffee"


def test_an_entry_that_cannot_be_read_breaks_no_list(admin_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    house_file(WORD, RESTRICTED)
    assert holding() == set()
    assert admin_api.get("activities").json()["results"][0]["target"] == WORD

    def changed(_stored: str) -> str:
        raise DecryptionFailed

    monkeypatch.setattr(fields, "open_text", changed)
    entry = admin_api.get("activities").json()["results"][0]
    assert (entry["target"], entry["detail"]) == (fields.UNREADABLE_NOTICE, fields.UNREADABLE_DETAIL)


def test_sealed_titles_are_listed_and_found_as_they_were_written(
    signed_in: SignedIn, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = ["alpha tea", "Beta", "Gamma tea", "omega"]
    for at in (2, 0, 3, 1):
        house_file(order[at], RESTRICTED if at % 2 == 0 else INTERNAL, key=f"key-{at}")
    browser = signed_in(admin)
    assert titles(browser.get("/organisation/")) == order
    monkeypatch.setattr(views, "PER_PAGE", 3)
    assert [titles(browser.get(f"/organisation/?page={page}")) for page in (1, 2)] == [order[:3], order[3:]]
    assert [one.title for one in organisation_files_with_names("TEA")] == ["alpha tea", "Gamma tea"]
    kind = next(kind for kind in KINDS.values() if kind.name == "organisation_file")
    assert [one.title for one in kind.search(OrganisationFile.objects.all(), "tea")][::2] == ["alpha tea", "Gamma tea"]
    assert "Gamma tea" in text_of(browser.get("/search/?q=gamma"))


def told(agent: Agent) -> Assembly:
    asked = AssemblyRequest(topic="How do we make tea?", profile="memory", max_tokens=4_000)
    return assemble(agent=agent, asked=asked, principal=SYSTEM).assembly


def facts_of(word: str) -> list[bool]:
    """Whether the facts of each piece that says the word are stored sealed."""
    kept = {one.id for one in Piece.objects.all() if word in str(one.facts)}
    rows = fetch_rows("SELECT id, jsonb_typeof(facts) FROM pieces WHERE id = ANY(%s)", [list(kept)])
    return [kind == "string" for _, kind in rows]


def test_pieces_of_records_are_sealed_when_their_item_is_raised_and_records_stay_valid(agent: Agent) -> None:
    file = house_file(f"{WORD} tea")
    record = told(agent)
    assert facts_of(WORD) == [False]
    level_set(row=file, level=RESTRICTED, principal=SYSTEM)
    raise_recorded_levels()
    assert facts_of(WORD) == [True]
    assert holding() == set()
    Agent.objects.filter(pk=agent.pk).update(clearance=RESTRICTED)
    agent.refresh_from_db()
    newer = told(agent)
    assert facts_of(WORD) == [True, True]
    assert holding() == set()
    for one in (record, newer):
        stored = Assembly.everything.get(id=one.id)
        assert replay(load_record(stored)).identical
        kinds = [candidate.kind for candidate in load_record(stored).inputs.candidates]
        [alone] = load_decisions_or_errors([stored])
        assert [candidate.kind for candidate in alone.inputs.candidates] == kinds  # type: ignore[union-attr]
    assert list(piece_findings(VerificationCounts())) == []


def test_alerts_of_a_raised_context_are_sealed_and_reopened_at_its_level(agent: Agent, team: Team) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="We make tea at 4."), principal=SYSTEM)
    record = told(agent)
    alert = alert_on(agent, team, name=WORD, detail={"why": WORD}, context=record.id)
    assert holding() == {"alerts.name", "alerts.detail"}
    with pytest.raises(IntegrityError, match="not sealed"), transaction.atomic():
        Alert.objects.filter(pk=alert.pk).update(sensitivity=RESTRICTED)
    level_set(row=memory, level=RESTRICTED, principal=SYSTEM)
    raise_recorded_levels()
    assert holding() == set()
    stored = Alert.everything.get(pk=alert.pk)
    assert (stored.name, stored.detail, stored.sensitivity) == (WORD, {"why": WORD}, RESTRICTED)
    finding = Finding(AlertKind.FILE_CUT, alert.thing, alert.cause, WORD, f"{WORD} is cut")
    for level in (INTERNAL, RESTRICTED):
        Alert.everything.filter(pk=alert.pk).update(closed=NOON)
        board = AlertUpdates([Alert.everything.get(pk=alert.pk)])
        later = Assembly.everything.get(id=record.id)
        later.sensitivity, later.team_id, later.profile_name = level, team.id, alert.profile_name
        board.see(later, {finding.key: finding})
        board.write()
        stored = Alert.everything.get(pk=alert.pk)
        assert (stored.name, stored.detail["why"], stored.sensitivity) == (WORD, f"{WORD} is cut", level)
        assert holding() == ({"alerts.name", "alerts.detail"} if level == INTERNAL else set())


def test_the_name_of_a_test_and_its_deletion_in_the_log_are_sealed(
    agent: Agent, signed_in: SignedIn, admin: User
) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Tea.", sensitivity=2), principal=SYSTEM)
    for name, expected in (("beta", "Coffee"), (f"Alpha {WORD}", ""), ("Zeta", "Coffee")):
        one = (
            Expectation("include", ref=f"memory:{memory.id}") if not expected else Expectation("exclude", text=expected)
        )
        facts = RecallFacts(name=name, topic="Tea", expectations=[one])
        recall_test_create(agent=agent, team=None, facts=facts, principal=SYSTEM)
    assert holding() == set()
    page = signed_in(admin).get("/recall-tests/")
    assert [row.test.name for row in page.context["rows"]] == [f"Alpha {WORD}", "beta", "Zeta"]
    recall_test_delete(test=next(one for one in RecallTest.objects.all() if WORD in one.name), principal=SYSTEM)
    assert holding() == set()
    assert Activity.objects.get(action="recall_test.deleted").target == f"Alpha {WORD}"


def test_reasons_of_archiving_and_of_decisions_are_sealed_with_their_texts(agent: Agent) -> None:
    facts = [MemoryFacts(kind="fact", text=text) for text in ("Tea at 4.", "Tea at 5.", "Tea at 6.")]
    left, right, old = (memory_create(owner=agent, facts=one, principal=SYSTEM) for one in facts)
    old = memory_update(
        memory=old,
        expected_version=1,
        facts=facts[2],
        superseded_by=None,
        retired_because=f"{WORD} said so",
        principal=SYSTEM,
    )
    conflict = conflict_between(left, right)
    decision = conflict.decisions.create(action="undo", reason=f"{WORD} decided", by_ref="system")
    assert holding() == {"memories.retired_because", "memory_versions.retired_because", "conflict_decisions.reason"}
    with pytest.raises(IntegrityError, match="not sealed"), transaction.atomic():
        Memory.objects.filter(pk=left.pk).update(sensitivity=RESTRICTED)
    for memory in (left, old):
        level_set(row=memory, level=RESTRICTED, principal=SYSTEM)
    assert holding() == set()
    old, decision = Memory.objects.get(pk=old.pk), conflict.decisions.get(pk=decision.pk)
    assert (old.retired_because, decision.reason, old.stands) == (f"{WORD} said so", f"{WORD} decided", False)
    assert old.versions.get(version=2).retired_because == f"{WORD} said so"
    Conflict.objects.get().decisions.create(action="undo", reason=f"{WORD} again", by_ref="system")
    assert holding() == set()
    found = told(agent)
    assert holding() == set()
    assert replay(load_record(found)).identical
    level_set(row=old, level=INTERNAL, principal=SYSTEM)
    assert holding() == {
        "memories.retired_because",
        "memory_versions.retired_because",
    }  # of the version that lowered it


def test_what_an_earlier_version_stored_in_plain_is_sealed_by_the_command(
    agent: Agent, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = house_file(f"{WORD} tea")
    told(agent)
    alert = alert_on(agent, team, name=WORD)
    with monkeypatch.context() as former:
        parts = tuple(one for one in PARTS["organisation_files"] if one not in ACTIVITIES)
        former.setitem(PARTS, "organisation_files", parts)
        level_set(row=file, level=RESTRICTED, principal=SYSTEM)
    fetch_rows("SELECT set_config('dossier.erasing', 'spellings', true)")  # by which they are as they were stored
    Alert.objects.filter(pk=alert.pk).update(sensitivity=RESTRICTED)
    OrganisationFile.objects.filter(pk=file.pk).update(title=f"{WORD} tea")
    fetch_rows("SELECT set_config('dossier.erasing', '', true)")
    plain = {"organisation_files.title", "activities.target", "pieces.facts", "alerts.name"}
    assert holding() - {"organisation_files.title"} == plain - {"organisation_files.title"}
    assert plain_text_count() >= 1
    call_command("seal_texts", stdout=io.StringIO())
    assert holding() == set()
    assert plain_text_count() == 0
    assert OrganisationFile.objects.get().title == f"{WORD} tea"
    said = io.StringIO()
    call_command("seal_texts", stdout=said)
    assert said.getvalue() == "No text above internal was stored in plain.\n"


def test_words_of_events_are_not_sought_in_ciphertext(agent: Agent) -> None:
    events = [
        Event.objects.create(agent=agent, type="note", content={"said": f"{WORD} {at}"}, occurred_at=NOON, size=9)
        for at in "ab"
    ]
    raise_level(Event, events[0].pk)
    kind = KINDS["event"]
    assert list(kind.search(Event.objects.all(), WORD)) == [events[1]]
    ((stored,),) = fetch_rows("SELECT content #>> '{}' FROM events WHERE id = %s", [events[0].pk])
    assert stored.startswith(MARK)
    assert base64.b64decode(stored[len(MARK) :])
    for letters in (stored[-12:-4], "sealed"):
        assert list(kind.search(Event.objects.all(), letters)) == []


def test_the_last_topic_of_a_preview_lies_encrypted_in_the_session(
    signed_in: SignedIn, admin: User, agent: Agent
) -> None:
    browser = signed_in(admin)
    address = f"/agents/{agent.slug}/files/KNOWLEDGE/preview/"
    assert browser.get(address, {"topic": f"{WORD}?", "profile": "conversation"}).status_code == 200
    assert WORD in text_of(browser.get(address))
    assert BrowserSession.objects.exists()
    assert holding() == set()
