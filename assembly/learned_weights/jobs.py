"""Weights are learned and tried by a background job: hourly for profiles with enough new feedback, or on request."""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice

from django.db.models import Max, QuerySet

from assembly.engine.profile import Profile
from assembly.learned_weights.labelled_contexts import LabelledContext, has_feedback_since, labelled_contexts
from assembly.learned_weights.recorded_items import labelled_records
from assembly.learned_weights.services import (
    MIN_CONTEXTS,
    TooFewContexts,
    has_blocks,
    profile_to_learn,
    require_contexts,
    shadow_report_create,
    weights_learn,
)
from assembly.learned_weights.shadow_run import newest_contexts
from assembly.models import LearnedWeights
from assembly.profiles.catalogue import find_profile, usable_profile_names
from assembly.profiles.learned_weights import State
from assembly.profiles.shipped import CONVERSATION
from config.http.errors import Conflict, NotFound
from memories.jobs.periodic import periodic
from memories.jobs.services import UNFINISHED, Advance, NeverRetry, job_create, job_kind
from memories.models import Job, JobStatus
from teams.principal import SYSTEM, Principal

LEARN_WEIGHTS = "learn_weights"
CHECK_SECONDS = 3_600


def learning_job_create(*, profile: str, principal: Principal) -> Job:
    """Create the job that learns weights of the profile and tries them. The caller must check the permission.

    Raises NotFound; Conflict for the profile that never has learned weights, for one without blocks, and while such a
    job is unfinished; TooFewContexts.
    """
    written = profile_to_learn(profile)
    if has_unfinished_job(profile):
        raise Conflict(f"Weights of the profile {profile} are being learned. Wait for the report.")
    require_contexts(_countable(labelled_contexts(written)), written, MIN_CONTEXTS)
    steps = len(newest_contexts(written))
    return job_create(kind=LEARN_WEIGHTS, arguments={"profile": profile}, agent=None, principal=principal, steps=steps)


def has_unfinished_job(profile: str) -> bool:
    """Return whether weights of the profile are being learned."""
    return _newest_jobs(profile).filter(status__in=UNFINISHED).exists()


def last_fault(profile: str) -> str:
    """Return why the newest job that learns weights of the profile failed; empty if it did not."""
    error = _newest_jobs(profile).values_list("error", flat=True).first()
    return (error or "").removeprefix("TooFewContexts: ")


def _newest_jobs(profile: str) -> "QuerySet[Job]":
    """Return the jobs that learn weights of the profile, the newest first."""
    return Job.objects.filter(kind=LEARN_WEIGHTS, arguments__profile=profile).order_by("-created", "-id")


@job_kind(LEARN_WEIGHTS)
def learn_in_background(job: Job, advance: Advance) -> None:
    """Learn weights of the profile that the job names, and run them in the shadow.

    A second run of the same job, for example after its worker died, tries the version that the first one stored.
    Raises NeverRetry where feedback is missing, or the profile was changed or deleted meanwhile.
    """
    try:
        _learn_and_try(job, advance)
    except (TooFewContexts, Conflict, NotFound) as error:
        raise NeverRetry(error.detail) from error


def _learn_and_try(job: Job, advance: Advance) -> None:
    profile = job.arguments["profile"]
    learned = LearnedWeights.objects.filter(profile=profile, state=State.PROPOSED, created__gte=job.created).first()
    if learned is None:
        learned = weights_learn(profile=profile, principal=SYSTEM, least=MIN_CONTEXTS)
    shadow_report_create(learned=learned, advance=advance)


@periodic(CHECK_SECONDS, "learn-weights")
def learn_where_feedback_is_new() -> None:
    """Create a job for each profile that has MIN_CONTEXTS countable contexts made since weights were last learned.

    Profiles without blocks are passed over. After a job that was given up, the next one waits for further feedback.
    """
    for name in usable_profile_names():
        written = find_profile(name)
        if name == CONVERSATION.name or not has_blocks(written) or has_unfinished_job(name) or _has_failed(written):
            continue
        labelled = labelled_contexts(written, made_after=_last_learned(written))
        if len(labelled) >= MIN_CONTEXTS and _countable(labelled) >= MIN_CONTEXTS:
            learning_job_create(profile=name, principal=SYSTEM)


def _countable(labelled: Iterable[LabelledContext]) -> int:
    """Return from how many of the contexts weights can be learned, MIN_CONTEXTS at most.

    Their records are read as the job reads them, so the job finds what is counted here.
    """
    return sum(1 for _ in islice(labelled_records(labelled), MIN_CONTEXTS))


def _last_learned(written: Profile) -> datetime | None:
    """Return when weights of this version of the profile were last learned; None: never."""
    proposed = LearnedWeights.objects.filter(
        profile=written.name, profile_version=written.version, state=State.PROPOSED
    )
    newest: datetime | None = proposed.aggregate(newest=Max("created"))["newest"]
    return newest


def _has_failed(written: Profile) -> bool:
    """Return whether the newest job was given up, and no feedback is newer with which another one could succeed."""
    newest = _newest_jobs(written.name).first()
    return newest is not None and newest.status == JobStatus.PARKED and not has_feedback_since(written, newest.created)
