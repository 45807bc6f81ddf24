"""Weights are learned, tried in the shadow, and switched on only if the shadow run shows a gain."""

import datetime
from dataclasses import replace

import pytest

from agents.models import Agent
from assembly.engine.refs import without_version
from assembly.learned_weights import services
from assembly.learned_weights.labelled_contexts import LabelledContext, labelled_contexts
from assembly.learned_weights.presentation import learned_versions
from assembly.learned_weights.services import (
    NoGainShown,
    TooFewContexts,
    learned_weights_switch,
    newest_report,
    shadow_report_create,
    shows_gain,
    weights_learn,
)
from assembly.learned_weights.shadow_run import newest_contexts
from assembly.models import Assembly, LearnedWeights
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import find_profile, find_profile_entry
from assembly.profiles.learned_weights import profile_in_force
from assembly.profiles.services import profile_delete, profile_save
from assembly.records.reader import load_record, replay
from config.http.errors import Conflict, Forbidden, Invalid, NotFound
from teams.activity.models import Activity
from teams.models import User
from teams.principal import SYSTEM
from tests import personas
from tests.assembly.learned_weights.conftest import contexts_with_feedback
from tests.assembly.learned_weights.world import NAME, PROFILE, START, feedback_given, profile_made, trusted_refs

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent, contexts = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent, contexts_with_feedback
)

LEAST = 50
MOMENT = START + datetime.timedelta(days=1)


def _learned() -> LearnedWeights:
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    shadow_report_create(learned=learned)
    return learned


def _small(agent: Agent, **strategy: object) -> AssemblyResult:
    """A context with room for a few memories."""
    asked = AssemblyRequest(topic="", profile=NAME, max_tokens=120, now=MOMENT, strategy=strategy)
    return assemble(agent=agent, asked=asked, principal=SYSTEM)


def test_weights_are_learned_from_feedback_and_gain_on_contexts_that_were_held_out(contexts: list[Assembly]) -> None:
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    assert learned.weights["credibility"] > 0.5 > learned.weights["recency"]
    assert sum(learned.weights.values()) == pytest.approx(1)
    assert (learned.version, learned.state, learned.contexts + learned.held_out) == (1, "proposed", len(contexts))
    assert learned.recall_before is not None
    assert learned.recall_after is not None
    assert learned.recall_after > learned.recall_before
    assert profile_in_force(NAME).weights.recency == 0.8, "what is proposed is not in force"


def test_the_shadow_report_says_what_would_have_changed(contexts: list[Assembly]) -> None:
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    before = Assembly.objects.count()
    report = shadow_report_create(learned=learned)
    assert Assembly.objects.count() == before, "a shadow run records no context"
    assert report.contexts == len(contexts)
    assert report.measured == learned.held_out
    assert report.gain is not None
    assert report.gain > 0.02
    assert report.detail["worse"] == 0
    assert report.detail["better"] == report.measured
    assert report.detail["changed"] == 0, "all memories have room in the recorded budget"


def test_a_context_with_less_room_differs_and_is_named(contexts: list[Assembly], agent: Agent) -> None:
    small = _small(agent).assembly
    report = shadow_report_create(learned=weights_learn(profile=NAME, principal=SYSTEM, least=LEAST))
    (differing,) = report.detail["differing"]
    assert differing["assembly"] == str(small.id)
    assert differing["items_in"] == differing["items_out"] > 0
    assert differing["tokens_before"] == small.tokens


def test_a_run_without_time_says_how_many_contexts_were_not_tried(contexts: list[Assembly]) -> None:
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    report = shadow_report_create(learned=learned, seconds=0)
    assert (report.contexts, report.detail["untried"]) == (1, len(contexts) - 1)


def test_weights_that_are_on_are_applied_recorded_and_replayed(
    contexts: list[Assembly], agent: Agent, admin: User
) -> None:
    old = _small(agent)
    learned = _learned()
    learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    new = _small(agent)
    used = trusted_refs(agent)

    def used_in(result: AssemblyResult) -> int:
        return sum(without_version(one.ref) in used for one in result.decisions if one.included)

    assert used_in(new) > used_in(old), "the answer of the cache was not repeated"
    record = load_record(Assembly.objects.get(id=new.assembly.id))
    assert record.assembly.profile["weights"] == learned.weights
    assert replay(record).identical
    learned_weights_switch(profile=NAME, version=1, is_on=False, principal=admin.principal)
    assert _small(agent).content == old.content
    assert replay(load_record(Assembly.objects.get(id=new.assembly.id))).identical, "replayed after the switch"
    assert [row.state for row in LearnedWeights.objects.order_by("created", "id")] == ["proposed", "on", "off"]
    log = Activity.objects.filter(target=NAME).order_by("created")
    assert [(entry.action, entry.detail["version"]) for entry in log] == [
        ("profile.weights_on", 1),
        ("profile.weights_off", 1),
    ]


def test_weights_of_the_request_come_before_learned_ones(contexts: list[Assembly], agent: Agent, admin: User) -> None:
    old = _small(agent)
    _learned()
    learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    assert _small(agent, weights={"recency": 0.8, "credibility": 0.2}).content == old.content


def test_a_request_with_a_domain_has_weights_of_its_own(contexts: list[Assembly], agent: Agent) -> None:
    small = _small(agent, domain="general").assembly
    feedback_given([small], trusted_refs(agent))
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    assert learned.contexts + learned.held_out == len(contexts), "learned weights never reach it, so it teaches nothing"
    report = shadow_report_create(learned=learned)
    assert (report.contexts, report.detail["changed"]) == (len(contexts) + 1, 0)


