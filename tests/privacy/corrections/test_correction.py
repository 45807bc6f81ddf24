"""A wrong value is corrected in every kind of thing, as a new version that its own service saves."""

import json
from typing import Any
from uuid import UUID

import pytest

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from config.http.errors import Conflict, Invalid
from memories.models import Event, Memory, MemoryVersion
from memories.services import MemoryFacts, memories_create, memory_create, memory_delete, memory_update
from privacy.corrections import services
from privacy.corrections.corrected_text import ValueCorrection
from privacy.corrections.correction_plan import correctable_columns, correction_plan
from privacy.corrections.saving import thing_save
from privacy.corrections.services import MAX_IMMEDIATE, correction_create, correction_undo
from privacy.erasure.services import erasure_request
from privacy.models import CorrectionStatus, Subject, SubjectCorrection
from privacy.subjects.services import Identifier, subject_restrict
from privacy.subjects.stored_texts import THING_KINDS
from teams.activity.models import Activity
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.origin import Origin
from teams.principal import SYSTEM, Principal
from teams.sensitivity import Sensitivity, reading_everything
from tests.privacy.subject_factories import KINDS_OF_AGENT, NAME, link_all, run_scans, scanned_subject, tell_everything

pytestmark = pytest.mark.django_db

RIGHT = "Zora Quill"
RENAMED = ValueCorrection("name", NAME, RIGHT)
PHONE = ValueCorrection("phone", "+49 171 1234567", "+49 171 7654321")


@pytest.fixture
def by(admin: User) -> Principal:
    return admin.principal


def remember(agent: Agent, *texts: str) -> list[Memory]:
    facts = [MemoryFacts(kind="fact", text=text) for text in texts]
    return memories_create(owner=agent, facts=facts, principal=SYSTEM)


def linked_subject() -> Subject:
    subject = scanned_subject()
    link_all(subject)
    return subject


def correct(
    subject: Subject, value: ValueCorrection, by: Principal, things: list[str] | None = None
) -> SubjectCorrection:
    """Correct what the plan has, or these things, and run the job."""
    chosen = [planned.ref for planned in correction_plan(subject, value).things] if things is None else things
    made = correction_create(subject=subject, value=value, reason="She wrote to us.", things=chosen, principal=by)
    run_job(made)
    return made


def run_job(correction: SubjectCorrection) -> None:
    assert correction.job
    steps: list[int] = []
    with reading_everything():
        services.correct_subject(correction.job, steps.append)
    correction.refresh_from_db()
    assert correction.finished_at
    assert sum(steps) + 1 == correction.job.steps  # the last step counts when the job is done


def texts(kind: str, id_: UUID) -> str:
    row = THING_KINDS[kind].model.objects.get(id=id_)
    return json.dumps([getattr(row, column) for column in correctable_columns(THING_KINDS[kind])])


def test_every_kind_of_thing_gets_a_next_version(agent: Agent, team: Team, by: Principal) -> None:
    tell_everything(agent, team)
    organisation_file_create(key="house", title=f"House of {NAME}", content=f"Tea for {NAME}.", principal=SYSTEM)
    subject = linked_subject()
    plan = correction_plan(subject, RENAMED)
    assert KINDS_OF_AGENT | {"team_file", "organisation_file"} <= {one.thing.kind.name for one in plan.things}
    done = correct(subject, RENAMED, by)
    results = list(done.results.all())
    assert {result.status for result in results} == {CorrectionStatus.CORRECTED}
    assert len(results) == len(plan.things)
    for result in results:
        assert NAME not in texts(result.ref_kind, result.thing)
        assert RIGHT in texts(result.ref_kind, result.thing)
        row = THING_KINDS[result.ref_kind].model.objects.get(id=result.thing)
        assert result.version_before < row.version == result.version
        assert row.editor_ref == by.ref
    assert correction_plan(subject, RENAMED).is_empty


def test_history_stays_and_names_the_correction(agent: Agent, by: Principal) -> None:
    [memory] = remember(agent, f"{NAME} likes tea.")
    done = correct(linked_subject(), RENAMED, by)
    first, second = MemoryVersion.objects.filter(file=memory).order_by("version")
    assert (first.content, second.content) == (f"{NAME} likes tea.", f"{RIGHT} likes tea.")
    assert second.note == f"Correction {done.id.hex[-8:]}: She wrote to us."
    assert (second.editor_ref, second.origin) == (by.ref, first.origin)


def test_a_text_is_trusted_as_much_as_before(agent: Agent, by: Principal) -> None:
    facts = MemoryFacts(kind="fact", text=f"{NAME} likes tea.", origin=Origin.AGENT, sensitivity=3)
    memory = memory_create(owner=agent, facts=facts, principal=SYSTEM)
    correct(linked_subject(), RENAMED, by)
    memory.refresh_from_db()
    assert (memory.text, memory.origin) == (f"{RIGHT} likes tea.", Origin.AGENT)
    assert memory.sensitivity == Sensitivity.RESTRICTED


