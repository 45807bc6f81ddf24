"""Recording an assembly that was asked for again: everything as it was, under a new id."""

from copy import copy

from django.db import connection
from django.utils import timezone
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from assembly.models import Assembly
from teams.principal import Principal

_NEW = {"id", "created", "requested_by", "requester_name", "assembly_ms", "request", "decided_in"}
_COLUMNS = [field.column for field in Assembly._meta.concrete_fields]  # noqa: SLF001 - Django's documented introspection

# One statement is one transaction, and one journey to the database.
REPEAT = f"""
INSERT INTO assemblies ({", ".join(f'"{column}"' for column in _COLUMNS)})
SELECT {", ".join(f"%({column})s" if column in _NEW else f'"{column}"' for column in _COLUMNS)}
FROM assemblies WHERE id = %(of)s
"""  # noqa: S608 - only names of columns are put in


def record_again(*, of: Assembly, principal: Principal, assembly_ms: int) -> Assembly | None:
    """Record that the principal was told what the assembly `of` holds: its decisions and its texts are shared.

    `now` and the sources' times stay those of the first; `request` names it as what this one `repeats`. None where
    there is no record of the first, because retention took it or its transaction was rolled back.
    """
    again = copy(of)
    again.id, again.created, again.assembly_ms = uuid7(), timezone.now(), assembly_ms
    again.requested_by, again.requester_name = principal.ref, principal.name
    again.request = {**of.request, "repeats": str(of.id)}
    again.decided_in = of.decided_in or of.id
    parameters = {name: getattr(again, name) for name in _NEW} | {"of": of.id, "request": Jsonb(again.request)}
    with connection.cursor() as cursor:
        cursor.execute(REPEAT, parameters)
        return again if cursor.rowcount else None