def test_without_a_report_nothing_is_switched_on(contexts: list[Assembly], admin: User) -> None:
    weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    with pytest.raises(NoGainShown, match="no shadow report on version 1 yet"):
        learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    assert LearnedWeights.objects.count() == 1


def test_a_report_without_a_gain_switches_nothing_on(contexts: list[Assembly], agent: Agent, admin: User) -> None:
    everything = frozenset(f"memory:{memory}" for memory in agent.memories.values_list("id", flat=True))
    feedback_given(contexts, everything)
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    report = shadow_report_create(learned=learned)
    assert learned.weights == learned.own_weights, "where all items are used, there is nothing to learn"
    assert not shows_gain(report)
    with pytest.raises(NoGainShown, match=r"shows no gain: the recall of used items is 0\.\d+ before and 0\.\d+ after"):
        learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    assert profile_in_force(NAME).weights.recency == 0.8
    assert not LearnedWeights.objects.exclude(state="proposed").exists()


def test_few_measured_contexts_show_no_gain(
    contexts: list[Assembly], admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MIN_MEASURED", 1000)
    _learned()
    with pytest.raises(NoGainShown, match="and 1000 are needed"):
        learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)


def test_too_little_feedback_teaches_nothing(contexts: list[Assembly]) -> None:
    with pytest.raises(TooFewContexts, match=r"learned from 80 contexts .*, and 200 are needed"):
        weights_learn(profile=NAME, principal=SYSTEM)
    assert not LearnedWeights.objects.exists()


def test_a_changed_profile_has_no_learned_weights_until_they_are_learned_again(
    contexts: list[Assembly], admin: User
) -> None:
    _learned()
    learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    profile_save(name=NAME, content=PROFILE.replace("4000", "3000"), expected_version=1, principal=admin.principal)
    assert profile_in_force(NAME).weights.recency == 0.8
    with pytest.raises(Conflict, match="has been changed since"):
        learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)


def test_a_deleted_profile_leaves_no_weights_to_its_successor(contexts: list[Assembly], admin: User) -> None:
    _learned()
    learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    profile_delete(name=NAME, principal=admin.principal)
    profile_made()
    assert profile_in_force(NAME).weights.recency == 0.8


def test_what_was_proposed_for_a_deleted_profile_is_nothing_to_its_successor(
    contexts: list[Assembly], admin: User
) -> None:
    learned = _learned()
    report = newest_report(learned)
    assert report is not None
    assert shows_gain(report)
    profile_delete(name=NAME, principal=admin.principal)
    profile_made()
    entry = find_profile_entry(NAME)
    assert [one.is_current for one in learned_versions(entry, admin.principal)] == [False]
    with pytest.raises(Conflict, match="or created again"):
        learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    with pytest.raises(Conflict, match="or created again"):
        shadow_report_create(learned=learned)


def test_contexts_of_a_deleted_profile_teach_its_successor_nothing(
    contexts: list[Assembly], agent: Agent, admin: User
) -> None:
    assert len(newest_contexts(find_profile(NAME))) == len(contexts)
    profile_delete(name=NAME, principal=admin.principal)
    profile_made()
    assert labelled_contexts(find_profile(NAME)) == []
    assert newest_contexts(find_profile(NAME)) == []
    with pytest.raises(TooFewContexts, match="from 0 contexts"):
        weights_learn(profile=NAME, principal=SYSTEM, least=LEAST)
    of_successor = _small(agent).assembly
    assert newest_contexts(find_profile(NAME)) == [of_successor]


def test_a_newer_version_replaces_the_one_before(contexts: list[Assembly], admin: User) -> None:
    first = _learned()
    learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    again = learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)
    assert (again.version, LearnedWeights.objects.count()) == (1, 2), "switching twice adds no row"
    second = _learned()
    report = newest_report(second)
    assert report is not None
    assert report.gain == pytest.approx(0), "it is compared with the weights in force, which are the same"
    with pytest.raises(NoGainShown):
        learned_weights_switch(profile=NAME, version=2, is_on=True, principal=admin.principal)
    with pytest.raises(Conflict, match="Version 2 of the learned weights is not on"):
        learned_weights_switch(profile=NAME, version=2, is_on=False, principal=admin.principal)
    assert first.weights == second.weights


@pytest.mark.parametrize("who", ["owner", "mixed", "outsider", "teammate"])
def test_only_admins_of_the_organisation_switch(
    who: str, contexts: list[Assembly], request: pytest.FixtureRequest
) -> None:
    _learned()
    with pytest.raises(Forbidden):
        learned_weights_switch(profile=NAME, version=1, is_on=True, principal=request.getfixturevalue(who).principal)


def test_conversation_never_has_learned_weights(admin: User, django_assert_num_queries: object) -> None:
    with pytest.raises(Conflict, match="never has learned weights"):
        weights_learn(profile="conversation", principal=SYSTEM)
    with pytest.raises(Conflict, match="never has learned weights"):
        learned_weights_switch(profile="conversation", version=1, is_on=True, principal=admin.principal)
    with django_assert_num_queries(0):  # type: ignore[operator]
        profile_in_force("conversation")


def test_unknown_profiles_and_versions_are_named(admin: User) -> None:
    with pytest.raises(NotFound):
        weights_learn(profile="moons", principal=SYSTEM)
    with pytest.raises(NotFound):
        learned_weights_switch(profile="coding", version=1, is_on=True, principal=admin.principal)
    with pytest.raises(Invalid):
        profile_in_force("moons")


def test_useless_items_count_as_unused(contexts: list[Assembly], agent: Agent) -> None:
    used = trusted_refs(agent)
    one = LabelledContext(contexts[0].id, used)
    ref = next(iter(used))
    assert one.uses(f"{ref}@1")
    assert not replace(one, useless=frozenset({ref})).uses(f"{ref}@1")
