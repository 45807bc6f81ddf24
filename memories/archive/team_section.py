"""The section teams/ of an archive holds each team's files, memories and name."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from config.http.serializers import Line, StrictSerializer
from memories.archive.owner_entries import owner_entries, readable, text_save
from memories.archive.owner_section import OwnerSection
from memories.archive.sections import ArchiveEntry, ExportScope, ImportChange, ImportContext, register
from memories.imports.base import readable_name
from memories.imports.workspace import TEAM_FILES
from teams.access import require_change_allowed
from teams.api.serializers import MAX_NAME_CHARACTERS
from teams.models import Team, TeamFile
from teams.principal import Principal
from teams.services import team_create, team_files_provision, team_update


class TeamSettingsSerializer(StrictSerializer):
    """The settings of a team in an archive: its name. What the team allows its agents is not exported."""

    name = Line(max_length=MAX_NAME_CHARACTERS, required=False)


class TeamSection(OwnerSection[Team]):
    folder = "teams"
    owner_word = "team"
    texts = TEAM_FILES
    serializer = TeamSettingsSerializer

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        facts = self.facts(scope.teams, scope.principal)
        for team in scope.teams:
            files = TeamFile.objects.filter(team=team).order_by("file_key")
            texts = ((f"{file.file_key}.md", file) for file in files)
            yield from owner_entries(team, f"{self.folder}/{team.slug}", texts, facts[team.id])

    def visible(self, principal: Principal) -> QuerySet[Team]:
        return Team.objects.visible_to(principal)

    def files(self) -> QuerySet[TeamFile]:
        return TeamFile.objects.all()

    def facts(self, owners: Collection[Team], principal: Principal) -> Mapping[UUID, dict[str, Any]]:
        return {owner.id: {"name": owner.name} for owner in owners}

    def make(self, slug: str, said: Mapping[str, Any], principal: Principal) -> Team:
        return team_create(slug=slug, name=said.get("name") or readable_name(slug), principal=principal)

    def ready(self, owner: Team) -> None:
        team_files_provision([owner])

    def change_facts(self, owner: Team, change: ImportChange, principal: Principal) -> None:
        team_update(team=owner, expected_version=change.version, name=change.item["name"], principal=principal)

    def take(self, owner: Team, change: ImportChange, context: ImportContext) -> None:
        file = readable(TeamFile.objects.filter(team=owner, file_key=self.texts[change.name.rpartition("/")[2]]))
        require_change_allowed(context.principal, owner, file.versions.all())
        author = context.principal.author.limited_to(change.item.origin)
        text_save(file=file, change=change, facts=change.item, author=author, context=context)


register(TeamSection())
