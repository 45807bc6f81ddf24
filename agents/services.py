"""This module creates, changes and deletes agents and their daily logs."""

import datetime
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import Q

from agents.access import require_manager_of_all_teams
from agents.context_profiles import require_profile
from agents.models import Agent, AgentFile, AgentTeam, DailyLog
from config.http.errors import Conflict, Forbidden
from config.http.etags import PreconditionFailed
from teams.access import require_manager
from teams.activity.log import activity_record, changed_values
from teams.activity.models import ActivityAction
from teams.level_changes import record_level, require_level
from teams.models import Team, readers_of
from teams.principal import SYSTEM, Principal
from teams.secret_scanning.handling import storable_text
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_WORDS, Sensitivity
from teams.services import erase
from teams.versioned_text.drafts import drafts_delete
from teams.versioned_text.versioned_file import (
    StaleVersion,
    file_append,
    file_create,
    file_save,
    files_insert,
    lock_row,
)


@transaction.atomic
def agent_create(
    *,
    slug: str,
    name: str,
    teams: Sequence[Team] = (),
    instructions: str = "",
    timezone: str = "UTC",
    profile: str = "",
    principal: Principal = SYSTEM,
) -> Agent:
    """Create an agent with its three files; `instructions` becomes its INSTRUCTIONS.

    Raises Conflict, Invalid for an unknown profile or refused instructions, and NotFound or Forbidden for a team that
    the principal does not administer.
    """
    require_manager(principal, teams)
    require_profile(profile)
    try:
        with transaction.atomic():
            agent = Agent.objects.create(
                slug=slug, name=name, instructions=instructions, timezone=timezone, profile=profile
            )
    except IntegrityError:
        raise Conflict(f"There is an agent “{slug}” already. Choose another slug.") from None
    AgentTeam.objects.bulk_create(AgentTeam(agent=agent, team=team) for team in teams)
    agent.instructions = storable_text(instructions, agent, "instructions")
    if agent.instructions != instructions:
        agent.save(update_fields=["instructions"])
    agent_files_provision([agent])
    activity_record(principal, ActivityAction.AGENT_CREATED, name, team_ids=[team.id for team in teams])
    for team in teams:
        _record_team(principal, ActivityAction.AGENT_JOINED, agent, team)
    return agent


def _record_team(principal: Principal, action: ActivityAction, agent: Agent, team: Team) -> None:
    """Record that the agent joined or left the team, for this team alone: others may not know that the team exists."""
    activity_record(principal, action, agent.name, team_ids=[team.id], detail={"team": team.name})


@transaction.atomic
def agent_files_provision(agents: Sequence[Agent]) -> int:
    """Create the missing files of the agents. Return how many were created.

    The legacy column `instructions` moves into the file INSTRUCTIONS, the other files start empty (seed: Siestai,
    ensureAgentMdFiles). Running it twice at the same time is safe, because the rows of the agents are locked.
    """
    held = list(
        Agent.objects.select_for_update(no_key=True).filter(id__in=[agent.id for agent in agents]).order_by("id")
    )
    present = set(AgentFile.everything.filter(agent__in=held).values_list("agent_id", "file_key"))
    missing = [(agent, key) for agent in held for key in AgentFile.Key if (agent.id, key.value) not in present]
    files = [
        AgentFile(agent=agent, file_key=key, content=agent.instructions if key is AgentFile.Key.INSTRUCTIONS else "")
        for agent, key in missing
    ]
    files_insert(files=files, author=SYSTEM.author)
    return len(missing)


def agent_files_ensure(agent: Agent) -> None:
    """Create missing files of the agent; one cheap query if none is missing."""
    if AgentFile.everything.filter(agent=agent).count() < len(AgentFile.Key):
        agent_files_provision([agent])


