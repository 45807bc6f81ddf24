"""A conflict that a language model found is listed, read, archived and reconciled as any other one, with its model."""

import json

import pytest
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_delete
from assembly.conflicts.services import conflict_resolve
from assembly.models import Conflict
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.archive.sections import scope_of_everything
from memories.archive.services import import_begin, import_create
from teams.models import User
from teams.principal import SYSTEM
from tests.archives import texts_in, zipped
from tests.assembly.conflicts.conflict_factories import conflict_between, remember
from tests.assembly.conflicts.language_model.onnx_models import BEEF, VEGAN
from tests.client import Api

pytestmark = pytest.mark.django_db

MODEL = "tiny-nli@0123456789ab"
CUE = f"The language model {MODEL} finds that one contradicts the other (probability 99 %)."


@pytest.fixture
def conflict(agent: Agent) -> Conflict:
    facts = {"kind": "meaning", "model": MODEL, "cue": CUE, "severity": 0.79}
    return conflict_between(remember(agent, VEGAN), remember(agent, BEEF), **facts)


def test_rest_names_the_model_and_filters_by_the_kind(conflict: Conflict, editor: User) -> None:
    api = Api(person=editor.principal)
    [listed] = api.get("conflicts?kind=meaning").json()["results"]
    assert (listed["kind"], listed["model"], listed["cue"]) == ("meaning", MODEL, CUE)
    assert api.get(f"conflicts/{conflict.id}").json()["model"] == MODEL
    assert api.get("conflicts?kind=property").json()["results"] == []


def test_a_context_carries_one_side_with_a_mark(conflict: Conflict, agent: Agent) -> None:
    asked = AssemblyRequest(topic="What does the school canteen cook?", profile="memory", now=timezone.now())
    text = assemble(agent=agent, team=agent.teams.get(), asked=asked, principal=SYSTEM).content
    assert (VEGAN in text) != (BEEF in text)
    assert "(disputed: another text contradicts this)" in text


def test_an_archive_keeps_the_model(conflict: Conflict, agent: Agent) -> None:
    conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    archive = zipped(scope_of_everything(SYSTEM))
    [document] = [json.loads(text) for text in texts_in(archive).values() if MODEL.encode() in text]
    assert document["model"] == MODEL
    agent_delete(agent=agent, principal=SYSTEM)
    assert not Conflict.objects.exists()
    plan = import_create(archive=archive, file_name="all.zip", principal=SYSTEM)
    import_begin(plan=plan, chosen=(), principal=SYSTEM)
    restored = Conflict.objects.get()
    assert (restored.kind, restored.model, restored.resolution) == ("meaning", MODEL, "both")
