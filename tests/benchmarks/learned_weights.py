"""Recall of evidence at 500 tokens before and after the weights of a profile are learned from feedback.

DATA=folder has conversations with questions whose evidence is known, in files as for `evidence_recall`. TRAIN=26,30,41
names those with whose contexts the weights are learned, TEST=42,43 those that are asked about afterwards. The profile
is `memory` with memories alone and without its limits per scope; the search finds 100 of them, so that the room
decides.

Each question of the conversations to train is asked with 2,000 tokens, and feedback is simulated: the items with
evidence that were included were used, the others were not. Then the product learns: weights are fitted, tried in the
shadow, and switched on by an admin, which is refused if the shadow report shows no gain. `switched_on` is 1 or 0.

`recall_before` and `recall_after` are the mean share of the evidence, 0 to 1, of the questions to test that is in a
context of 500 tokens: with the profile's own weights, and with those in force in the end; `gain` is their difference.
`recall_proposed` is that of the learned weights, whether they were switched on or not. `shadow_before` and
`shadow_after` are the recalls of the shadow report, `weight_<measure>_before` and `…_after` are the weights.
"""

import datetime
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING
from uuid import UUID

import django
import yaml

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from agents.models import Agent
    from assembly.engine.profile import Weights
    from assembly.models import LearnedWeights

NAME = "learned_weights"
PROFILE = "memories"
FEEDBACK_BUDGET = 2_000
TEST_BUDGET = 500
FOUND = 100


@dataclass(frozen=True, slots=True)
class Question:
    """A question to an agent, the ids of the memories with its evidence, and the moment at which it is asked."""

    agent: "Agent"
    text: str
    evidence: frozenset[UUID]
    now: datetime.datetime


def run() -> None:
    """Print the recall with the weights before and after learning, and the weights."""
    train, test = _files("TRAIN"), _files("TEST")
    if not train or not test:
        message = "learned_weights: DATA=folder, TRAIN=… and TEST=… are needed; nothing was measured."
        print(message, file=sys.stderr)
        return
    manage("migrate", "--verbosity", "0")
    django.setup()
    _create_profile()
    for file in train:
        for question in _stored_questions(file):
            _give_feedback(question)
    from assembly.profiles.learned_weights import profile_in_force

    own = profile_in_force(PROFILE).weights
    learned = _learn()
    asked = [question for file in test for question in _stored_questions(file)]
    _report(asked, learned, own, profile_in_force(PROFILE).weights)