@transaction.atomic
def agent_update(
    *,
    agent: Agent,
    expected_version: int,
    name: str,
    timezone: str,
    teams: Sequence[Team],
    profile: str | None = None,
    clearance: int | None = None,
    principal: Principal,
) -> Agent:
    """Change an agent's name, time zone, teams, context profile and clearance; a call that changes nothing creates no
    version. Without a profile or a clearance, it stays the same.

    The principal must administer each team to which the agent is added or from which it is removed, whatever the caller
    checked before.

    Raises StaleVersion, Invalid for an unknown profile, and NotFound or Forbidden for such a team.
    """
    current = lock_row(agent)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    before, after = set(current.teams.all()), set(teams)
    require_manager(principal, before ^ after)
    old = {
        "name": current.name,
        "timezone": current.timezone,
        "profile": current.profile,
        "clearance": Sensitivity(current.clearance).word,
    }
    new = {
        "name": name,
        "timezone": timezone,
        "profile": current.profile if profile is None else profile,
        "clearance": Sensitivity(current.clearance if clearance is None else clearance).word,
    }
    if (old, before) == (new, after):
        return current
    if new["profile"] != current.profile:
        require_profile(new["profile"])
    if detail := changed_values(old, new):
        of = [team.id for team in before | after]
        activity_record(principal, ActivityAction.AGENT_CHANGED, current.name, team_ids=of, detail=detail)
    for team in sorted(before ^ after, key=lambda team: team.name):
        action = ActivityAction.AGENT_JOINED if team in after else ActivityAction.AGENT_LEFT
        _record_team(principal, action, current, team)
    current.name, current.timezone, current.profile = name, timezone, new["profile"]
    current.clearance = LEVEL_WORDS[new["clearance"]]
    current.version += 1
    current.save()
    current.teams.set(after)
    return current


@transaction.atomic
def agent_delete(*, agent: Agent, principal: Principal) -> None:
    """Delete an agent and everything that it owns. Its assemblies remain, as part of the audit trail.

    Raises Forbidden for principals who do not administer all of its teams, and NotFound.
    """
    require_manager_of_all_teams(principal, lock_row(agent))  # held: it joins no other team meanwhile
    files = [file.about for file in AgentFile.everything.filter(agent=agent)]
    drafts_delete(
        abouts=Q(about__in=files) | Q(about__startswith=f"daily_log:{agent.id}/"),
        readers=readers_of(agent.teams.values_list("id", flat=True)),
    )
    of = list(agent.teams.values_list("id", flat=True))
    erase("agents", agent.id, principal)
    activity_record(principal, ActivityAction.AGENT_DELETED, agent.name, team_ids=of)


@transaction.atomic
def daily_log_append(*, agent: Agent, date: datetime.date, text: str, principal: Principal) -> DailyLog:
    """Append a paragraph to the day's log, exactly as sent; the first paragraph creates the log."""
    log = DailyLog.objects.filter(agent=agent, date=date).first()
    if log is None:
        try:
            with transaction.atomic():
                return daily_log_create(agent=agent, date=date, content=text, principal=principal)
        except PreconditionFailed:  # somebody else started the day at the same moment
            log = DailyLog.objects.filter(agent=agent, date=date).first()
            if log is None:
                raise Forbidden("The log of this day is above your clearance. Nothing was saved.") from None
    return file_append(file=log, paragraph=text, author=principal.author)


@transaction.atomic
def daily_log_create(
    *,
    agent: Agent,
    date: datetime.date,
    content: str,
    principal: Principal,
    note: str = "",
    sensitivity: int = DEFAULT_LEVEL,
) -> DailyLog:
    """Create a day's log. Raises PreconditionFailed if it exists already, and Forbidden for a level that the principal
    may not set.
    """
    log = DailyLog(agent=agent, date=date, content=content, sensitivity=sensitivity)
    require_level(principal, log, sensitivity)
    try:
        with transaction.atomic():
            return file_create(file=log, author=principal.author, note=note)
    except IntegrityError:
        if not DailyLog.everything.filter(agent=agent, date=date).exists():
            raise  # the agent itself was deleted meanwhile
        raise PreconditionFailed("This day has a log already. Read it and send its ETag as If-Match.") from None


@transaction.atomic
def daily_log_replace(
    *,
    log: DailyLog,
    content: str,
    expected_version: int,
    principal: Principal,
    note: str = "",
    sensitivity: int | None = None,
) -> DailyLog:
    """Save a new version of a day's log. Raises StaleVersion, and Forbidden for a level that the principal may not
    set.
    """
    require_level(principal, log, sensitivity)
    saved = file_save(
        file=log,
        content=content,
        expected_version=expected_version,
        author=principal.author,
        note=note,
        sensitivity=sensitivity,
    )
    record_level(principal, saved, log.sensitivity)
    return saved


def daily_log_delete(*, log: DailyLog, principal: Principal) -> None:
    """Delete a day's log with its versions."""
    erase("daily_logs", log.id, principal)
