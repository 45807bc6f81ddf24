"""A table is moved into partitions while others read and write it; it may be interrupted at any moment.

1. A divided table is created beside it. From then on, triggers note the keys of all rows that are written.
2. All rows are copied in batches, in the order of their keys; each batch stores its position with its rows.
3. The indexes are built on the partitions, which nobody reads yet.
4. The noted rows are copied again, until few are left.
5. Both tables are compared in one snapshot, by a hash of all their rows.
6. Under a lock, the last noted rows are copied, and the divided table takes the other one's name: see `exchange`.

Nothing that somebody waits for is written by this: a request waits for locks of steps 1 and 6 alone, at most
LOCK_TIMEOUT_MS and the exchange itself. Whoever is refused a lock tries again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, TypeVar

from django.db import IntegrityError, OperationalError, connections, transaction
from psycopg import sql

from config.db.partitions.copy_state import EVENTS, Outdated, abandon, check_same, impatient, lock_tables
from config.db.partitions.definition import Definition, definition_of, raw_sql
from config.db.partitions.divided_tables import OWNER, Divided, is_divided, is_moving
from config.db.partitions.exchange import exchange
from config.db.partitions.partition_indexes import INDEX_MEMORY_SQL, build_index, name_by_partition
from config.db.statements import ONE_SNAPSHOT_SQL, execute_sql, fetch_rows

Found = TypeVar("Found")
Report = Callable[[str], None]

LOCK_PAUSE_SECONDS = 1.0
MOVE_LOCK = 7_301_009
"""One process moves tables: it holds the advisory lock with this number."""
PATIENCE_SECONDS = 60.0
"""The lock is waited for this long: the last statement of a process that was killed runs to its end."""
BATCH_ROWS = 1_000
CHANGED_ROWS = 2_000
FEW_CHANGES = 500
"""So many noted rows are left for the lock; they take a few tens of milliseconds."""
END_WITH_CLIENT_SQL = "SET client_connection_check_interval = '1s'"
BUSY = {"55P03", "40P01"}  # lock_not_available, deadlock_detected
GONE = {"23503"}  # foreign_key_violation: an owner was deleted while a batch with its rows was copied

CREATE_MOVING: Any = """
CREATE TABLE {moving} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING IDENTITY INCLUDING GENERATED
    INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS) PARTITION BY HASH ({owner});
ALTER TABLE {moving} ALTER COLUMN {owner} SET NOT NULL;
CREATE TABLE {progress} (copied_to {key_type}, is_copied boolean NOT NULL DEFAULT false);
INSERT INTO {progress} DEFAULT VALUES;
CREATE TABLE {changes} (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id {key_type} NOT NULL);
CREATE FUNCTION {note}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $body$ BEGIN
    CASE TG_OP
        WHEN 'INSERT' THEN INSERT INTO {changes} (id) SELECT id FROM new_rows;
        WHEN 'UPDATE' THEN INSERT INTO {changes} (id) SELECT id FROM old_rows UNION SELECT id FROM new_rows;
        WHEN 'DELETE' THEN INSERT INTO {changes} (id) SELECT id FROM old_rows;
        ELSE RAISE EXCEPTION 'the table is moved, and cannot be emptied meanwhile';
    END CASE;
    RETURN NULL;
