"""Names in rows above internal are sealed, the same name of an owner always alike, so that they stay unique and found.

What is found by a whole name is found by its sealed form as well: a filter has both forms, see `stored_forms`. Lists
that are sorted by name have the sealed ones first, in an order that says nothing about them. What is found by a part of
a name finds no sealed one.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.lookups import IContains

from config.db.sealed_columns import sealed_sql
from config.keys.sealed_texts import is_sealed, seal_names
from teams.sealing.fields import SealedText, key_owner, must_be_sealed
from teams.sensitivity import DEFAULT_LEVEL

MAX_NAME_BYTES = 1_900
"""The length of names that are sealed, in UTF-8: an entry of an index has 2,704 bytes at most."""


class SealedName(SealedText):
    """A name that is sealed in rows above internal. `max_length` is checked when a row is validated."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the name as it is stored."""
        value = models.TextField.pre_save(self, model_instance, add)
        if isinstance(value, str) and value and (must_be_sealed(model_instance) or is_sealed(value)):
            return seal_names([value], key_owner(model_instance))[0]
        return value

    def deconstruct(self) -> Any:
        """Return the field as migrations know it: the column is one of texts."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


class SealedNames(ArrayField):  # type: ignore[type-arg]  # as SealedText
    """A list of names, all of which are sealed in rows above internal."""

    is_sealed_above_internal = True

    def __init__(self, base_field: Any = None, **options: Any) -> None:
        super().__init__(base_field or SealedName(), **options)

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the names as they are stored."""
        value = super().pre_save(model_instance, add)
        if value and (must_be_sealed(model_instance) or any(map(is_sealed, value))):
            return seal_names(value, key_owner(model_instance))
        return value

    def deconstruct(self) -> Any:
        """Return the field as migrations know it: the column is a list of texts."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.contrib.postgres.fields.ArrayField", args, kwargs


@SealedNames.register_lookup
class NamesInPlain(IContains):
    """Words in lists of names that are not sealed: what is encrypted has letters by chance."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        column, column_params = compiler.compile(self.lhs)
        found, params = super().as_sql(compiler, connection)
        return f"({found} AND NOT {sealed_sql(column, 'text[]')})", [*params, *column_params]


def stored_forms(rows: "models.QuerySet[Any]", owner: UUID, names: Collection[str]) -> list[str]:
    """Return the names as rows may have them: as they are and, if one of the rows is above internal, sealed.

    `rows` are those of the owner among which is searched. Raises KeyStoreUnavailable.
    """
    if not names or not rows.filter(sensitivity__gt=DEFAULT_LEVEL).order_by().exists():
        return [*names]
    return [*names, *seal_names([*names], owner)]
