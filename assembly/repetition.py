"""Recording an assembly that was asked for again: everything as it was, under a new id."""

from copy import copy

from django.db import connection
from django.utils import timezone
from uuid_utils.compat import uuid7

from assembly.models import Assembly
from teams.principal import Principal

_NEW = {"id", "created", "requested_by", "requester_name", "assembly_ms", "body", "decided_in"}
_COLUMNS = [field.column for field in Assembly._meta.concrete_fields]  # noqa: SLF001 - Django's documented introspection

# One statement is one transaction, and one journey to the database.
REPEAT = f"""
WITH again AS (
    INSERT INTO assemblies ({", ".join(f'"{column}"' for column in _COLUMNS)})
    SELECT {", ".join(f"%({column})s" if column in _NEW else f'"{column}"' for column in _COLUMNS)}
    FROM assemblies WHERE id = %(of)s
    RETURNING id
)
INSERT INTO new_assemblies (assembly) SELECT id FROM again
"""  # noqa: S608 - only names of columns are put in


def record_again(*, of: Assembly, principal: Principal, assembly_ms: int) -> Assembly | None:
    """Record that the principal was told what the assembly `of` holds: its body and its pieces are shared.

    `now` and the sources' times stay those of the first. None where
    there is no record of the first, because retention took it or its transaction was rolled back.
    """
    again = copy(of)
    again.id, again.created, again.assembly_ms = uuid7(), timezone.now(), assembly_ms
    again.requested_by, again.requester_name = principal.ref, principal.name
    again.decided_in, again.body = of.decided_in or of.id, b""
    parameters = {name: getattr(again, name) for name in _NEW} | {"of": of.id}
    with connection.cursor() as cursor:
        cursor.execute(REPEAT, parameters)
        return again if cursor.rowcount else None
