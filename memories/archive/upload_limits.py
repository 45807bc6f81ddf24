"""Archives that people and keys upload have limits: unpacked size, and numbers of owners, texts and memories.

Management commands have no such limits, so that an operator can import a large export as a whole.
"""

from agents.quotas.services import require_room_for_texts
from config.http.cpu_budget import check_cpu
from config.http.errors import Forbidden
from memories.archive.contents import ArchiveContents
from memories.archive.plan import units_of
from memories.imports.base import MAX_LINES_CHARACTERS, ImportRefused, UnreadableText
from memories.imports.workspace import MEMORY_FILE
from teams.models import Team
from teams.principal import Principal

MEGABYTE = 1_000_000
MAX_OWNERS = 500
"""The most agents and teams in one import."""
MAX_UNPACKED_BYTES = 50 * MEGABYTE
MAX_EXPANSION = 50
"""The most bytes to which one packed byte may expand. Texts expand by 3 to 10, a run of one letter by 1,000."""
ALWAYS_ALLOWED_BYTES = 2 * MEGABYTE
"""The unpacked size that is allowed at any expansion, because short similar texts are packed very small."""
MAX_MEMORIES = 50_000


def may_upload(principal: Principal) -> bool:
    """Return whether the principal could change anything by an import: a person without a team could not."""
    return principal.kind != "person" or principal.is_admin or Team.objects.visible_to(principal).exists()


def require_may_upload(principal: Principal) -> None:
    """Raise Forbidden for a principal who could not change anything by an import."""
    if not may_upload(principal):
        raise Forbidden(
            "You are in no team, so there is nothing to import into. To join a team, ask one of its admins."
        )


def check_upload(archive: bytes, contents: ArchiveContents, principal: Principal) -> None:
    """Check the size of an archive without unpacking it. Raises ImportRefused where it exceeds the limits of one
    import, and TooManyRequests where it has more text than the principal may still store today.
    """
    unpacked = contents.size
    if unpacked > MAX_UNPACKED_BYTES:
        raise ImportRefused(
            f"Unpacked, it would have {unpacked // MEGABYTE:,} MB; the maximum is {MAX_UNPACKED_BYTES // MEGABYTE} "
            "MB. Import a part of it at a time."
        )
    if unpacked > max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * len(archive)):
        raise ImportRefused(
            f"Its texts would become {unpacked // max(1, len(archive)):,} times as large as the zip, as no texts of "
            "people do. Look at what is in it, and import a part of it at a time."
        )
    _check_owners(contents)
    require_room_for_texts(principal, unpacked)


def check_memory_count(contents: ArchiveContents) -> None:
    """Raise ImportRefused where the MEMORY.md files, which are read, have more memories than one import may."""
    count = 0
    for name in contents.names:
        check_cpu()
        if name.rpartition("/")[2] == MEMORY_FILE:
            count += _bullet_count(contents, name)
            if count > MAX_MEMORIES:
                raise ImportRefused(
                    f"There are more than {MAX_MEMORIES:,} memories in it. Import a part of them at a time."
                )


def _bullet_count(contents: ArchiveContents, name: str) -> int:
    try:
        text = contents.text(name, MAX_LINES_CHARACTERS)
    except UnreadableText:
        return 0  # the plan says why it cannot be read
    return text.startswith("- [") + text.count("\n- [")


def _check_owners(contents: ArchiveContents) -> None:
    units, _aside = units_of(contents)
    owners = sum(unit.section.has_units for unit in units)
    if owners > MAX_OWNERS:
        raise ImportRefused(
            f"It has {owners:,} agents and teams; the maximum is {MAX_OWNERS}. Import a part of them at a time."
        )
    for unit in units:
        most = unit.section.max_files
        if not unit.section.has_units and len(unit.files) > most:
            raise ImportRefused(
                f"There are {len(unit.files):,} files in “{unit.name}”; the maximum is {most:,}. "
                "Import a part of them at a time."
            )
