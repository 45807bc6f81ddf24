"""`partition_tables` divides large tables into partitions by owner, while everything stays in use."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.db.partitions.copy_state import abandon
from config.db.partitions.divided_tables import DIVIDED, PARTITIONS, is_divided, is_moving
from config.db.partitions.move import BATCH_ROWS, Move, MoveRefused, move_lock, patiently
from config.db.partitions.references import NotDivisible
from memories.imports.base import count_phrase

MOST_PARTITIONS = 128


class Command(BaseCommand):
    help = (
        "Divides the tables of memories, events, chunks, records and their pieces into PostgreSQL's partitions, by hash"
        " of the owner, while everything stays in use. If it is interrupted, start it again to continue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--table", choices=[*DIVIDED], action="append", help="only this table")
        parser.add_argument("--partitions", type=int, default=PARTITIONS, help=f"how many, {PARTITIONS} by default")
        parser.add_argument("--batch", type=int, default=BATCH_ROWS, help="rows that are copied in one transaction")
        parser.add_argument("--pause", type=int, default=0, help="milliseconds between two batches")
        parser.add_argument("--status", action="store_true", help="which tables are divided, and how far a move is")
        parser.add_argument("--abandon", action="store_true", help="drops the copy of a move that is not finished")

    def handle(
        self,
        *,
        table: list[str] | None,
        partitions: int,
        batch: int,
        pause: int,
        status: bool,
        abandon: bool,
        **_: Any,
    ) -> None:
        if not 2 <= partitions <= MOST_PARTITIONS:  # noqa: PLR2004 - one partition divides nothing
            raise CommandError(f"Name 2 to {MOST_PARTITIONS} partitions.")
        if batch < 1 or pause < 0:
            raise CommandError("--batch is a number of rows, and --pause of milliseconds.")
        for name in table or DIVIDED:
            try:
                if status:
                    self._tell(name)
                elif abandon:
                    self._abandon(name)
                else:
                    self._move(name, partitions, batch, pause / 1000)
            except (MoveRefused, NotDivisible) as error:
                raise CommandError(str(error)) from error

    def _tell(self, name: str) -> None:
        state = "is divided" if is_divided(name) else "is one table"
        self.stdout.write(f"{name} {state}{', and a move is not finished' if is_moving(name) else ''}.")

    def _abandon(self, name: str) -> None:
        with move_lock():
            dropped = patiently(lambda: abandon(DIVIDED[name]), "drop the copy", self.stdout.write)
        self.stdout.write(f"{name}: {'the copy is dropped' if dropped else 'no move has begun'}.")

    def _move(self, name: str, partitions: int, batch: int, pause: float) -> None:
        moved = Move(DIVIDED[name], partitions, batch=batch, pause=pause, report=self.stdout.write).run()
        if moved is None:
            self.stdout.write(f"{name} is divided already.")
        else:
            rows = count_phrase(moved.rows, "row", "rows")
            self.stdout.write(
                f"{name} is divided now: {rows} were copied here, {moved.changed:,} once more because they were written"
                f" meanwhile; the exchange held its locks for {moved.locked_ms:.0f} ms."
            )
