"""An agent and a team that keep one of everything that a context can be made of."""

import datetime

from agents.models import Agent
from agents.services import agent_create, daily_log_append
from assembly.models import ExternalSource, StoredProfile, StoredRule
from memories.embeddings.file_splitting import file_split, files_without_passages
from memories.embeddings.wordllama import MODEL_NAME, embed
from memories.models import (
    Chunk,
    Document,
    Entity,
    Event,
    Pattern,
    Relation,
    Session,
    TaskFrame,
    Thread,
    Tool,
)
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_create, file_save
from tests.assembly.conftest import NOW


def everything(now: datetime.datetime = NOW) -> tuple[Agent, Team]:
    """The agent "mira", which works in the team "press"; all of it happened `now`."""
    team = team_create(slug="press", name="Press")
    agent = agent_create(slug="mira", name="Mira", teams=[team], instructions="Check the facts.")
    for file in agent.files.all():
        file_save(file=file, content=f"{file.file_key} of Mira.", expected_version=1, author=SYSTEM.author)
    for team_file in team.files.all():
        file_save(file=team_file, content=f"{team_file.file_key}: print.", expected_version=1, author=SYSTEM.author)
    daily_log_append(agent=agent, date=now.date(), text="Printed the first sheet.", principal=SYSTEM)
    for owner in (agent, team):
        for text in ("Ink dries in a day", "Paper comes on Mondays"):
            memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
    _keep(agent, now)
    organisation_file_create(key="house-style", title="House style", content="Dates are written out.", principal=SYSTEM)
    for kind, id_ in list(files_without_passages(None)):
        file_split(kind=kind, id_=id_)
    content = "name: pressroom\n"
    file_create(file=StoredProfile(name="pressroom", content=content), author=SYSTEM.author)
    ExternalSource.objects.create(name="weather", label="Weather", url="https://weather.example.org/")
    content = "when: {task_contains: [deadline]}\nthen: {exclude: [{source: threads}]}\n"
    file_create(file=StoredRule(name="hurry", agent=agent, content=content), author=SYSTEM.author)
    return agent, team


def _keep(agent: Agent, now: datetime.datetime) -> None:
    session = Session.objects.create(agent=agent, started_at=now)
    task = TaskFrame.objects.create(agent=agent, session=session, goal="Print the newspaper")
    message = {"role": "user", "text": "Is the ink dry?"}
    Event.objects.create(
        agent=agent, session=session, task=task, type="message", content=message, size=40, occurred_at=now
    )
    ink, paper = (Entity.objects.create(agent=agent, type="thing", name=name) for name in ("Ink", "Paper"))
    Relation.objects.create(agent=agent, source=ink, target=paper, type="dries_on")
    Pattern.objects.create(agent=agent, name="Dry first", keywords=["ink"], guidance="Wait for the ink.")
    document = Document.objects.create(agent=agent, path="press.md", content="Ink dries.", split_version=1)
    Chunk.objects.create(
        document=document, agent=agent, document_version=1, position=0, start=0, end=10, line=1,
        text="Ink dries.", embedding=embed(["Ink dries."])[0], embedding_model=MODEL_NAME,
    )  # fmt: skip
    Thread.objects.create(agent=agent, title="The first issue", summary="Nearly printed", touched_at=now)
    Tool.objects.create(agent=agent, name="press", description="Prints a page")
