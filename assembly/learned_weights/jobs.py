"""Weights are learned and tried by a background job: hourly for profiles with enough new feedback, or on request."""

from django.db.models import Max, QuerySet

from assembly.engine.profile import Profile
from assembly.learned_weights.labelled_contexts import labelled_contexts
from assembly.learned_weights.services import (
    MIN_CONTEXTS,
    TooFewContexts,
    learnable_profile,
    require_contexts,
    shadow_report_create,
    weights_learn,
)
from assembly.learned_weights.shadow_run import newest_contexts
from assembly.models import Assembly, LearnedWeights
from assembly.profiles.catalogue import usable_profile_names
from assembly.profiles.learned_weights import State
from assembly.profiles.shipped import CONVERSATION
from config.http.errors import Conflict, NotFound
from memories.jobs.periodic import periodic
from memories.jobs.services import UNFINISHED, Advance, NeverRetry, job_create, job_kind
from memories.models import Job
from teams.principal import SYSTEM, Principal

LEARN_WEIGHTS = "learn_weights"
CHECK_SECONDS = 3_600


def learning_job_create(*, profile: str, principal: Principal) -> Job:
    """Create the job that learns weights of the profile and tries them. The caller must check the permission.

    Raises NotFound; Conflict for the profile that never has learned weights, and while such a job is unfinished;
    TooFewContexts.
    """
    written = learnable_profile(profile)
    if has_unfinished_job(profile):
        raise Conflict(f"Weights of the profile {profile} are being learned. Wait for the report.")
    require_contexts(known_contexts(written).count(), written, MIN_CONTEXTS)
    steps = len(newest_contexts(written))
    return job_create(kind=LEARN_WEIGHTS, arguments={"profile": profile}, agent=None, principal=principal, steps=steps)


def has_unfinished_job(profile: str) -> bool:
    """Return whether weights of the profile are being learned."""
    return Job.objects.filter(kind=LEARN_WEIGHTS, status__in=UNFINISHED, arguments__profile=profile).exists()


def last_fault(profile: str) -> str:
    """Return why the newest job that learns weights of the profile failed; empty if it did not."""
    jobs = Job.objects.filter(kind=LEARN_WEIGHTS, arguments__profile=profile).order_by("-created", "-id")
    return (jobs.values_list("error", flat=True).first() or "").removeprefix("TooFewContexts: ")


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
    """Create a job for each profile that has MIN_CONTEXTS contexts with feedback since weights were last learned."""
    for name in usable_profile_names():
        if name != CONVERSATION.name and new_contexts(name) >= MIN_CONTEXTS and not has_unfinished_job(name):
            learning_job_create(profile=name, principal=SYSTEM)


def known_contexts(written: Profile) -> "QuerySet[Assembly]":
    """Return the contexts with feedback on used items that were made with this version of the profile."""
    ids = [one.assembly_id for one in labelled_contexts(written.name)]
    return Assembly.objects.filter(id__in=ids, profile_version=written.version)


def new_contexts(profile: str) -> int:
    """Return how many contexts with feedback were made since weights of the profile's version were last learned."""
    written = learnable_profile(profile)
    proposed = LearnedWeights.objects.filter(
        profile=profile, profile_version=written.version, state=State.PROPOSED
    ).aggregate(newest=Max("created"))["newest"]
    found = known_contexts(written)
    return (found.filter(created__gt=proposed) if proposed else found).count()