def _files(variable: str) -> list[Path]:
    folder = os.environ.get("DATA")
    names = [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
    found = {file.stem: file for file in sorted(Path(folder).glob("**/*.json"))} if folder else {}
    if missing := [name for name in names if folder and name not in found]:
        raise SystemExit(f"{variable}: there is no {missing[0]}.json in {folder}.")
    return [found[name] for name in names if name in found]


def _create_profile() -> None:
    from assembly.profiles.services import profile_create
    from assembly.profiles.shipped import SHIPPED
    from teams.principal import SYSTEM

    facts = yaml.safe_load(SHIPPED["memory"])
    sections = [{**one, "top_k": FOUND} for one in facts["sections"] if one["source"] == "agent_memories"]
    facts |= {"name": PROFILE, "sections": sections}
    del facts["scope_limits"]
    profile_create(name=PROFILE, content=yaml.safe_dump(facts, sort_keys=False), principal=SYSTEM)


def _stored_questions(file: Path) -> Iterator[Question]:
    """Store the conversation for an agent of its own, and yield its questions that have evidence."""
    from agents.models import Agent
    from memories.imports.conversation import conversation_import, load_conversation
    from memories.models import Memory
    from teams.principal import SYSTEM

    sessions, slug = load_conversation(file), f"learned-{file.stem}"
    conversation_import(sessions=sessions, agent=slug, principal=SYSTEM, advance=lambda _: None)
    agent, now = Agent.objects.get(slug=slug), max(session.at for session in sessions)
    turns: Mapping[str, UUID] = {
        memory.external_id.split(":", 1)[1].rpartition(":")[0]: memory.id
        for memory in Memory.objects.filter(agent=agent)
    }
    for entry in json.loads(file.read_text(encoding="utf-8")).get("qa", ()):
        evidence = frozenset(turns[turn] for turn in entry.get("evidence", ()) if turn in turns)
        if evidence:
            yield Question(agent, str(entry["question"]), evidence, now)


def _give_feedback(question: Question) -> None:
    """Record the context of the question, with the feedback that its included evidence was used."""
    from assembly.engine.refs import Ref
    from assembly.models import AssemblyFeedback
    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.services import assemble
    from teams.principal import SYSTEM

    asked = AssemblyRequest(topic=question.text, profile=PROFILE, max_tokens=FEEDBACK_BUDGET, now=question.now)
    result = assemble(agent=question.agent, asked=asked, principal=SYSTEM)
    included = [one.ref for one in result.decisions if one.included]
    used = [ref for ref in included if UUID(str(Ref.parse(ref).id)) in question.evidence]
    AssemblyFeedback.objects.create(assembly=result.assembly.id, given_by=SYSTEM.ref, used=used)


def _learn() -> "LearnedWeights":
    """Learn the weights, try them in the shadow, and switch them on if that shows a gain."""
    from assembly.learned_weights.services import (
        NoGainShown,
        learned_weights_switch,
        shadow_report_create,
        weights_learn,
    )
    from teams.principal import SYSTEM

    learned = weights_learn(profile=PROFILE, principal=SYSTEM)
    report = shadow_report_create(learned=learned)
    figure(NAME, "shadow_before", report.recall_before or 0.0, "share", report.measured)
    figure(NAME, "shadow_after", report.recall_after or 0.0, "share", report.measured)
    figure(NAME, "shadow_changed", report.detail["changed"], "contexts", report.contexts)
    try:
        learned_weights_switch(profile=PROFILE, version=learned.version, is_on=True, principal=SYSTEM)
    except NoGainShown as refused:
        print(f"learned_weights: nothing is switched on. {refused.detail}", file=sys.stderr)
        figure(NAME, "switched_on", 0, "0 or 1", 1)
    else:
        figure(NAME, "switched_on", 1, "0 or 1", 1)
    return learned


def _report(asked: Sequence[Question], learned: "LearnedWeights", own: "Weights", in_force: "Weights") -> None:
    from assembly.engine.profile import Weights
    from assembly.engine.types import field_values

    ways = {"before": own, "after": in_force, "proposed": Weights(**learned.weights)}
    recalls = [_recalls(question, list(ways.values())) for question in asked]
    means = {way: fmean(one[place] for one in recalls) for place, way in enumerate(ways)}
    for way, value in means.items():
        figure(NAME, f"recall_{way}", value, "share", len(asked))
    figure(NAME, "gain", means["after"] - means["before"], "share", len(asked))
    for name, value in field_values(own).items():
        figure(NAME, f"weight_{name}_before", value, "weight", learned.contexts)
        figure(NAME, f"weight_{name}_after", learned.weights[name], "weight", learned.contexts)


def _recalls(question: Question, ways: "Sequence[Weights]") -> list[float]:
    """Return the share of the question's evidence in its context by each of the weights; the sources are read once."""
    from assembly.engine.refs import Ref
    from assembly.pipeline.prepare import gather_candidates, prepare
    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.summaries.resolve import assemble_with_summaries
    from assembly.sources.time_budget import TimeBudget

    time = TimeBudget.starting_now()
    asked = AssemblyRequest(topic=question.text, profile=PROFILE, max_tokens=TEST_BUDGET, now=question.now)
    prepared = prepare(question.agent, None, asked, question.now)
    ruled, candidates = prepared.with_gathered(gather_candidates(prepared, time))
    shares = []
    for weights in ways:
        profile = replace(ruled.profile, weights=weights)
        result = assemble_with_summaries(ruled.request, profile, candidates, ruled.tokenizer, time).assembled
        included = {UUID(str(Ref.parse(one.ref).id)) for one in result.decisions if one.included}
        shares.append(len(question.evidence & included) / len(question.evidence))
    return shares
