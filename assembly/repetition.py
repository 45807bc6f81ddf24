"""Recording an assembly that was asked for again: everything as it was, under a new id."""

from copy import copy

from django.db import connection
from django.utils import timezone
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from assembly.models import Assembly, Decision
from teams.principal import Principal

_NEW = {"id", "created", "requested_by", "requester_name", "assembly_ms", "request"}


def _columns(model: type[Assembly | Decision]) -> list[str]:
    return [f'"{field.column}"' for field in model._meta.concrete_fields]  # noqa: SLF001


def _repeated(columns: list[str], new: dict[str, str]) -> str:
    return ", ".join(new.get(column, column) for column in columns)


_ASSEMBLY = _columns(Assembly)
_DECISION = [column for column in _columns(Decision) if column != '"id"']
_GIVEN = {f'"{name}"': f"%({name})s" for name in _NEW}

# One statement is one transaction, and one journey to the database.
REPEAT = f"""
WITH repeated AS (
    INSERT INTO assemblies ({", ".join(_ASSEMBLY)})
    SELECT {_repeated(_ASSEMBLY, _GIVEN)} FROM assemblies WHERE id = %(of)s
    RETURNING id
), decided AS (
    INSERT INTO decisions ({", ".join(_DECISION)})
    SELECT {_repeated(_DECISION, {'"assembly_id"': "%(id)s"})} FROM decisions WHERE assembly_id = %(of)s
)
SELECT id FROM repeated
"""  # noqa: S608 - only names of columns are put in


def record_again(*, of: Assembly, principal: Principal, assembly_ms: int) -> Assembly | None:
    """Record that the principal was told what the assembly `of` holds: its decisions again, its texts shared.

    `now` and the sources' times stay those of the first; `request` names it as what this one `repeats`. None where
    there is no record of the first, because retention took it or its transaction was rolled back.
    """
    again = copy(of)
    again.id, again.created, again.assembly_ms = uuid7(), timezone.now(), assembly_ms
    again.requested_by, again.requester_name = principal.ref, principal.name
    again.request = {**of.request, "repeats": str(of.id)}
    parameters = {name: getattr(again, name) for name in _NEW} | {"of": of.id, "request": Jsonb(again.request)}
    with connection.cursor() as cursor:
        cursor.execute(REPEAT, parameters)
        return again if cursor.fetchone() else None
