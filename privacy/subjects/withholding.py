"""While a subject is restricted, the linked things are stored and nothing else: GDPR, article 18.

Their sensitivity is WITHHELD, which is above every clearance of agents and roles, so that every statement that reads
texts leaves them out. The former sensitivity is stored, and restored when the restriction is lifted. No version is made
of either: the texts stay as they are. What belongs to a linked thing (relations of an entity, goals and events of a
session) is withheld with it, by triggers of the database; passages and conflicts follow their texts by themselves.
"""

from collections import defaultdict
from collections.abc import Mapping
from uuid import UUID

from django.db import transaction

from assembly.records.stored_copies import copies_check_again
from config.db.statements import execute_sql, fetch_rows
from memories.lifecycle.thing_tables import THING_TABLES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from privacy.models import MentionStatus, Subject, SubjectMention
from privacy.subjects.stored_texts import THING_KINDS
from teams.sealing.parts import rows_open, rows_seal
from teams.sensitivity import DEFAULT_LEVEL, Sensitivity

TABLES: Mapping[str, str] = {
    name: kind.model._meta.db_table  # noqa: SLF001 - Django's documented name
    for name, kind in THING_KINDS.items()
    if kind.is_live
}
"""The tables of things that can be withheld, by the kinds of mentions."""
RESTORED_FIRST = ("sessions", "task_frames", "entities")
"""Tables of things with parts, which are at least as sensitive as these: they are restored before their parts."""

# The linked things with what is a part of them. `depth` orders a thing before its parts.
AFFECTED_SQL = """
WITH RECURSIVE affected (table_name, thing, depth) AS (
    SELECT linked.table_name, linked.thing, 0
        FROM unnest(%(tables)s::text[], %(things)s::uuid[]) AS linked (table_name, thing)
    UNION
    SELECT part.table_name, part.id, affected.depth + 1 FROM affected CROSS JOIN LATERAL (
        SELECT 'relations' AS table_name, id FROM relations
            WHERE affected.table_name = 'entities' AND (source_id = affected.thing OR target_id = affected.thing)
        UNION ALL SELECT 'task_frames', id FROM task_frames
            WHERE affected.table_name = 'sessions' AND session_id = affected.thing
        UNION ALL SELECT 'task_frames', id FROM task_frames
            WHERE affected.table_name = 'task_frames' AND parent_id = affected.thing
        UNION ALL SELECT 'events', id FROM events
            WHERE affected.table_name = 'sessions' AND session_id = affected.thing
        UNION ALL SELECT 'events', id FROM events
            WHERE affected.table_name = 'task_frames' AND task_id = affected.thing
    ) AS part
)
"""
# What is withheld already, was so for another subject, or became a part of something withheld after that.
REMEMBER_SQL = f"""
{AFFECTED_SQL}
INSERT INTO withheld_things (subject_id, table_name, thing, former_sensitivity)
SELECT DISTINCT ON (affected.thing) %(subject)s::uuid, affected.table_name, affected.thing, CASE
    WHEN now.sensitivity < %(withheld)s THEN now.sensitivity
    ELSE coalesce(
        (SELECT former_sensitivity FROM withheld_things AS other WHERE other.thing = affected.thing LIMIT 1),
        %(default)s
    ) END
FROM affected CROSS JOIN LATERAL (SELECT sensitivity_of(affected.thing) AS sensitivity) AS now
WHERE now.sensitivity IS NOT NULL
ORDER BY affected.thing, affected.depth
ON CONFLICT (subject_id, thing) DO NOTHING
"""  # noqa: S608 - only the constant above is put in
FORGET_SQL = f"""
{AFFECTED_SQL}
DELETE FROM withheld_things AS gone WHERE subject_id = %(subject)s AND thing NOT IN (SELECT thing FROM affected)
RETURNING table_name, thing, former_sensitivity,
    EXISTS (SELECT FROM withheld_things AS other WHERE other.thing = gone.thing AND other.subject_id <> gone.subject_id)
"""  # noqa: S608 - as above
WITHHOLD_SQL = """
UPDATE {table} SET sensitivity = %(withheld)s WHERE sensitivity < %(withheld)s AND id IN (
    SELECT thing FROM withheld_things WHERE subject_id = %(subject)s AND table_name = '{table}'
)
"""
UNSEALED_SQL = """
SELECT id FROM {table} WHERE sensitivity <= %(default)s AND id IN (
    SELECT thing FROM withheld_things WHERE subject_id = %(subject)s AND table_name = '{table}'
) ORDER BY id FOR NO KEY UPDATE
"""
RESTORE_SQL = """
UPDATE {table} AS row SET sensitivity = restored.level
FROM unnest(%(ids)s::uuid[], %(levels)s::smallint[]) AS restored (id, level) WHERE row.id = restored.id
"""
DEPTHS_SQL = """
WITH RECURSIVE above (frame, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM task_frames WHERE id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT above.frame, parent.parent_id, above.depth + 1
        FROM above JOIN task_frames AS parent ON parent.id = above.parent_id
)
SELECT frame, max(depth) FROM above GROUP BY frame
"""


