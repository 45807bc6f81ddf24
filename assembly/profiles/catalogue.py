"""This module finds profiles: those of the organisation, and unchanged built-in ones."""

from functools import partial
from typing import cast

from agents.models import Agent
from assembly import sources
from assembly.engine.profile import Profile
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.models import StoredProfile, StoredProfileVersion
from assembly.profiles.documents import MAX_NAME_CHARACTERS, DocumentEntry, parsed_or_fault
from assembly.profiles.parser import DescribedProfile, parse_described_profile
from assembly.profiles.shipped import CONVERSATION, SHIPPED
from assembly.profiles.yaml_reader import UnreadableDocument
from config.caching.cached_function import cached_function
from config.db.statements import find_rows
from config.http.errors import Invalid, NotFound

MAX_PARSED_BYTES = 4_000_000
PARSED_BYTES, PARSED_BYTES_PER_CHARACTER = 10_000, 5
"""Approximate bytes of memory of a parsed text with the text itself: in all, and for each character."""


class ProfileEntry(DocumentEntry[StoredProfile, DescribedProfile]):
    """A profile as it is now. A built-in profile without changes has an unsaved `row`."""

    __slots__ = ()

    @property
    def version(self) -> int:
        return self.row.version

    @property
    def shipped(self) -> bool:
        """Whether there is a built-in profile with this name."""
        return self.name in SHIPPED

    @property
    def stored(self) -> bool:
        """Whether the organisation created or changed the profile."""
        return is_stored(self.row)

    @property
    def editable(self) -> bool:
        return self.name != CONVERSATION.name

    def version_numbered(self, number: int) -> StoredProfileVersion | None:
        """Return a version of the profile; an unchanged built-in profile has only version 1."""
        if self.stored:
            found: StoredProfileVersion | None = self.row.versions.filter(version=number).first()
            return found
        return cast("StoredProfileVersion", self.row.as_version()) if number == self.version else None


def profile_of_agent(agent: Agent | None) -> Profile:
    """Return the profile of the agent's contexts, unless a request names another one; of no agent, the default."""
    if agent is None or not agent.profile:
        return CONVERSATION
    try:
        return find_profile(agent.profile)
    except Invalid:  # it cannot be parsed any more, which its page says
        return CONVERSATION


def usable_profile_names() -> list[str]:
    """Return the names of all profiles that can be parsed."""
    return [entry.name for entry in all_profiles() if entry.described]


def find_profile(name: str) -> Profile:
    """Return the profile with this name; one query. Raises Invalid for a profile that is unknown or
    cannot be parsed.
    """
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
    """Return the profile with this name for a page, even if it cannot be parsed. Raises NotFound."""
    row = find_profile_row(name)
    if row is None:
        raise NotFound(f"The profile “{name}”")
    return entry_of_row(row)


def all_profiles() -> list[ProfileEntry]:
    """Return all profiles: the built-in ones, then those of the organisation, each by name."""
    rows = {name: _shipped_row(name) for name in SHIPPED} | {row.name: row for row in StoredProfile.objects.all()}
    ordered = sorted(rows.values(), key=lambda row: (row.name not in SHIPPED, row.name))
    return [entry_of_row(row) for row in ordered]


def entry_of_row(row: StoredProfile) -> ProfileEntry:
    """Return the row with its parsed text."""
    return ProfileEntry(row, *parsed_or_fault(lambda: _describe_row(row)))


def profile_fault(text: str, name: str | None = None) -> UnreadableDocument | None:
    """Return why the text is no profile (with this name, if one is given); None if it is one."""
    parse = partial(parse_described_profile, text, name=name, version=1, sources=known_sources())
    return parsed_or_fault(parse)[1]


def find_profile_row(name: str) -> StoredProfile | None:
    """Return the stored row; for a built-in profile without one, an unsaved row; else None."""
    if len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        return None
    stored = find_rows(StoredProfile, "WHERE name = %(name)s", {"name": name})
    return stored[0] if stored else _shipped_row(name) if name in SHIPPED else None


def is_stored(row: StoredProfile) -> bool:
    """Return whether the row is in the database."""
    return not row._state.adding  # noqa: SLF001 - Django's documented way to ask


def known_sources() -> tuple[str, ...]:
    """Return the names of the sources that sections may use. The section of rule inclusions is added automatically."""
    return tuple(name for name in sources.SOURCES if name != ALWAYS_INCLUDED.source)


def _shipped_row(name: str) -> StoredProfile:
    return StoredProfile(name=name, content=SHIPPED[name], version=1)


def _describe_row(row: StoredProfile) -> DescribedProfile:
    return _parse_profile(row.content, row.name, row.version, known_sources())


def _profile_bytes(text: str, *_: object) -> int:
    return PARSED_BYTES + PARSED_BYTES_PER_CHARACTER * len(text)


@cached_function("parsed_profiles", MAX_PARSED_BYTES, _profile_bytes)
def _parse_profile(text: str, name: str, version: int, known: tuple[str, ...]) -> DescribedProfile:
    return parse_described_profile(text, name=name, version=version, sources=known)
