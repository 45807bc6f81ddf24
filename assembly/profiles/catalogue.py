"""Reading profiles: those that admins wrote, and the shipped ones that nobody has changed."""

from functools import lru_cache, partial
from typing import cast

from assembly import sources
from assembly.engine.profile import Profile
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.models import StoredProfile, StoredProfileVersion
from assembly.profiles.documents import MAX_NAME_CHARACTERS, DocumentEntry, parsed_or_fault
from assembly.profiles.parser import DescribedProfile, parse_described_profile
from assembly.profiles.shipped import CONVERSATION, SHIPPED
from assembly.profiles.yaml_reader import UnreadableDocument
from config.http.errors import Invalid, NotFound


class ProfileEntry(DocumentEntry[StoredProfile, DescribedProfile]):
    """A profile as it stands. Without a stored row it is a shipped one, and `row` is one that was never saved."""

    __slots__ = ()

    @property
    def version(self) -> int:
        return self.row.version

    @property
    def shipped(self) -> bool:
        """Whether Dossier comes with a profile of this name."""
        return self.name in SHIPPED

    @property
    def stored(self) -> bool:
        """Whether somebody wrote or changed it."""
        return is_stored(self.row)

    @property
    def editable(self) -> bool:
        return self.name != CONVERSATION.name

    def version_numbered(self, number: int) -> StoredProfileVersion | None:
        """One of its versions; a shipped profile that nobody has changed has its first alone."""
        if self.stored:
            found: StoredProfileVersion | None = self.row.versions.filter(version=number).first()
            return found
        return cast("StoredProfileVersion", self.row.as_version()) if number == self.version else None


def find_profile(name: str) -> Profile:
    """The profile with that name, by one query. Raises Invalid for one that is unknown or cannot be read."""
    if name == CONVERSATION.name:
        return CONVERSATION
    row = find_profile_row(name)
    if row is None:
        known = ", ".join(entry.name for entry in all_profiles())
        raise Invalid("profile", f"There is no profile “{name}”. Known are: {known}.", "unknown")
    try:
        return _describe_row(row).profile
    except UnreadableDocument as fault:
        raise Invalid(
            "profile", f"The profile {name} cannot be used. {fault.detail} An admin can correct it."
        ) from None


def find_profile_entry(name: str) -> ProfileEntry:
    """The profile for those who look at it, also when it cannot be read. Raises NotFound."""
    row = find_profile_row(name)
    if row is None:
        raise NotFound(f"The profile “{name}”")
    return entry_of_row(row)


def all_profiles() -> list[ProfileEntry]:
    """All profiles: those that Dossier comes with, then those of the organisation, each by name."""
    rows = {name: _shipped_row(name) for name in SHIPPED} | {row.name: row for row in StoredProfile.objects.all()}
    ordered = sorted(rows.values(), key=lambda row: (row.name not in SHIPPED, row.name))
    return [entry_of_row(row) for row in ordered]


def entry_of_row(row: StoredProfile) -> ProfileEntry:
    """The row with what its text says."""
    return ProfileEntry(row, *parsed_or_fault(lambda: _describe_row(row)))


def profile_fault(text: str, name: str | None = None) -> UnreadableDocument | None:
    """Why the text is no profile (of that name, where one is given); None: it is one."""
    parse = partial(parse_described_profile, text, name=name, version=1, sources=known_sources())
    return parsed_or_fault(parse)[1]


def find_profile_row(name: str) -> StoredProfile | None:
    """The stored row, else the shipped profile as a row that was never saved, else None."""
    if len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        return None
    stored = StoredProfile.objects.filter(name=name).first()
    return stored or (_shipped_row(name) if name in SHIPPED else None)


def is_stored(row: StoredProfile) -> bool:
    """Whether the row is in the database."""
    return not row._state.adding  # noqa: SLF001 - Django's documented way to ask


def known_sources() -> tuple[str, ...]:
    """The names of the sources that sections may come from; what rules include has a section of its own."""
    return tuple(name for name in sources.SOURCES if name != ALWAYS_INCLUDED.source)


def _shipped_row(name: str) -> StoredProfile:
    return StoredProfile(name=name, content=SHIPPED[name], version=1)


def _describe_row(row: StoredProfile) -> DescribedProfile:
    return _parse_profile(row.content, row.name, row.version, known_sources())


@lru_cache(maxsize=256)
def _parse_profile(text: str, name: str, version: int, known: tuple[str, ...]) -> DescribedProfile:
    return parse_described_profile(text, name=name, version=version, sources=known)