@pytest.mark.parametrize("kind", ["name", "other"])
def test_the_subject_is_corrected_and_its_former_identifier_still_searched_for(
    agent: Agent, by: Principal, kind: str
) -> None:
    subject = linked_subject()
    done = correct(subject, ValueCorrection(kind, NAME, RIGHT), by, [])
    subject.refresh_from_db()
    assert (subject.name, subject.version, done.was_identifier) == (RIGHT, 2, True)
    assert next(one.value for one in subject.identifiers.order_by("id")) == RIGHT
    remember(agent, f"{NAME} called again.", f"{RIGHT} called.")
    run_scans()
    assert subject.mentions.count() == 2


def test_what_changed_meanwhile_is_reported_and_not_overwritten(agent: Agent, by: Principal) -> None:
    changed, gone, same = remember(agent, f"{NAME} 1", f"{NAME} 2", f"{NAME} 3")
    subject = linked_subject()
    refs = [planned.ref for planned in correction_plan(subject, RENAMED).things]
    newer = MemoryFacts(kind="fact", text=f"{NAME} 1, and tea")
    memory_update(memory=changed, expected_version=1, facts=newer, superseded_by=None, principal=SYSTEM)
    memory_delete(memory=gone, principal=SYSTEM)
    done = correct(subject, RENAMED, by, refs)
    found = {result.thing: (result.status, result.version) for result in done.results.all()}
    assert found == {
        changed.id: (CorrectionStatus.CHANGED, 2),
        gone.id: (CorrectionStatus.MISSING, None),
        same.id: (CorrectionStatus.CORRECTED, 2),
    }
    changed.refresh_from_db()
    assert changed.text == f"{NAME} 1, and tea"


def test_a_value_that_does_not_fit_is_refused_for_that_thing_alone(agent: Agent, by: Principal) -> None:
    long = f"{NAME} " + "x" * (20_000 - len(NAME) - 1)
    remember(agent, long, f"{NAME} came.")
    done = correct(linked_subject(), ValueCorrection("name", NAME, "Zora Quellington"), by)
    statuses = {result.status: result.detail for result in done.results.all()}
    assert set(statuses) == {CorrectionStatus.CORRECTED, CorrectionStatus.REFUSED}
    assert "the maximum is 20,000" in statuses[CorrectionStatus.REFUSED]


def test_a_restricted_subject_is_corrected_and_stays_restricted(agent: Agent, team: Team, by: Principal) -> None:
    tell_everything(agent, team)
    subject = linked_subject()
    subject_restrict(subject=subject, restricted=True, principal=SYSTEM)
    done = correct(subject, RENAMED, by)
    assert {result.status for result in done.results.all()} == {CorrectionStatus.CORRECTED}
    subject.refresh_from_db()
    assert subject.is_restricted
    for result in done.results.all():
        row = THING_KINDS[result.ref_kind].model.everything.get(id=result.thing)
        assert row.sensitivity == Sensitivity.WITHHELD, result.ref_kind
    subject_restrict(subject=subject, restricted=False, principal=SYSTEM)
    assert not Memory.everything.filter(sensitivity=Sensitivity.WITHHELD).exists()


