"""The job learns and tries; it is created where enough contexts have new feedback, once."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agents.models import Agent
from assembly.learned_weights import jobs, services
from assembly.learned_weights.jobs import learn_in_background, learn_where_feedback_is_new, learning_job_create
from assembly.learned_weights.services import TooFewContexts
from assembly.models import Assembly, LearnedWeights, ShadowReport
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_save
from config.http.errors import Conflict
from memories.jobs.services import NeverRetry
from memories.models import Job, JobStatus
from teams.models import User
from teams.principal import SYSTEM
from tests import personas
from tests.assembly.learned_weights.conftest import contexts_with_feedback
from tests.assembly.learned_weights.world import NAME, START, WITHOUT_BLOCKS, feedback_given, trusted_refs

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent, contexts = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent, contexts_with_feedback
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MIN_CONTEXTS", 50)


def test_the_job_learns_and_reports(contexts: list[Assembly], few: None) -> None:
    job, steps = learning_job_create(profile=NAME, principal=SYSTEM), list[int]()
    learn_in_background(job, steps.append)
    assert sum(steps) == job.steps == len(contexts)
    report = ShadowReport.objects.get()
    assert report.version == LearnedWeights.objects.get().version == 1
    learn_in_background(job, steps.append)
    assert LearnedWeights.objects.count() == 1, "a second run tries the same version"


def test_a_profile_has_one_job_at_a_time(contexts: list[Assembly], few: None) -> None:
    learning_job_create(profile=NAME, principal=SYSTEM)
    with pytest.raises(Conflict, match="are being learned"):
        learning_job_create(profile=NAME, principal=SYSTEM)


def test_enough_new_feedback_creates_a_job(contexts: list[Assembly], few: None) -> None:
    learn_where_feedback_is_new()
    learn_where_feedback_is_new()
    (job,) = Job.objects.all()
    assert job.arguments == {"profile": NAME}
    learn_in_background(job, lambda _: None)
    Job.objects.update(status=JobStatus.DONE)
    learn_where_feedback_is_new()
    assert Job.objects.count() == 1, "the feedback is not new any more"


def test_too_little_feedback_creates_none(contexts: list[Assembly]) -> None:
    learn_where_feedback_is_new()
    assert not Job.objects.exists()


def test_too_little_feedback_is_refused_at_once(contexts: list[Assembly]) -> None:
    with pytest.raises(TooFewContexts, match=r"from 80 contexts of version 1 of the profile .* 200 are needed"):
        learning_job_create(profile=NAME, principal=SYSTEM)
    assert not Job.objects.exists()


def test_a_job_whose_feedback_vanished_is_not_retried(
    contexts: list[Assembly], few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = learning_job_create(profile=NAME, principal=SYSTEM)
    monkeypatch.setattr(services, "labelled_contexts", lambda _profile: [])
    with pytest.raises(NeverRetry, match="0 contexts of version 1"):
        learn_in_background(job, lambda _: None)


def _small(agent: Agent, **strategy: object) -> Assembly:
    """A context for less room, of which nobody said anything."""
    asked = AssemblyRequest(topic="", profile=NAME, max_tokens=120, now=START, strategy=strategy)
    return assemble(agent=agent, asked=asked, principal=SYSTEM).assembly


@pytest.mark.parametrize("strategy", [{"weights": {"recency": 1.0}}, {"domain": "research"}])
def test_contexts_with_own_weights_are_not_counted(
    strategy: dict[str, object], contexts: list[Assembly], agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    feedback_given([_small(agent, **strategy)], trusted_refs(agent))
    _refuses_81_contexts(monkeypatch)


def test_contexts_whose_used_items_are_no_blocks_are_not_counted(
    contexts: list[Assembly], agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    feedback_given([_small(agent)], ["agent_file:MEMORY.md"])
    _refuses_81_contexts(monkeypatch)


def _refuses_81_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MIN_CONTEXTS", 81)
    learn_where_feedback_is_new()
    assert not Job.objects.exists()
    with pytest.raises(TooFewContexts, match="from 80 contexts"):
        learning_job_create(profile=NAME, principal=SYSTEM)


def test_a_profile_without_blocks_never_learns(
    contexts: list[Assembly], agent: Agent, few: None, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile_save(name=NAME, content=WITHOUT_BLOCKS, expected_version=1, principal=admin.principal)
    monkeypatch.setattr(jobs, "MIN_CONTEXTS", 1)
    feedback_given([_small(agent)], trusted_refs(agent))
    learn_where_feedback_is_new()
    assert not Job.objects.exists()
    with pytest.raises(Conflict, match="no section with blocks"):
        learning_job_create(profile=NAME, principal=SYSTEM)


def test_after_a_failed_job_the_next_one_waits_for_feedback(contexts: list[Assembly], agent: Agent, few: None) -> None:
    learn_where_feedback_is_new()
    Job.objects.update(status=JobStatus.PARKED, error="It failed.")
    learn_where_feedback_is_new()
    assert Job.objects.count() == 1, "with the same feedback it would fail again"
    feedback_given(contexts[:1], trusted_refs(agent))
    learn_where_feedback_is_new()
    assert Job.objects.count() == 2


def test_the_command_learns_and_says_what_it_found(contexts: list[Assembly]) -> None:
    out = StringIO()
    call_command("learn_weights", "--profile", NAME, "--least", "50", stdout=out)
    assert "recency: 0.8 →" in out.getvalue()
    assert "An admin can switch them on." in out.getvalue()
    assert LearnedWeights.objects.get().state == "proposed"


def test_the_command_says_what_is_missing() -> None:
    with pytest.raises(CommandError, match="200 are needed"):
        call_command("learn_weights", "--profile", "coding")
