"""The gain is shown with ordinary shares: three contexts in ten have feedback, and one in five is held out."""

import datetime
from dataclasses import replace

import pytest

from agents.models import Agent
from assembly.learned_weights.labelled_contexts import labelled_contexts
from assembly.learned_weights.recorded_items import HELD_OUT_ONE_IN, held_out_records, is_held_out
from assembly.learned_weights.services import learned_weights_switch, shadow_report_create, weights_learn
from assembly.learned_weights.shadow_run import LIMIT
from assembly.models import Assembly
from assembly.models.assembly import Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import find_profile
from teams.models import User
from teams.principal import SYSTEM
from tests.assembly.learned_weights.world import (
    NAME,
    START,
    contexts_made,
    feedback_given,
    profile_made,
    remember,
    trusted_refs,
)

pytestmark = pytest.mark.django_db
CONTEXTS = 400
LABELLED = CONTEXTS * 3 // 10


def test_ordinary_shares_of_feedback_show_a_gain(agent: Agent, admin: User) -> None:
    profile_made()
    remember(agent)
    made = contexts_made(agent, CONTEXTS)
    kept = LABELLED // HELD_OUT_ONE_IN
    held_out = [one for one in made if is_held_out(one)][:kept]
    others = [one for one in made if not is_held_out(one)][: LABELLED - kept]
    feedback_given([*held_out, *others], trusted_refs(agent))
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=LABELLED)
    report = shadow_report_create(learned=learned)
    assert (report.contexts, report.measured) == (LIMIT, kept)
    learned_weights_switch(profile=NAME, version=1, is_on=True, principal=admin.principal)


def test_repeated_contexts_are_measured_once_and_previews_never(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembly.learned_weights.recorded_items.HELD_OUT_ONE_IN", 1)
    profile_made()
    remember(agent)
    asked = AssemblyRequest(topic="", profile=NAME, now=START)
    made: list[Assembly] = [assemble(agent=agent, asked=asked, principal=SYSTEM).assembly for _ in range(3)]
    assert [one.decided_in for one in made] == [None, made[0].id, made[0].id]
    preview = replace(asked, now=START + datetime.timedelta(hours=1), purpose=Purpose.PREVIEW)
    made.append(assemble(agent=agent, asked=preview, principal=SYSTEM).assembly)
    feedback_given(made, trusted_refs(agent))
    assert len(list(held_out_records(labelled_contexts(find_profile(NAME))))) == 1
