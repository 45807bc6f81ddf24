"""This module writes the log of readings: what a successful request read that is confidential or restricted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponseBase
from uuid_utils.compat import uuid7

from config.db.statements import execute_sql
from config.http.client_address import client_address
from config.http.problems import is_api
from config.observability.request_context import route_of
from teams.principal import Principal
from teams.readings.collector import Thing, collected_things
from teams.readings.models import Reading, ReadingKind
from teams.readings.reading_reasons import given_reason, owner_of

PEOPLE = frozenset({"person", "admin_key"})
"""The kinds of principals whose readings are recorded. What an agent's key reads is in the records of contexts."""
SAME_MINUTES = 10
"""Within these minutes, the same person reading the same things in the same way from the same address is one line."""
SHOWING = frozenset({*range(200, 300), 304})
"""The statuses with which texts are told; with 304, the browser shows again what it has."""
TO_BE_CORRECTED = 422
RECORD_SQL = f"""
INSERT INTO readings
    (id, created, actor, actor_name, kind, level, things, counts, agent_id, team_id, team_ids, address, reason, route)
SELECT new.id, clock_timestamp(), %(actor)s, %(actor_name)s, new.kind, new.level, new.things, new.counts,
    new.agent_id, new.team_id,
    CASE WHEN new.team_id IS NOT NULL THEN ARRAY[new.team_id]
        ELSE ARRAY(SELECT team_id FROM agent_teams WHERE agent_id = new.agent_id ORDER BY team_id) END,
    %(address)s, new.reason, %(route)s
FROM jsonb_to_recordset(%(lines)s::jsonb) AS new
    (id uuid, kind text, level smallint, things uuid[], counts jsonb, agent_id uuid, team_id uuid, reason text)
WHERE NOT EXISTS (
    SELECT FROM readings AS old
    WHERE old.actor = %(actor)s AND old.created > clock_timestamp() - interval '{SAME_MINUTES} minutes'
        AND old.kind = new.kind AND old.things = new.things AND old.level = new.level AND old.address = %(address)s
        AND old.reason = new.reason
)
"""  # noqa: S608 - a constant number is put in


ReadingGroups = Sequence[tuple[ReadingKind, Sequence[Thing]]]
"""Things of one line each, with how they were read."""


def reading_groups(request: HttpRequest, response: HttpResponseBase) -> ReadingGroups:
    """Return what the request read, by line: each thing that it opened, and all others of the same owner together.

    There is nothing for a refused or redirected request, a reading by an agent's key, and things below confidential.
    """
    if not getattr(request, "things_read", None) or not shows_texts(request, response) or reader_of(request) is None:
        return []
    is_file = "attachment" in response.headers.get("Content-Disposition", "")
    return list(grouped(request, with_owners(request), is_file=is_file))


def readings_record(request: HttpRequest, groups: ReadingGroups) -> int:
    """Write a line for each group, and return the number of lines.

    Nothing is written for what the same person read in the same way and for the same reason from the same address a few
    minutes ago.
    """
    principal = reader_of(request)
    if principal is None or not groups:
        return 0
    lines = [{**line_of(kind, things), "reason": given_reason(request, owner_of(things[0]))} for kind, things in groups]
    facts = {
        "actor": principal.ref,
        "actor_name": principal.name[: Reading._meta.get_field("actor_name").max_length],  # noqa: SLF001 - as documented
        "address": client_address(request)[: Reading._meta.get_field("address").max_length],  # noqa: SLF001
        "route": f"{request.method} {route_of(request)}"[: Reading._meta.get_field("route").max_length],  # noqa: SLF001
        "lines": orjson.dumps(lines).decode(),
    }
    return execute_sql(RECORD_SQL, facts)


def shows_texts(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Return whether the response tells what the request read: a success, or a page with a form to be corrected."""
    if request.method == "HEAD":
        return False
    return response.status_code in SHOWING or (response.status_code == TO_BE_CORRECTED and not is_api(request))


def reader_of(request: HttpRequest) -> Principal | None:
    """Return the person or the admin key that makes the request; None for anybody else."""
    user = getattr(request, "user", None)
    principal = user if isinstance(user, Principal) else getattr(user, "principal", None)
    return principal if principal is not None and principal.kind in PEOPLE else None


def with_owners(request: HttpRequest) -> list[Thing]:
    """Return what the request read, with the owners; those of versions are looked up, one query for each kind."""
    things = collected_things(request)
    unknown: dict[Any, list[UUID]] = {}
    for thing in things:
        if thing.owner_model is not None:
            unknown.setdefault(thing.owner_model, []).append(thing.id)
    owners: dict[UUID, tuple[UUID | None, UUID | None]] = {}
    for model, ids in unknown.items():
        names = {field.attname for field in model._meta.concrete_fields}  # noqa: SLF001 - Django's documented name
        columns = [name for name in ("agent_id", "team_id") if name in names]
        for row in model.everything.filter(pk__in=ids).values("pk", *columns):
            owners[row["pk"]] = row.get("agent_id"), row.get("team_id")
    return [thing.owned_by(*owners[thing.id]) if thing.id in owners else thing for thing in things]


def grouped(
    request: HttpRequest, things: Sequence[Thing], *, is_file: bool
) -> Iterator[tuple[ReadingKind, Sequence[Thing]]]:
    """Yield the things of each line, with how they were read."""
    opened = [] if is_file else opened_things(request, things)
    for thing in opened:
        yield ReadingKind.READ, [thing]
    rest = sorted((thing for thing in things if thing not in opened), key=_owner)
    for _, same_owner in groupby(rest, key=_owner):
        yield ReadingKind.EXPORTED if is_file else ReadingKind.LISTED, list(same_owner)


def opened_things(request: HttpRequest, things: Sequence[Thing]) -> list[Thing]:
    """Return the things that the address of the request names, and not only the list in which they are."""
    match: Any = request.resolver_match  # the stubs do not know `extra_kwargs`
    named = {name: match.kwargs[name] for name in match.kwargs.keys() - match.extra_kwargs.keys()} if match else {}
    path = {str(value) for name, value in named.items() if name != "slug"}
    asked = {value for values in request.GET.lists() for value in values[1]}
    found = [thing for thing in things if thing.words & path or str(thing.id) in asked]
    # A version may be above the level of its file, which was not collected; and a context is made by a POST.
    if not found and len(things) == 1 and (path or request.method == "POST"):
        return list(things)
    return found


def line_of(kind: ReadingKind, things: Sequence[Thing]) -> dict[str, Any]:
    """Return the columns of a line about these things of one owner."""
    return {
        "id": uuid7(),
        "kind": kind.value,
        "level": max(thing.level for thing in things),
        "things": sorted(thing.id for thing in things),
        "counts": dict(sorted(Counter(thing.kind for thing in things).items())),
        "agent_id": things[0].agent_id,
        "team_id": things[0].team_id,
    }


def _owner(thing: Thing) -> tuple[str, str]:
    return str(thing.agent_id or ""), str(thing.team_id or "")
