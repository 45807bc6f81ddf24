"""What an erasure looks for: the spellings, the things that go as a whole, and those that are not about the person."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from config.http.encryption import decrypt, encrypt
from privacy.erasure.spelling_patterns import SpellingPatterns
from privacy.models import SubjectErasure
from privacy.subjects.stored_texts import THING_KINDS

DELETABLE_TABLES = frozenset(
    {
        *("memories", "events", "entities", "relations", "patterns", "documents", "threads", "tools"),
        *("task_frames", "sessions", "daily_logs", "organisation_files"),
    }
)
"""Tables whose rows can be deleted as a whole; the database function `erase_things` has the same."""
TABLE_OF_KIND: Mapping[str, str] = {
    name: kind.model._meta.db_table  # noqa: SLF001 - Django's documented introspection
    for name, kind in THING_KINDS.items()
}


@dataclass(frozen=True)
class Sought:
    """The erasure's id, its patterns, and refs without versions of the things to delete and of those to spare."""

    erasure: UUID
    patterns: SpellingPatterns
    whole: frozenset[str]
    spared: frozenset[str]

    @classmethod
    def of(cls, erasure: SubjectErasure) -> "Sought":
        """Return what a running erasure looks for. Raises UndecryptableSecret."""
        spellings: list[str] = json.loads(decrypt(erasure.sealed_spellings) or "[]")
        return cls(erasure.id, SpellingPatterns.of(spellings), frozenset(erasure.whole), frozenset(erasure.spared))

    @cached_property
    def whole_ids(self) -> dict[str, list[UUID]]:
        """The ids of the things to delete, by table."""
        found: dict[str, list[UUID]] = {}
        for ref in sorted(self.whole):
            kind, _, id_ = ref.partition(":")
            found.setdefault(TABLE_OF_KIND[kind], []).append(UUID(id_))
        return found

    @cached_property
    def spared_texts(self) -> list[str]:
        """The spared things as tables name them: by id, and by ref."""
        return sorted({*self.spared, *(ref.partition(":")[2] for ref in self.spared)})

    def is_spared(self, named: str) -> bool:
        """Return whether this ref without a version is of a spared thing, or of a summary or passage of one."""
        return not self.spared.isdisjoint(_things_in(named))

    def is_whole(self, named: str) -> bool:
        """Return whether this ref without a version is of a thing to delete, or of a summary or passage of one."""
        return not self.whole.isdisjoint(_things_in(named))


def _things_in(named: str) -> Iterable[str]:
    """Return the refs that a piece's ref may name: `summary:memory:<uuid>` names `memory:<uuid>`."""
    ref = named.removeprefix("summary:").partition("@")[0]
    return (ref, ref.partition("#")[0])


def seal_spellings(spellings: Iterable[str]) -> str:
    """Return the spellings as an erasure stores them while it runs, encrypted."""
    return encrypt(json.dumps(sorted(set(spellings)), ensure_ascii=False))
