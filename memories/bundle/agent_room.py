"""agents/: the files, the daily logs, the memories and the settings of each agent. Keys stay where they are."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.access import may
from agents.api.serializers import AgentUpdateSerializer
from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_create, agent_files_ensure, agent_update, daily_log_create
from config.http.fields import date_of
from memories.bundle.marks import State
from memories.bundle.owner_room import OwnerRoom
from memories.bundle.owners import ROWS_PER_STATEMENT, in_order, owner_entries
from memories.bundle.rooms import Change, Entry, Scope, Unit, register
from memories.bundle.settings_file import Settings
from memories.bundle.texts import text_change
from memories.importing import readable_name
from memories.workspace_folder import AGENT_FILES, LOG_FILE, LOG_FOLDER
from teams.access import Action
from teams.files import VersionedFile, file_save
from teams.models import Team
from teams.principal import Principal


class AgentRoom(OwnerRoom[Agent]):
    folder = "agents"
    noun = "agent"
    texts = AGENT_FILES
    serializer = AgentUpdateSerializer

    def entries(self, scope: Scope) -> Iterator[Entry]:
        for agent in scope.agents:
            facts = self.facts(agent, scope.principal)
            yield from owner_entries(agent, f"{self.folder}/{agent.slug}", _texts(agent), facts)

    def understands(self, within: str) -> bool:
        return super().understands(within) or log_date(within) is not None

    def visible(self, principal: Principal, slug: str) -> Agent | None:
        return Agent.objects.visible_to(principal).filter(slug=slug).first()

    def may(self, principal: Principal, owner: Agent, action: Action) -> bool:
        return may(principal, owner, action)

    def text_here(self, owner: Agent, within: str) -> VersionedFile | None:
        return AgentFile.objects.filter(agent=owner, file_key=self.texts[within]).first()

    def facts(self, owner: Agent, principal: Principal) -> dict[str, Any]:
        """Of its teams, those that the principal sees."""
        teams = Team.objects.visible_to(principal).filter(agents=owner).order_by("slug")
        return {"name": owner.name, "timezone": owner.timezone, "teams": list(teams.values_list("slug", flat=True))}

    def wanted(
        self, here: Mapping[str, Any], said: Mapping[str, Any], unit: Unit, principal: Principal
    ) -> dict[str, Any]:
        """The agent leaves no team, and joins those that are here or in the same archive."""
        named, present = set(said.get("teams", ())), set(here.get("teams", ()))
        known = set(Team.objects.visible_to(principal).filter(slug__in=named).values_list("slug", flat=True))
        if principal.is_admin:
            known |= {slug for slug in named if any(name.startswith(f"teams/{slug}/") for name in unit.contents.names)}
        return {**here, **said, "teams": sorted(present | known)}

    def make(self, slug: str, said: Mapping[str, Any], principal: Principal) -> Agent:
        return agent_create(
            slug=slug,
            name=said.get("name") or readable_name(slug),
            timezone=said.get("timezone", "UTC"),
            teams=list(Team.objects.visible_to(principal).filter(slug__in=said.get("teams", ()))),
            principal=principal,
        )

    def ready(self, owner: Agent) -> None:
        agent_files_ensure(owner)

    def change_facts(self, owner: Agent, change: Change, principal: Principal) -> None:
        before, wanted = set(owner.teams.all()), change.item
        joining = set(Team.objects.visible_to(principal).filter(slug__in=wanted["teams"])) - before
        agent_update(
            agent=owner,
            expected_version=change.version,
            name=wanted["name"],
            timezone=wanted["timezone"],
            teams=list(before | joining),
            principal=principal,
        )

    def take(self, owner: Agent, change: Change, principal: Principal, note: str) -> None:
        within = change.name.rpartition("/")[2]
        file: VersionedFile
        if change.what == "log":
            date = datetime.date.fromisoformat(within.removesuffix(".md"))
            if change.state is State.NEW:
                daily_log_create(agent=owner, date=date, content=change.after, principal=principal, note=note)
                return
            file = DailyLog.objects.get(agent=owner, date=date)
        else:
            file = AgentFile.objects.get(agent=owner, file_key=self.texts[within])
        expected = change.version or file.version
        file_save(file=file, content=change.after, expected_version=expected, author=principal.author, note=note)

    def _written_changes(self, unit: Unit, owner: Agent | None, settings: Settings) -> Iterator[Change]:
        dates = {date: within for within in unit.files if (date := log_date(within))}
        ordered = sorted(dates)
        for start in range(0, len(ordered), ROWS_PER_STATEMENT):
            batch = ordered[start : start + ROWS_PER_STATEMENT]
            here = _logs(owner, batch)
            for date in batch:
                within = dates[date]
                yield text_change(unit, within, "log", here.get(date), settings.marks.get(within, ""))
        yield from super()._written_changes(unit, owner, settings)


def log_date(within: str) -> datetime.date | None:
    """The day of a log by its name in an archive; None for any other name."""
    folder, _, name = within.partition("/")
    match = LOG_FILE.fullmatch(name) if folder == LOG_FOLDER else None
    return date_of(match[1]) if match else None


def _texts(agent: Agent) -> Iterator[tuple[str, str]]:
    """The agent's files, then its logs, by the names that they have in an archive."""
    for file in AgentFile.objects.filter(agent=agent).order_by("file_key"):
        yield f"{file.file_key}.md", file.content
    for log in in_order(DailyLog.objects.filter(agent=agent), "date"):
        yield f"{LOG_FOLDER}/{log.date:%Y-%m-%d}.md", log.content


def _logs(agent: Agent | None, dates: Sequence[datetime.date]) -> dict[datetime.date, DailyLog]:
    rows = DailyLog.objects.filter(agent=agent, date__in=dates) if agent else ()
    return {log.date: log for log in rows}


register(AgentRoom())
