"""Windows of 50 contexts tune a profile: each trigger moves its parameter, an admin resets it, old contexts replay."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from assembly.engine.tuning import UNTUNED
from assembly.models import Assembly, AssemblyFeedback, AssemblyQuality, ProfileTuning, Purpose, TuningWindow
from assembly.monitoring.tuning_windows import FEEDBACK_TIME, WINDOW, profiles_tune
from assembly.profiles.catalogue import find_profile
from assembly.profiles.services import profile_create, profile_delete, profile_save
from assembly.profiles.shipped import SHIPPED
from assembly.profiles.tuning_versions import TuningState, tuning_reset, tuning_state, tuning_switch
from assembly.records.change_counters import load_change_counts
from assembly.records.feedback import FeedbackFacts, feedback_create
from assembly.records.followers import new_assemblies_follow
from assembly.records.reader import load_record, replay
from config.db.migration_helpers import ORGANISATION
from config.http.errors import Conflict, Forbidden
from memories.jobs.periodic import PERIODIC_TASKS
from teams.activity.models import Activity
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.feedback.tuning_factories import made, measured, measured_just_now, tuned_later

pytestmark = pytest.mark.django_db


@pytest.fixture
def record(agent: Agent, team: Team) -> Assembly:
    return made(agent, team)


ANOTHER_TEXT = SHIPPED["memory"] + "# Another version.\n"


def values(profile: str = "memory") -> tuple[float, float, float]:
    tuning = tuning_state(find_profile(profile)).in_force
    return tuning.conflict_sensitivity, tuning.entity_share, tuning.coherence_weight


def say(ids: Iterable[UUID], **measures: float) -> None:
    """Somebody says so of these contexts."""
    for id_ in ids:
        AssemblyFeedback.objects.create(assembly=id_, given_by=SYSTEM.ref, **measures)


@pytest.mark.parametrize(
    ("measures", "expected", "change"),
    [
        ({"contradiction_rate": 0.06}, (1.2, 1, 0), "contradictions"),
        ({"completeness": 0.7}, (1, 1.2, 0), "completeness"),
        ({"coherence_score": 0.7}, (1, 1, 0.05), "coherence"),
    ],
)
def test_each_trigger_moves_its_parameter_alone(
    measures: dict[str, Any], expected: tuple[float, float, float], change: str, record: Assembly
) -> None:
    measured(**measures)
    assert values() == pytest.approx(expected)
    (version,) = ProfileTuning.objects.all()
    assert (version.change, version.version, len(version.evidence)) == (change, 1, WINDOW)
    assert version.mean == pytest.approx(next(iter(measures.values())))


def test_good_contexts_move_nothing(record: Assembly) -> None:
    measured()
    assert not ProfileTuning.objects.exists()


def test_fewer_contexts_than_a_window_move_nothing_and_no_context_counts_twice(record: Assembly) -> None:
    measured(contexts=WINDOW - 1, contradiction_rate=1)
    assert values()[0] == 1
    measured(contexts=1, contradiction_rate=1)
    assert values()[0] == 1.2
    tuned_later()
    assert values()[0] == 1.2


def test_a_clean_window_takes_the_sensitivity_back(record: Assembly) -> None:
    measured(contradiction_rate=1)
    measured()
    assert values()[0] == pytest.approx(1.2 / 1.05)


def test_what_somebody_said_replaces_what_was_measured(record: Assembly) -> None:
    say(measured_just_now()[:25], coherence=0.2)
    tuned_later()
    assert values() == (1, 1, 0.05)


def test_a_context_counts_only_after_the_time_for_feedback(record: Assembly) -> None:
    ids = measured_just_now(contradiction_rate=1)
    profiles_tune()
    assert not TuningWindow.objects.exists()
    say(ids, contradiction_rate=0)
    say(ids[:25], coherence=0.2)
    tuned_later()
    assert values() == (1, 1, 0.05)


def test_workers_evaluate_old_contexts_although_none_is_new(record: Assembly) -> None:
    measured_just_now(contradiction_rate=1, age=FEEDBACK_TIME)
    (task,) = [task for task in PERIODIC_TASKS if task.name == "tuning"]
    task.work()
    assert values()[0] == 1.2


def test_many_contexts_are_evaluated_window_by_window_until_one_moves_something(record: Assembly) -> None:
    good, bad = measured_just_now(), measured_just_now(contradiction_rate=1)
    measured_just_now(contexts=120, completeness=0)
    (version,) = tuned_later()
    assert (version.change, version.evidence) == ("contradictions", bad)
    assert good[-1] < bad[0]
    assert tuned_later() == [], "the other contexts had the values from before"


def test_repeats_from_the_cache_are_one_answer(agent: Agent, team: Team) -> None:
    first, *repeats = [made(agent, team) for _ in range(WINDOW)]
    assert {one.decided_in for one in repeats} == {first.id}
    new_assemblies_follow()
    assert [row.assembly for row in AssemblyQuality.objects.all()] == [first.id]
    tuned_later()
    assert not TuningWindow.objects.exists()


def test_an_answer_counts_that_only_its_repeat_was_for_an_agent(agent: Agent, team: Team) -> None:
    first = made(agent, team, purpose=Purpose.PREVIEW)
    assert made(agent, team, purpose=Purpose.AGENT).decided_in == first.id
    new_assemblies_follow()
    assert [row.assembly for row in AssemblyQuality.objects.all()] == [first.id]


def test_feedback_on_repeats_counts_for_their_first_record(agent: Agent, team: Team) -> None:
    first, *repeats = [made(agent, team) for _ in range(3)]
    new_assemblies_follow()
    measured_just_now(contexts=WINDOW - 1, contradiction_rate=0.05)
    for repeat, rate in zip(repeats, (0.1, 0.3), strict=True):
        feedback_create(assembly=repeat, facts=FeedbackFacts(contradiction_rate=rate), principal=SYSTEM)
    (version,) = tuned_later()
    assert version.evidence[0] == first.id
    assert version.mean == pytest.approx((49 * 0.05 + 0.2) / WINDOW)


def test_the_next_context_is_tuned_the_older_ones_replay_and_reset_restores(
    agent: Agent, team: Team, owner: User
) -> None:
    before = made(agent, team)
    for _ in range(2):
        measured(coherence_score=0.1, completeness=0.1, contradiction_rate=0.5)
    after = made(agent, team, now=datetime(2026, 1, 5, tzinfo=UTC))
    text = before.profile
    assert after.profile["weights"]["coherence"] == pytest.approx(0.25)
    assert sum(after.profile["weights"].values()) == pytest.approx(sum(text["weights"].values()))
    assert after.profile["scope_limits"]["library"] == 14
    assert after.profile["conflict_sensitivity"] == pytest.approx(1.44)
    for one in (before, after):
        assert replay(load_record(Assembly.objects.get(id=one.id))).identical
    tuning_reset(name="memory", principal=SYSTEM)
    restored = made(agent, team, now=datetime(2026, 1, 6, tzinfo=UTC))
    assert restored.profile == text
    for one in (before, after, restored):
        assert replay(load_record(Assembly.objects.get(id=one.id))).identical


def test_a_switched_off_tuning_is_kept_without_effect(record: Assembly) -> None:
    measured(contradiction_rate=1)
    tuning_switch(name="memory", is_on=False, principal=SYSTEM)
    assert values()[0] == 1
    measured(contradiction_rate=1)
    assert ProfileTuning.objects.filter(change="contradictions").count() == 1
    tuning_switch(name="memory", is_on=True, principal=SYSTEM)
    assert values()[0] == 1.2


def test_only_profiles_of_the_memory_layer_are_tuned_by_themselves(record: Assembly) -> None:
    measured("coding", contradiction_rate=1)
    measured("conversation", contradiction_rate=1)
    assert not ProfileTuning.objects.exists()
    tuning_switch(name="coding", is_on=True, principal=SYSTEM)
    measured("coding", contradiction_rate=1)
    assert values("coding")[0] == 1.2


def test_contexts_from_before_a_reset_do_not_count(record: Assembly) -> None:
    measured(contradiction_rate=1)
    measured(contexts=WINDOW - 1, contradiction_rate=1)
    tuning_reset(name="memory", principal=SYSTEM)
    measured(contexts=1)
    assert values()[0] == 1
    measured(contexts=WINDOW - 1, contradiction_rate=1)
    assert values()[0] == 1.2


def test_contexts_from_before_the_tuning_was_switched_on_do_not_count(record: Assembly) -> None:
    tuning_switch(name="memory", is_on=False, principal=SYSTEM)
    measured(contexts=WINDOW - 1, contradiction_rate=1)
    tuning_switch(name="memory", is_on=True, principal=SYSTEM)
    measured(contexts=1, contradiction_rate=1)
    assert values()[0] == 1


def test_contexts_of_an_older_version_of_the_profile_do_not_count(record: Assembly, admin: User) -> None:
    measured(contexts=WINDOW - 1, contradiction_rate=1)
    profile_save(name="memory", content=ANOTHER_TEXT, expected_version=1, principal=admin.principal)
    measured(contexts=1, version=2, contradiction_rate=1)
    assert values()[0] == 1
    measured(contexts=WINDOW - 1, version=2, contradiction_rate=1)
    assert values()[0] == 1.2


def test_a_new_profile_has_no_part_in_the_tuning_of_a_deleted_one(record: Assembly, admin: User) -> None:
    harbour_create("memory", admin)
    measured("harbour", contradiction_rate=1)
    measured("harbour", contexts=WINDOW - 1, contradiction_rate=1)
    profile_delete(name="harbour", principal=admin.principal)
    harbour_create("memory", admin)
    assert values("harbour") == (1, 1, 0)
    history = ProfileTuning.objects.filter(profile_name="harbour").order_by("version")
    assert [(one.change, one.changer_name) for one in history] == [
        ("contradictions", "Dossier"),
        ("reset", admin.principal.name),
    ]
    measured("harbour", contexts=1, contradiction_rate=1)
    assert values("harbour") == (1, 1, 0)


def test_a_new_profile_is_tuned_only_if_its_own_text_says_so(record: Assembly, admin: User) -> None:
    harbour_create("coding", admin)
    tuning_switch(name="harbour", is_on=True, principal=SYSTEM)
    profile_delete(name="harbour", principal=admin.principal)
    harbour_create("coding", admin)
    assert not tuning_state(find_profile("harbour")).is_on


def harbour_create(shipped: str, admin: User) -> None:
    """A profile with the text of a shipped one."""
    content = SHIPPED[shipped].replace(f"name: {shipped}\n", "")
    profile_create(name="harbour", content=content, principal=admin.principal)


def test_a_restored_profile_is_not_tuned_but_stays_switched(record: Assembly, admin: User) -> None:
    measured(contradiction_rate=1)
    tuning_switch(name="memory", is_on=False, principal=SYSTEM)
    profile_save(name="memory", content=ANOTHER_TEXT, expected_version=1, principal=admin.principal)
    profile_delete(name="memory", principal=admin.principal)
    assert tuning_state(find_profile("memory")) == TuningState(False, UNTUNED)


def test_conversation_is_never_tuned_and_reads_no_tuning() -> None:
    with pytest.raises(Conflict):
        tuning_switch(name="conversation", is_on=True, principal=SYSTEM)
    with CaptureQueriesContext(connection) as queries:
        assert tuning_state(find_profile("conversation")).in_force == UNTUNED
    assert len(queries) == 0


def test_admins_alone_change_it_and_the_log_says_so(record: Assembly, owner: User) -> None:
    measured(contradiction_rate=1)
    with pytest.raises(Forbidden):
        tuning_reset(name="memory", principal=owner.principal)
    with pytest.raises(Forbidden):
        tuning_switch(name="memory", is_on=False, principal=owner.principal)
    tuning_reset(name="memory", principal=SYSTEM)
    tuning_switch(name="memory", is_on=False, principal=SYSTEM)
    assert Activity.objects.filter(action="profile.tuning_changed", target="memory").count() == 2
    assert tuning_reset(name="memory", principal=SYSTEM) is None


def test_a_change_counts_for_the_organisation_so_that_no_cached_answer_outlives_it(record: Assembly) -> None:
    (before,) = load_change_counts(ORGANISATION)
    tuning_switch(name="memory", is_on=False, principal=SYSTEM)
    assert load_change_counts(ORGANISATION) == (before + 1,)


def test_tunings_are_append_only(record: Assembly) -> None:
    measured(contradiction_rate=1)
    with pytest.raises(DatabaseError), transaction.atomic():
        ProfileTuning.objects.update(is_on=False)


def test_followers_store_the_quality_of_new_contexts(agent: Agent, team: Team) -> None:
    one = made(agent, team, entities=("Ann", "Ferry"), topic="ferry")
    new_assemblies_follow()
    row = AssemblyQuality.objects.get(assembly=one.id)
    assert (row.profile_name, row.completeness, row.contradiction_rate) == ("memory", 0.0, 0.0)
