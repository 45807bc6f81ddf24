"""Fields whose values are sealed in rows above internal; whoever reads a row gets them as they were written.

Filters see the column, so no text above internal is found by its words.
"""

import json
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models.lookups import IContains

from config.db.migration_helpers import ORGANISATION
from config.db.sealed_columns import MARK_SQL, written_octets_sql
from config.keys.envelope import DecryptionFailed
from config.keys.key_errors import KeyLost, KeysUnavailable
from config.keys.sealed_texts import is_sealed, open_text, records_owner, seal_text
from config.keys.store import is_configured
from teams.sensitivity import DEFAULT_LEVEL, Sensitive


def key_owner(row: Any) -> UUID:
    """Return the owner under whose key the texts of the row are sealed: its agent, else its team or the organisation.

    Of a version, it is the owner of its text; of what outlives its agent, the owner of what is recorded about it. A row
    without a level of its own names the owner as `sealed_for`.
    """
    if not isinstance(row, Sensitive):
        return getattr(row, "sealed_for", None) or ORGANISATION
    if row.outlives_agent:
        return records_owner(getattr(row, row.owner_columns["agent"]))
    for path in row.owner_columns.values():
        value: Any = row
        for name in path.split("__") if path else ():
            value = getattr(value, name)
        if path and value is not None:
            return UUID(str(value))
    return ORGANISATION


def must_be_sealed(row: Any) -> bool:
    """Return whether the texts of the row are sealed when it is saved: it is above internal, or names an owner as
    `sealed_for`, because what it is about is above internal.
    """
    if isinstance(row, Sensitive):
        return row.sensitivity > DEFAULT_LEVEL
    return getattr(row, "sealed_for", None) is not None


class SealedText(models.TextField):  # type: ignore[type-arg]  # Django itself takes no arguments
    """A text that is sealed in rows above internal. `max_length` is checked when a row is validated."""

    is_sealed_above_internal = True

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the value as it is stored."""
        value = super().pre_save(model_instance, add)
        if isinstance(value, str) and (must_be_sealed(model_instance) or is_sealed(value)):
            return seal_text(value, key_owner(model_instance))
        return value

    def from_db_value(self, value: str | None, _expression: Any, _connection: Any) -> str | None:
        """Return the text as it was written."""
        return value if value is None else open_text(value)

    def deconstruct(self) -> Any:
        """Return the field as migrations know it: the column is one of texts."""
        name, path, args, kwargs = super().deconstruct()
        return (
            name,
            "django.db.models.TextField" if type(self) in {SealedText, SealedRecordText, SealedPersonalText} else path,
            args,
            kwargs,
        )


@SealedText.register_lookup
class WordsInPlain(IContains):
    """Words in texts that are not sealed: what is encrypted has letters by chance."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        column, column_params = compiler.compile(self.lhs)
        found, params = super().as_sql(compiler, connection)
        return f"({found} AND NOT starts_with({column}, {MARK_SQL}))", [*params, *column_params]


UNREADABLE_NOTICE = "[This text cannot be read.]"


class UnreadableText(str):
    """A notice that lists show instead of a sealed text that cannot be opened now, with the error that says why."""

    error: Exception

    @classmethod
    def because(cls, error: Exception) -> "UnreadableText":
        """Return the notice for a text whose opening raised this."""
        notice = cls(UNREADABLE_NOTICE)
        notice.error = error
        return notice


def require_readable(text: str) -> str:
    """Return the text. Raises what its opening raised: KeysUnavailable, KeyLost or DecryptionFailed."""
    if isinstance(text, UnreadableText):
        raise text.error
    return text


class SealedRecordText(SealedText):
    """A sealed text of a record, which is an UnreadableText if it cannot be opened: one row must not break a list."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the value as it is stored. Raises what the opening of a text raised: the notice is never stored."""
        if isinstance(value := getattr(model_instance, self.attname), UnreadableText):
            raise value.error
        return super().pre_save(model_instance, add)

    def from_db_value(self, value: str | None, _expression: Any, _connection: Any) -> str | None:
        """Return the text as it was written, or the notice that it cannot be read."""
        try:
            return super().from_db_value(value, _expression, _connection)
        except (KeysUnavailable, KeyLost, DecryptionFailed) as error:
            return UnreadableText.because(error)


UNREADABLE_DETAIL = {"why": UNREADABLE_NOTICE}


class SealedPersonalText(SealedText):
    """A text of a person, such as a draft, that is sealed wherever there is a key store, under the person's key.

    What it is a draft of may become confidential at any time.
    """

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the value as it is stored."""
        value = getattr(model_instance, self.attname)
        is_needed = is_configured() or is_sealed(value)
        return seal_text(value, model_instance.person_id) if isinstance(value, str) and is_needed else value


class SealedJson(models.JSONField):
    """A JSON value that is sealed in rows above internal, where the column has a JSON string."""

    is_sealed_above_internal = True

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the value as it is stored."""
        value = super().pre_save(model_instance, add)
        if value and (must_be_sealed(model_instance) or is_sealed(value)):
            return seal_text(json.dumps(_in_order(value), ensure_ascii=False), key_owner(model_instance))
        return value

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the value as it was written."""
        return open_json(super().from_db_value(value, expression, connection))

    def deconstruct(self) -> Any:
        """Return the field as migrations know it: the column is one of JSON."""
        name, path, args, kwargs = super().deconstruct()
        is_json = type(self) in {SealedJson, SealedRecordJson}
        return name, "django.db.models.JSONField" if is_json else path, args, kwargs


class SealedRecordJson(SealedJson):
    """A sealed object of a record, which is UNREADABLE_DETAIL if it cannot be opened: one row must not break a list."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the object as it was written, or one that says that it cannot be read."""
        try:
            return super().from_db_value(value, expression, connection)
        except (KeysUnavailable, KeyLost, DecryptionFailed):
            return dict(UNREADABLE_DETAIL)


def _in_order(value: Any) -> Any:
    """Return a JSON value whose objects have their members in PostgreSQL's order: the shortest names first."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: (len(str(name).encode()), str(name).encode()))
        return {name: _in_order(value[name]) for name in names}
    return [_in_order(one) for one in value] if isinstance(value, list | tuple) else value


def open_json(stored: Any) -> Any:
    """Return the JSON value as it was written."""
    return json.loads(open_text(stored)) if is_sealed(stored) else stored


class Beginning(models.Func):
    """The first characters of a text column. Of a sealed text the whole is read, and cut after it was opened."""

    def __init__(self, column: str, characters: int) -> None:
        super().__init__(models.F(column), output_field=_Beginning(characters))
        self.characters = int(characters)

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        column, params = compiler.compile(self.source_expressions[0])
        cut = f"CASE WHEN starts_with({column}, {MARK_SQL}) THEN {column} ELSE left({column}, {self.characters}) END"
        return cut, [*params, *params, *params]


class WrittenOctets(models.Func):
    """The size in bytes of a text column as it was written, sealed or not, which needs no text that is not sealed."""

    output_field = models.IntegerField()

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        column, _params = compiler.compile(self.source_expressions[0])
        return written_octets_sql(column), []


class _Beginning(models.TextField):  # type: ignore[type-arg]  # as above
    def __init__(self, characters: int = 0) -> None:
        super().__init__()
        self.characters = characters

    def from_db_value(self, value: str | None, _expression: Any, _connection: Any) -> str | None:
        return value if value is None else open_text(value)[: self.characters]