END $body$;
CREATE TRIGGER {on_insert} AFTER INSERT ON {table} REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION {note}();
CREATE TRIGGER {on_update} AFTER UPDATE ON {table} REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION {note}();
CREATE TRIGGER {on_delete} AFTER DELETE ON {table} REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION {note}();
CREATE TRIGGER {on_truncate} BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION {note}();
"""
CREATE_PARTITION: Any = """
CREATE TABLE {partition} PARTITION OF {moving} FOR VALUES WITH (MODULUS {modulus}, REMAINDER {remainder}) {options}
"""
CREATE_STATISTICS: Any = "CREATE STATISTICS {name} (dependencies) ON {columns} FROM {partition}"
COPY: Any = """
WITH next AS MATERIALIZED (
    SELECT * FROM {table} WHERE {position} ORDER BY id LIMIT {limit}
), written AS (
    INSERT INTO {moving} ({columns}) OVERRIDING SYSTEM VALUE SELECT {values} FROM next ON CONFLICT DO NOTHING
)
SELECT id, (SELECT count(*) FROM next) FROM next ORDER BY id DESC LIMIT 1
"""
TAKE_CHANGES: Any = """
DELETE FROM {changes} WHERE number IN (SELECT number FROM {changes} ORDER BY number LIMIT %s) RETURNING id
"""
COPY_CHANGED: Any = """
INSERT INTO {moving} ({columns}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {table} WHERE id = ANY(%s)
"""
HASH: Any = """
SELECT count(*), coalesce(sum(hashtextextended(row({values})::text, 0)), 0) FROM {table} AS one
WHERE NOT EXISTS (SELECT FROM {changes} WHERE {changes}.id = one.id)
"""


class MoveRefused(Exception):
    """The move cannot begin or go on; the message says why. Nothing is lost."""


@dataclass(frozen=True, slots=True)
class Moved:
    """This says what a move did in this process; `locked_ms` is how long others could wait for the exchange."""

    rows: int
    changed: int
    locked_ms: float


class Move:
    """A move brings one table into `partitions` partitions. It pauses for `pause` seconds after each batch."""

    def __init__(
        self, divided: Divided, partitions: int, *, batch: int = BATCH_ROWS, pause: float = 0.0, report: Report
    ) -> None:
        self.divided, self.partitions, self.batch, self.pause, self.report = divided, partitions, batch, pause, report
        self.rows = self.changed = 0

    def run(self) -> Moved | None:
        """Do what is left of the move; return None if the table is divided already.

        Raises MoveRefused and NotDivisible.
        """
        with move_lock():
            if is_divided(self.divided.table):
                return None
            while True:
                try:
                    self._prepare()
                    self._copy()
                    self._build_indexes()
                    self._catch_up()
                    self._compare()
                    self._catch_up()
                    seconds = patiently(
                        lambda: exchange(self.divided, self.copy_changes), "exchange the tables", self.report
                    )
                except Outdated as why:
                    self.report(f"The move begins again: {why}")
                    patiently(lambda: abandon(self.divided), "drop the copy", self.report)
                else:
                    return Moved(self.rows, self.changed, seconds * 1000)

    def _sql(self, statement: Any, **more: sql.Composable) -> str:
        """Return the statement about the table and its copy."""
        divided = self.divided
        names = {name: sql.Identifier(getattr(divided, name)) for name in ("table", "moving", "changes", "progress")}
        return sql.SQL(statement).format(**{**names, "owner": sql.Identifier(divided.owner), **more}).as_string()

    def values(self, columns: tuple[str, ...]) -> dict[str, sql.Composable]:
        """Return the columns of a copied row, and the expressions of their values."""
        comma, owner = sql.SQL(", "), self.divided.owner
        computed = raw_sql(self.divided.owner_sql)
        return {
            "columns": comma.join(map(sql.Identifier, columns)),
            "values": comma.join(computed if name == owner else sql.Identifier(name) for name in columns),
        }

    def _prepare(self) -> None:
        if not is_moving(self.divided.table):
            patiently(self._create, "create the divided table", self.report)
        check_same(self.divided)

    def _create(self) -> None:
        divided, identifier = self.divided, sql.Identifier
        with transaction.atomic(using=OWNER):
            impatient()
            found = definition_of(divided.table, divided)
            lock_tables(divided, {to for _, _, to in found.referred}, "SHARE ROW EXCLUSIVE")
            ((key_type,),) = [(type_,) for name, type_, _, _ in found.columns if name == "id"]
            events = {f"on_{event}": identifier(f"{divided.moving}_{event}") for event in EVENTS}
            names = {"key_type": raw_sql(key_type), "note": identifier(f"{divided.moving}_note"), **events}
            execute_sql(self._sql(CREATE_MOVING, **names), using=OWNER)
            options = raw_sql(f"WITH ({found.options})" if found.options else "")
            for number in range(self.partitions):
                own = {"partition": identifier(divided.partition(number)), "options": options}
                counts = {"modulus": sql.Literal(self.partitions), "remainder": sql.Literal(number)}
                execute_sql(self._sql(CREATE_PARTITION, **own, **counts), using=OWNER)
                if divided.siblings:
                    name = identifier(f"{divided.partition(number)}_{divided.owner}")
                    columns = sql.SQL(", ").join(map(identifier, (divided.owner, *divided.siblings)))
                    execute_sql(self._sql(CREATE_STATISTICS, name=name, columns=columns, **own), using=OWNER)
            self._create_keys(found)
            self._grant_rights(found)

    def _create_keys(self, found: Definition) -> None:
        """Create what rows need from the first one on: keys and foreign keys."""
        for index in found.indexes:
            if index.constraint:
                kind = raw_sql("PRIMARY KEY" if index.constraint == "p" else "UNIQUE")
                name = sql.Identifier(f"{index.name}_moving")
                add = "ALTER TABLE {moving} ADD CONSTRAINT {name} {kind} ({key})"
                execute_sql(self._sql(add, name=name, kind=kind, key=raw_sql(index.key)), using=OWNER)
            elif index.unique:
                execute_sql(index.on(self.divided.moving, f"{index.name}_moving").as_string(), using=OWNER)
            if index.unique:
                name_by_partition(f"{index.name}_moving", index.name)
        for foreign_key, text, _ in found.referred:
            add = "ALTER TABLE {moving} ADD CONSTRAINT {name} {text}"
            execute_sql(self._sql(add, name=sql.Identifier(foreign_key), text=raw_sql(text)), using=OWNER)

    def _grant_rights(self, found: Definition) -> None:
        """Give roles the rights on the divided table that they have on the table.

        Partitions can be read by their own names at most, which shows their statistics: whoever wrote one in this way
        would pass by the triggers of statements about the whole table.
        """
        partitions = [self.divided.partition(number) for number in range(self.partitions)]
        for right, role in found.rights:
            tables = [self.divided.moving, *(partitions if right == "SELECT" else ())]
            names = sql.SQL(", ").join(map(sql.Identifier, tables))
            grant = "GRANT {right} ON {tables} TO {role}"
            execute_sql(self._sql(grant, right=raw_sql(right), tables=names, role=raw_sql(role)), using=OWNER)

    def _copy(self) -> None:
        found = definition_of(self.divided.table, self.divided)
        while patiently(lambda: self._copy_batch(found), "copy rows", self.report):
            sleep(self.pause)

    def _copy_batch(self, found: Definition) -> bool:
        """Copy the next rows; return whether there were any."""
        with transaction.atomic(using=OWNER):
            ((position, is_copied),) = fetch_rows(self._sql("SELECT copied_to, is_copied FROM {progress}"), using=OWNER)
            if is_copied:
                return False
            after = sql.SQL("true") if position is None else sql.SQL("id > {}").format(sql.Literal(position))
            values = self.values(found.written)
            copied = fetch_rows(self._sql(COPY, position=after, limit=sql.Literal(self.batch), **values), using=OWNER)
            if not copied:
                execute_sql(self._sql("UPDATE {progress} SET is_copied = true"), using=OWNER)
                return False
            ((last, rows),) = copied
            execute_sql(self._sql("UPDATE {progress} SET copied_to = %s"), [last], using=OWNER)
        self.rows += rows
        if self.rows % (self.batch * 50) == 0:
            self.report(f"{self.rows:,} rows are copied.")
        return True

    def _build_indexes(self) -> None:
        execute_sql(INDEX_MEMORY_SQL, using=OWNER)
        found = definition_of(self.divided.table, self.divided)
        partitions = [self.divided.partition(number) for number in range(self.partitions)]
        built = sum(
            build_index(index, self.divided.moving, f"{index.name}_moving", partitions)
            for index in found.indexes
            if not index.unique
        )
        if built:
            self.report(f"{built} indexes of partitions are built.")
        # The planner and scans of indexes alone need what this finds out.
        execute_sql(self._sql("VACUUM (ANALYZE) {moving}"), using=OWNER)

    def _catch_up(self) -> None:
        while patiently(self.copy_changes, "copy changed rows", self.report) > FEW_CHANGES:
            sleep(self.pause)

    def copy_changes(self) -> int:
        """Copy rows again that were noted, in one transaction; return how many notes there were."""
        with transaction.atomic(using=OWNER):
            ids = [id_ for (id_,) in fetch_rows(self._sql(TAKE_CHANGES), [CHANGED_ROWS], using=OWNER)]
            if ids:
                values = self.values(definition_of(self.divided.table, self.divided).written)
                execute_sql(self._sql("DELETE FROM {moving} WHERE id = ANY(%s)"), [ids], using=OWNER)
                self.changed += execute_sql(self._sql(COPY_CHANGED, **values), [ids], using=OWNER)
        return len(ids)

    def _compare(self) -> None:
        """Compare all rows that nobody has changed since they were copied. Raises MoveRefused."""
        columns = definition_of(self.divided.table, self.divided).written
        with transaction.atomic(using=OWNER):
            execute_sql(ONE_SNAPSHOT_SQL, using=OWNER)
            before = fetch_rows(self._sql(HASH, values=self.values(columns)["values"]), using=OWNER)
            copy = {"table": sql.Identifier(self.divided.moving), "values": self.values(columns)["columns"]}
            after = fetch_rows(self._sql(HASH, **copy), using=OWNER)
        if before != after:
            raise MoveRefused(
                f"The copy of {self.divided.table} differs: {before[0][0]:,} rows were expected, {after[0][0]:,} are"
                " there, or their contents are not the same. Abandon the move with --abandon and report this."
            )
        self.report(f"{before[0][0]:,} rows are equal in both tables.")


def patiently(step: Callable[[], Found], what: str, report: Report) -> Found:
    """Return what the step returns; repeat it as long as others hold locks, or delete owners of copied rows."""
    told = False
    while True:
        try:
            return step()
        except (OperationalError, IntegrityError) as error:
            if getattr(error.__cause__, "sqlstate", "") not in BUSY | GONE:
                raise
        if not told:
            report(f"Others use the table: to {what} is tried again.")
            told = True
        sleep(LOCK_PAUSE_SECONDS)


@contextmanager
def move_lock() -> Iterator[None]:
    """Hold the lock that one process can have, on the connection of the owner. Raises MoveRefused."""
    connections[OWNER].close()  # a session of this move's own, without settings of others
    execute_sql(END_WITH_CLIENT_SQL, using=OWNER)
    until = monotonic() + PATIENCE_SECONDS
    while fetch_rows("SELECT pg_try_advisory_lock(%s)", [MOVE_LOCK], using=OWNER) != [(True,)]:
        if monotonic() > until:
            raise MoveRefused("Another process moves tables. Wait for its end.")
        sleep(LOCK_PAUSE_SECONDS)
    try:
        yield
    finally:
        connections[OWNER].close()
