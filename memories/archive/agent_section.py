"""The section agents/ of an archive holds each agent's files, daily logs, memories and settings, but no keys."""

import datetime
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from agents.api.serializers import AgentUpdateSerializer
from agents.models import Agent, AgentFile, AgentTeam, DailyLog
from agents.services import agent_create, agent_files_ensure, agent_update, daily_log_create
from config.http.serializers import parse_date
from memories.archive.digests import ImportState
from memories.archive.owner_entries import OwnerSettings, iterate_in_order, owner_entries, readable, text_save
from memories.archive.owner_section import TEXTS_AT_A_TIME, OwnerSection
from memories.archive.sections import ArchiveEntry, ExportScope, ImportChange, ImportContext, ImportUnit, register
from memories.archive.text_section import text_change
from memories.imports.base import readable_name
from memories.imports.workspace import AGENT_FILES, LOG_FILE, LOG_FOLDER
from teams.models import Team
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL
from teams.versioned_text.versioned_file import VersionedFile


class AgentSection(OwnerSection[Agent]):
    folder = "agents"
    owner_word = "agent"
    texts = AGENT_FILES
    serializer = AgentUpdateSerializer

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        facts = self.facts(scope.agents, scope.principal)
        for agent in scope.agents:
            yield from owner_entries(agent, f"{self.folder}/{agent.slug}", _texts(agent), facts[agent.id])

    def accepts_file(self, within: str) -> bool:
        return super().accepts_file(within) or log_date(within) is not None

    def visible(self, principal: Principal) -> QuerySet[Agent]:
        return Agent.objects.visible_to(principal)

    def files(self) -> QuerySet[AgentFile]:
        return AgentFile.objects.all()

    def facts(self, owners: Collection[Agent], principal: Principal) -> Mapping[UUID, dict[str, Any]]:
        """Return the settings of each agent by its id, with the teams that the principal can see."""
        teams = defaultdict[UUID, list[str]](list)
        links = AgentTeam.objects.filter(agent__in=owners, team__in=Team.objects.visible_to(principal))
        for agent, slug in links.values_list("agent_id", "team__slug"):
            teams[agent].append(slug)
        return {
            owner.id: {
                "name": owner.name,
                "timezone": owner.timezone,
                **({"profile": owner.profile} if owner.profile else {}),
                "teams": sorted(teams[owner.id]),
            }
            for owner in owners
        }

    def team_slugs(self, principal: Principal) -> AbstractSet[str]:
        return set(Team.objects.visible_to(principal).values_list("slug", flat=True))

    def wanted(
        self,
        here: Mapping[str, Any],
        said: Mapping[str, Any],
        unit: ImportUnit,
        team_slugs: AbstractSet[str],
        principal: Principal,
    ) -> dict[str, Any]:
        """Return the settings that an import leads to: the agent leaves no team, and joins known teams.

        A team is known if it exists and the principal can see it, or, for an admin, if it is in the same archive.
        """
        named, present = set(said.get("teams", ())), set(here.get("teams", ()))
        known = named & team_slugs
        if principal.is_admin:
            known |= {slug for slug in named if unit.contents.has_folder(f"teams/{slug}")}
        return {**here, **said, "teams": sorted(present | known)}

    def make(self, slug: str, said: Mapping[str, Any], principal: Principal) -> Agent:
        return agent_create(
            slug=slug,
            name=said.get("name") or readable_name(slug),
            timezone=said.get("timezone", "UTC"),
            profile=said.get("profile", ""),
            teams=list(Team.objects.visible_to(principal).filter(slug__in=said.get("teams", ()))),
            principal=principal,
        )

    def ready(self, owner: Agent) -> None:
        agent_files_ensure(owner)

    def change_facts(self, owner: Agent, change: ImportChange, principal: Principal) -> None:
        before, wanted = set(owner.teams.all()), change.item
        joining = set(Team.objects.visible_to(principal).filter(slug__in=wanted["teams"])) - before
        agent_update(
            agent=owner,
            expected_version=change.version,
            name=wanted["name"],
            timezone=wanted["timezone"],
            profile=wanted.get("profile"),
            teams=list(before | joining),
            principal=principal,
        )

    def take(self, owner: Agent, change: ImportChange, context: ImportContext) -> None:
        within = change.name.rpartition("/")[2]
        principal = context.principal.relaying(change.item.origin)
        file: VersionedFile
        if change.what == "log":
            date = datetime.date.fromisoformat(within.removesuffix(".md"))
            if change.state is ImportState.NEW:
                level = DEFAULT_LEVEL if change.item.sensitivity is None else change.item.sensitivity
                daily_log_create(
                    agent=owner,
                    date=date,
                    content=change.after,
                    principal=principal,
                    note=context.note,
                    sensitivity=level,
                )
                return
            file = readable(DailyLog.objects.filter(agent=owner, date=date))
        else:
            file = readable(AgentFile.objects.filter(agent=owner, file_key=self.texts[within]))
        text_save(file=file, change=change, facts=change.item, author=principal.author, context=context)

    def _written_changes(
        self, unit: ImportUnit, owner: Agent | None, settings: OwnerSettings
    ) -> Iterator[ImportChange]:
        dates = {date: within for within in unit.files if (date := log_date(within))}
        logs = _logs(owner, dates)
        ahead = next(logs, None)
        for date in sorted(dates):
            while ahead and ahead.date < date:
                ahead = next(logs, None)
            here = ahead if ahead and ahead.date == date else None
            change = text_change(unit, dates[date], "log", here, settings.marks.get(dates[date], ""))
            change, facts = settings.facts_of(dates[date]).planned(change, here)
            yield replace(change, item=facts)
        yield from super()._written_changes(unit, owner, settings)


def log_date(within: str) -> datetime.date | None:
    """Return the day of a daily log by its file name in an archive; None for any other name."""
    folder, _, name = within.partition("/")
    match = LOG_FILE.fullmatch(name) if folder == LOG_FOLDER else None
    return parse_date(match[1]) if match else None


def _texts(agent: Agent) -> Iterator[tuple[str, VersionedFile]]:
    """Yield the agent's files and then its daily logs, with their names in an archive."""
    for file in AgentFile.objects.filter(agent=agent).order_by("file_key"):
        yield f"{file.file_key}.md", file
    for log in iterate_in_order(DailyLog.objects.filter(agent=agent), "date"):
        yield f"{LOG_FOLDER}/{log.date:%Y-%m-%d}.md", log


def _logs(agent: Agent | None, dates: Collection[datetime.date]) -> Iterator[DailyLog]:
    """Yield the agent's daily logs of these days in order, loading few of them at a time."""
    if agent and dates:
        logs = DailyLog.objects.filter(agent=agent, date__in=dates).order_by("date")
        yield from logs.iterator(chunk_size=TEXTS_AT_A_TIME)


register(AgentSection())
