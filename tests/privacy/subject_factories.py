"""A person of whom every kind of thing says something, and the jobs that subjects create."""

from uuid import UUID

from agents.models import Agent
from memories.models import Job
from privacy.models import MentionStatus, Subject, SubjectMention
from privacy.subjects.scan import FIND_MENTIONS, find_mentions
from privacy.subjects.services import Identifier, SubjectFacts, mentions_decide, subject_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity, reading_everything
from tests.sensitivity.restricted_things import add_files, add_items, add_memories, raise_level

NAME = "Zora Quell"
"""A name that stands in nothing else."""
FACTS = SubjectFacts(
    NAME,
    "customer",
    "Asked by letter.",
    (Identifier("email", "zora.quell@example.org"), Identifier("phone", "+49 171 1234567")),
)
KINDS_OF_AGENT = {
    *("agent_file", "daily_log", "memory", "event", "session", "task", "entity", "relation"),
    *("pattern", "thread", "tool", "document"),
}


def tell_everything(agent: Agent, team: Team, level: Sensitivity = Sensitivity.INTERNAL) -> dict[str, UUID]:
    """Add a thing of every kind whose texts have the name; return their ids by their word in addresses."""
    ids = {**add_items(agent, NAME, level), **add_memories(agent, team, NAME), **add_files(agent, team, NAME)}
    if level != Sensitivity.RESTRICTED:
        for model in {type(file) for owner in (agent, team) for file in owner.files.all()}:
            for file in model.everything.filter(sensitivity=Sensitivity.RESTRICTED):
                raise_level(model, file.pk, level)
    return ids


def run_scans() -> None:
    """Run the jobs that wait for scans of subjects."""
    for job in Job.objects.filter(kind=FIND_MENTIONS, status="queued").order_by("created"):
        steps: list[int] = []
        with reading_everything():
            find_mentions(job, steps.append)
        assert sum(steps) + 1 == job.steps  # the last step counts when the job is done
        Job.objects.filter(id=job.id).update(status="done")


def scanned_subject(facts: SubjectFacts = FACTS) -> Subject:
    """A subject after its first scan."""
    subject = subject_create(facts=facts, principal=SYSTEM)
    run_scans()
    subject.refresh_from_db()
    return subject


def link_all(subject: Subject) -> int:
    """Link all mentions of the subject."""
    ids = list(SubjectMention.objects.filter(subject=subject).values_list("id", flat=True))
    return mentions_decide(subject=subject, mentions=ids, status=MentionStatus.LINKED, principal=SYSTEM)
