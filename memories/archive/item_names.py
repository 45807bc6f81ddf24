"""Archives name files of agents, teams and the organisation by their paths, because their ids differ elsewhere.

Memories keep their ids, so their refs name them: `memory:<uuid>`. Other items are not part of archives; their refs hold
in the same installation only.
"""

from uuid import UUID

from agents.models import AgentFile, DailyLog
from config.http.serializers import parse_date
from memories.models.file_passage import FILE_KINDS, FILE_MODELS
from teams.models import OrganisationFile, TeamFile
from teams.versioned_text.versioned_file import VersionedFile

ENDING = ".md"


def name_of_file(file: VersionedFile) -> str:
    """Return the path of the file in an archive, as in `teams/care/GOALS.md`."""
    match file:
        case TeamFile():
            return f"teams/{file.team.slug}/{file.file_key}{ENDING}"
        case AgentFile():
            return f"agents/{file.agent.slug}/{file.file_key}{ENDING}"
        case DailyLog():
            return f"agents/{file.agent.slug}/memory/{file.date:%Y-%m-%d}{ENDING}"
        case OrganisationFile():
            return f"organisation/{file.file_key}{ENDING}"
    raise TypeError(f"{type(file).__name__} is not part of archives.")


def find_file(name: str) -> VersionedFile | None:
    """Return the file with this path in archives; None if there is none."""
    match name.removesuffix(ENDING).split("/"):
        case ["teams", slug, key]:
            return TeamFile.objects.filter(team__slug=slug, file_key=key).first()
        case ["agents", slug, key]:
            return AgentFile.objects.filter(agent__slug=slug, file_key=key).first()
        case ["agents", slug, "memory", day] if date := parse_date(day):
            return DailyLog.objects.filter(agent__slug=slug, date=date).first()
        case ["organisation", key]:
            return OrganisationFile.objects.filter(file_key=key).first()
    return None


def name_of_item(kind: str, id_: UUID) -> str:
    """Return how an archive names the item: a file by its path, anything else by its ref; "" for a deleted file."""
    if kind not in FILE_MODELS:
        return f"{kind}:{id_}"
    file = FILE_MODELS[kind]._default_manager.filter(id=id_).first()  # noqa: SLF001 - Django's documented name
    return name_of_file(file) if file else ""


def ref_of_item(name: str) -> str:
    """Return the ref, without a version, of the item that an archive names; "" for a file that is not here."""
    if not name.endswith(ENDING):
        return name
    file = find_file(name)
    return f"{FILE_KINDS[type(file)]}:{file.pk}" if file else ""
