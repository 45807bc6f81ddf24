"""This module reads which versions of files are current, and the texts of those without stored passages."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from msgspec import Struct

from config.db.sealed_columns import MARK_SQL, written_octets_sql
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_text
from memories.embeddings.file_splitting import passages_of_text
from memories.models import FilePassage
from teams.origin import Origin
from teams.sensitivity import DEFAULT_LEVEL

# A text that is not split is read up to %(most)s characters in all, the last changed files first.
READ = """
SELECT id, version, key, title, at,
    CASE WHEN is_split THEN NULL WHEN room > 0 AND is_sealed THEN content ELSE left(content, room) END AS content,
    NOT is_split AND newer + characters > %(most)s AS is_cut, origin, sensitivity, room
FROM (
    SELECT *, greatest(0, %(most)s - newer)::integer AS room FROM (
    SELECT *, sum(characters) OVER (ORDER BY at DESC, id ROWS UNBOUNDED PRECEDING) - characters AS newer
    FROM (
        SELECT id, version, {key} AS key, {title} AS title, updated_at AS at, content, is_split, origin,
            sensitivity,
            starts_with(content, {mark}) AS is_sealed,
            CASE WHEN is_split THEN 0 WHEN starts_with(content, {mark}) THEN {octets} ELSE length(content) END
                AS characters
        FROM {table} AS file, LATERAL (
            SELECT EXISTS (SELECT FROM file_passages WHERE file_id = file.id AND file_version = file.version)
        ) AS passages (is_split)
        WHERE {where} AND sensitivity <= %(clearance)s
    ) AS measured
) AS counted) AS limited
ORDER BY at DESC, id
"""


@dataclass(frozen=True, slots=True)
class FileQuery:
    """A file query selects files of an owner, whose id is that of an agent or a team, or ORGANISATION.

    `kind` is the prefix of their refs; `where` and `parameters` select rows of the table; `key` and `title` are its
    columns.
    """

    kind: str
    owner: UUID
    table: str
    clearance: int
    """The level up to which files are read."""
    where: str = "true"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    key: str = "file_key"
    title: str = "file_key"


class CurrentFile(Struct, frozen=True):
    """A current file is a file with its current version; the key of a daily log is its date.

    `content` is None where the passages of the version are stored. `is_cut`: the content is only the beginning of the
    text, because more is not read.
    """

    id: UUID
    version: int
    key: str | datetime.date
    title: str | datetime.date
    updated: datetime.datetime
    content: str | None
    is_cut: bool = False
    origin: str = Origin.PERSON
    sensitivity: int = DEFAULT_LEVEL


@dataclass(frozen=True, slots=True)
class CurrentPassages:
    """Current passages of files are those that are stored, by file and version, and those made of texts, unsaved."""

    stored: Mapping[UUID, int]
    fresh: Sequence[FilePassage]

    @classmethod
    def of(cls, files: Sequence[CurrentFile]) -> "CurrentPassages":
        """Return the passages of the files; texts are split."""
        return cls(
            stored={file.id: file.version for file in files if file.content is None},
            fresh=[
                passage
                for file in files
                if file.content is not None
                for passage in passages_of_text(file.content, file_id=file.id)
            ],
        )

    def __bool__(self) -> bool:
        return bool(self.stored or self.fresh)


def current_files(query: FileQuery, *, most: int) -> list[CurrentFile]:
    """Return the files, the last changed first, with at most `most` characters of the texts without passages."""
    names = {"table": query.table, "where": query.where, "key": query.key, "title": query.title}
    sql = READ.format(**names, mark=MARK_SQL, octets=written_octets_sql("content"))
    parameters = {"owner": query.owner, "clearance": query.clearance, "most": most, **query.parameters}
    used = {name: value for name, value in parameters.items() if f"%({name})s" in sql}
    return [_current_file(*row) for row in run_statement(Statement(sql, used))]


def _current_file(*row: Any) -> CurrentFile:
    """Return the file of a row; of a sealed text, the statement has the whole, or nothing."""
    id_, version, key, title, updated, content, is_cut, origin, level, room = row
    written = open_text(content)[:room] if content else content
    shown = open_text(title) if isinstance(title, str) else title
    return CurrentFile(id_, version, key, shown, updated, written, is_cut, origin, level)