def test_many_things_are_corrected_by_a_job_that_goes_on_where_it_was(
    agent: Agent, by: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(agent, *(f"{NAME} drank {number} cups." for number in range(MAX_IMMEDIATE + 5)))
    subject = linked_subject()
    refs = [planned.ref for planned in correction_plan(subject, RENAMED).things]
    made = correction_create(subject=subject, value=RENAMED, reason="Wrong.", things=refs, principal=by)
    assert not made.results.exists()
    saved = thing_save
    calls: list[Any] = []

    def killed(**facts: Any) -> int:
        calls.append(facts)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return saved(**facts)

    monkeypatch.setattr("privacy.corrections.services.thing_save", killed)
    with pytest.raises(KeyboardInterrupt):
        services.correct_subject(made.job, lambda _steps: None)  # type: ignore[arg-type]
    assert made.results.count() == 3
    monkeypatch.setattr("privacy.corrections.services.thing_save", saved)
    run_job(made)
    assert made.results.filter(status=CorrectionStatus.CORRECTED, version=2).count() == MAX_IMMEDIATE + 5


def test_recorded_contexts_stay_and_their_recipients_are_named(agent: Agent, team: Team, by: Principal) -> None:
    remember(agent, "Zora Quell has the number 0171 1234567.", "Tea is green.")
    other = Agent.objects.create(slug="other", name="Other")
    remember(other, "0171-1234567 is a number.")  # about nobody
    for name in (agent, agent, other):
        assemble(agent=name, asked=AssemblyRequest(topic="Which number?"), principal=SYSTEM)
    before = assemble(agent=agent, team=team, asked=AssemblyRequest(topic="Which number?"), principal=SYSTEM)
    assert "0171 1234567" in before.content
    subject = linked_subject()
    subject.mentions.filter(agent_id=other.id).update(status="dismissed")
    done = correct(subject, PHONE, by)
    told = done.told
    assert told["contexts"] == 3
    assert [(one["agent"], one["name"], one["contexts"]) for one in told["recipients"]] == [
        (str(agent.id), agent.name, 3)
    ]
    after = assemble(agent=agent, team=team, asked=AssemblyRequest(topic="Which number?"), principal=SYSTEM)
    assert "+49 171 7654321" in after.content
    assert "0171 1234567" not in after.content


def test_things_are_undone_unless_they_were_changed_since(agent: Agent, team: Team, by: Principal) -> None:
    tell_everything(agent, team)
    subject = linked_subject()
    before = {planned.thing.mention.thing: planned for planned in correction_plan(subject, RENAMED).things}
    texts_before = {id_: texts(planned.thing.kind.name, id_) for id_, planned in before.items()}
    done = correct(subject, RENAMED, by)
    assert correction_undo(correction=done, things=before, principal=by) == len(before)
    for id_, planned in before.items():
        assert texts(planned.thing.kind.name, id_) == texts_before[id_]
    assert {result.status for result in done.results.all()} == {CorrectionStatus.UNDONE}
    with pytest.raises(Invalid, match="that was corrected"):
        correction_undo(correction=done, things=before, principal=by)
    again = correct(subject, RENAMED, by)
    event = Event.objects.get(id=again.results.filter(ref_kind="event").first().thing)  # type: ignore[union-attr]
    Event.objects.filter(id=event.id).update(version=event.version + 1)
    with pytest.raises(Conflict, match="was changed after"):
        correction_undo(correction=again, things=before, principal=by)
    assert {result.status for result in again.results.all()} == {CorrectionStatus.CORRECTED}


def test_former_values_of_things_without_history_are_stored_encrypted(agent: Agent, team: Team, by: Principal) -> None:
    tell_everything(agent, team)
    done = correct(linked_subject(), RENAMED, by)
    sealed = {result.ref_kind: result.sealed_before for result in done.results.all()}
    assert sealed["entity"]
    assert not sealed["memory"]
    assert all(NAME not in value for value in sealed.values())


def test_the_activity_log_has_neither_value(agent: Agent, by: Principal) -> None:
    remember(agent, f"{NAME} came.")
    done = correct(linked_subject(), RENAMED, by)
    line = Activity.objects.get(action="subject.corrected")
    assert line.detail == {"correction": str(done.id), "things": 1}
    assert NAME not in line.target


@pytest.mark.parametrize(
    ("things", "reason", "message"),
    [
        (["memory:no-id@1"], "Wrong.", "is no ref"),
        ([f"memory:{UUID(int=3)}@1"], "Wrong.", "is not linked"),
        ([], " ", "Say why"),
        ([], "x" * 501, "Say why"),
        ([f"memory:{UUID(int=number)}@1" for number in range(501)], "Wrong.", "At most 500"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(things: list[str], reason: str, message: str, by: Principal) -> None:
    subject = linked_subject()
    with pytest.raises(Invalid, match=message):
        correction_create(subject=subject, value=RENAMED, reason=reason, things=things, principal=by)
    subject.refresh_from_db()
    assert subject.name == NAME
    assert not SubjectCorrection.objects.exists()


def test_nothing_to_correct_and_an_erasure_under_way_are_refused(agent: Agent, by: Principal) -> None:
    subject = linked_subject()
    other = ValueCorrection("other", "Mill Lane 3", "Mill Lane 5")
    with pytest.raises(Invalid, match="Select at least one"):
        correction_create(subject=subject, value=other, reason="Wrong.", things=[], principal=by)
    erasure_request(subject=subject, reason="They asked for it.", principal=by)
    with pytest.raises(Conflict, match="under way"):
        correction_create(subject=subject, value=RENAMED, reason="Wrong.", things=[], principal=by)


def test_whoever_lost_their_rights_corrects_nothing_more(agent: Agent, admin: User) -> None:
    remember(agent, *(f"{NAME} drank {number} cups." for number in range(MAX_IMMEDIATE + 1)))
    subject = linked_subject()
    refs = [planned.ref for planned in correction_plan(subject, RENAMED).things]
    made = correction_create(subject=subject, value=RENAMED, reason="Wrong.", things=refs, principal=admin.principal)
    User.objects.filter(id=admin.id).update(is_admin=False)
    run_job(made)
    assert set(made.results.values_list("status", flat=True)) == {CorrectionStatus.REFUSED}
    assert not Memory.objects.filter(text__contains=RIGHT).exists()


def test_another_identifier_becomes_the_right_one(by: Principal) -> None:
    subject = linked_subject()
    correct(subject, PHONE, by, [])
    values = [Identifier(one.kind, one.value) for one in subject.identifiers.order_by("id")]
    assert values[-1] == Identifier("phone", "+49 171 7654321")