@transaction.atomic
def withheld_things_sync(subject: Subject) -> None:
    """Withhold what is linked to the subject now if it is restricted, and restore everything else.

    What another restricted subject is linked to as well stays withheld.
    """
    linked = SubjectMention.objects.filter(subject=subject, status=MentionStatus.LINKED, ref_kind__in=TABLES)
    things = list(linked.values_list("ref_kind", "thing")) if subject.is_restricted else []
    facts = {
        "subject": subject.id,
        "tables": [TABLES[kind] for kind, _thing in things],
        "things": [thing for _kind, thing in things],
        "withheld": int(Sensitivity.WITHHELD),
        "default": int(DEFAULT_LEVEL),
    }
    if execute_sql(REMEMBER_SQL, facts):
        copies_check_again()
    for table in sorted(set(TABLES.values())):
        _seal(table, facts)
        execute_sql(WITHHOLD_SQL.format(table=table), facts)
    _restore_rest(fetch_rows(FORGET_SQL, facts))


def _seal(table: str, facts: Mapping[str, object]) -> None:
    """Seal the texts of the rows that are going to be withheld, after packed ones are stored as they were written.

    The rows are locked before, because those that others have locked are not moved.
    """
    if ids := [id_ for (id_,) in fetch_rows(UNSEALED_SQL.format(table=table), facts)]:
        _unpack(table, ids)
        rows_seal(table, ids)


def _unpack(table: str, ids: list[UUID]) -> None:
    """Store the packed texts of these rows in their columns, sealed if they are above internal."""
    if moved := next((one for one in THING_TABLES if one.name == table), None):
        things_move(moved, ids, Tier.HOT)


def _restore_rest(forgotten: list[tuple[str, UUID, int, bool]]) -> None:
    levels = defaultdict[str, dict[UUID, int]](dict)
    for table, thing, level, is_withheld_for_another in forgotten:
        if not is_withheld_for_another:
            levels[table][thing] = level
    for table in [*RESTORED_FIRST, *sorted(levels.keys() - set(RESTORED_FIRST))]:
        for ids in _in_order(table, [*levels.get(table, ())]):
            restored = {"ids": ids, "levels": [levels[table][id_] for id_ in ids]}
            execute_sql(RESTORE_SQL.format(table=table), restored)
            rows_open(table, ids)
            # What was packed meanwhile is sealed, so it is stored as it was written, and found by its words again.
            _unpack(table, [id_ for id_ in ids if levels[table][id_] <= DEFAULT_LEVEL])


def _in_order(table: str, ids: list[UUID]) -> list[list[UUID]]:
    """Return the ids in groups, those of goals before those of the goals below them."""
    if table != "task_frames" or not ids:
        return [ids] if ids else []
    groups = defaultdict[int, list[UUID]](list)
    for id_, depth in fetch_rows(DEPTHS_SQL, {"ids": ids}):
        groups[depth].append(id_)
    return [groups[depth] for depth in sorted(groups)]
