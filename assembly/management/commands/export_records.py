"""`export_records`: writes contexts with all that a replay needs, and the proof of their seals, into one file."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from assembly.management.commands.verify_records import parse_time
from assembly.models import Assembly
from assembly.records.bundle_writer import RecordBundle
from config.db.statements import ONE_SNAPSHOT_SQL, execute_sql
from config.http.errors import DossierError
from memories.archive.zip_file import write_zip
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import SYSTEM


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="these contexts")
        parser.add_argument("--team", metavar="SLUG", help="those of this team")
        parser.add_argument("--since", type=parse_time, help="from this day or moment on")
        parser.add_argument("--until", type=parse_time, help="before this day or moment")
        parser.add_argument("--to", type=Path, required=True, metavar="FILE.zip")

    def handle(
        self,
        *,
        ids: Sequence[UUID],
        team: str | None,
        since: datetime | None,
        until: datetime | None,
        to: Path,
        **_: Any,
    ) -> None:
        if not (ids or team or since or until):
            raise CommandError("Say which contexts: their ids, --team, --since or --until.")
        try:
            with transaction.atomic():
                execute_sql(ONE_SNAPSHOT_SQL)
                bundle = RecordBundle(_selected_ids(ids, team, since, until))
                _write(bundle, to)
                of = {*Assembly.objects.filter(id__in=bundle.ids).values_list("team_id", flat=True)}
            detail = {"contexts": len(bundle.ids)}  # the transaction before was a reading one
            activity_record(SYSTEM, ActivityAction.BUNDLE_DOWNLOADED, to.name, team_ids=of, detail=detail)
        except DossierError as error:
            raise CommandError(error.detail) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be written ({error.strerror}).") from error
        self.stdout.write(f"{to}: {len(bundle.ids):,} contexts. `replay_bundle` reads it, on any installation.")


def _selected_ids(ids: Sequence[UUID], team: str | None, since: datetime | None, until: datetime | None) -> list[UUID]:
    chosen = Assembly.objects.filter(id__in=ids) if ids else Assembly.objects.all()
    if missing := {*ids} - {*chosen.values_list("id", flat=True)} if ids else set():
        raise CommandError(f"There is no context {min(missing)}. Check the id; perhaps it was pruned.")
    if team:
        chosen = chosen.filter(team_slug=team)
    if since:
        chosen = chosen.filter(created__gte=since)
    if until:
        chosen = chosen.filter(created__lt=until)
    found = list(chosen.values_list("id", flat=True))
    if not found:
        raise CommandError("There are no such contexts.")
    return found


def _write(bundle: RecordBundle, target: Path) -> None:
    # Beside its place first, so that an export that ends half-way leaves the last one whole.
    with NamedTemporaryFile(dir=target.resolve().parent, delete=False) as file:
        try:
            write_zip(bundle.entries(), file)
        except BaseException:
            Path(file.name).unlink()
            raise
    os.chmod(file.name, 0o600)  # noqa: PTH101 - it holds what agents were told
    Path(file.name).replace(target)
