"""`manage.py repeat_erasures` erases again whom a restored backup brought back; run it before Dossier is started.

Completed erasures are listed in the key store, which is not restored with the data. Workers look for what is missing at
their start, too. The command may be interrupted and repeated. With `--forget-before`, entries of the list are
destroyed: do so once no backup from before that day exists any more.
"""

import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.keys.store import is_configured
from memories.jobs.execution import job_run
from privacy.erasure.erasure_job import job_of
from privacy.erasure.ledger import entries_forget, lost_erasures
from privacy.erasure.repetition import erasures_repeat
from privacy.models import ErasureState, SubjectErasure


class Command(BaseCommand):
    """Repeat the erasures that are not in this database, and wait for them."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say how many are missing; fails if any is")
        parser.add_argument("--forget-before", metavar="DATE", help="destroy the entries of erasures before that day")

    def handle(self, *, check: bool, forget_before: str | None, **_: Any) -> None:
        if not is_configured():
            raise CommandError("There is no key store, so completed erasures are listed nowhere.")
        if check:
            self._check()
        elif forget_before:
            forgotten = entries_forget(_day(forget_before))
            self.stdout.write(f"{forgotten:,} entries are destroyed. No restored backup is erased by them any more.")
        else:
            self._repeat()

    def _check(self) -> None:
        if lost := len(lost_erasures()):
            raise CommandError(
                f"{lost:,} completed erasures are not in this database. Run `manage.py repeat_erasures`."
            )
        self.stdout.write("No completed erasure is missing.")

    def _repeat(self) -> None:
        erasures_repeat()
        unfinished = SubjectErasure.objects.exclude(repeats=None).exclude(state=ErasureState.FINISHED)
        found = list(unfinished.order_by("number"))
        for erasure in found:
            if erasure.job_id:
                job_run(job_id=erasure.job_id)
            erasure.refresh_from_db()
            self.stdout.write(_outcome(erasure))
        if any(erasure.state != ErasureState.FINISHED for erasure in found):
            raise CommandError("Not all erasures are finished. Workers go on with them; or run the command again.")
        if left := len(lost_erasures()):
            raise CommandError(
                f"{left:,} cannot be repeated now: another erasure of the subject runs, or a key is lost."
            )
        if not found:
            self.stdout.write("No completed erasure is missing.")


def _outcome(erasure: SubjectErasure) -> str:
    if erasure.state == ErasureState.FINISHED:
        return f"Erasure {erasure.number} repeats erasure {erasure.repeats['number']} and is finished."
    job = job_of(erasure)
    return f"Erasure {erasure.number} waits: {erasure.blocked_because or (job.error if job else '')}"


def _day(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.combine(datetime.date.fromisoformat(text), datetime.time.min, datetime.UTC)
    except ValueError:
        raise CommandError(f"“{text}” is no date. Write it as in 2026-11-26.") from None
