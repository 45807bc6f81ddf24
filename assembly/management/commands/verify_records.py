"""`verify_records`: says whether the record of contexts is what was sealed, and what of it is not."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assembly.models import Seal, WebhookEvent
from assembly.monitoring.webhooks.delivery import event_announce
from assembly.records.seal_verification import Finding, VerificationCounts, head_findings, verify_records
from assembly.records.seals import newest_seal

HEAD = re.compile(r"([0-9]{1,18}):([0-9a-fA-F]{64})")


def parse_head(text: str) -> tuple[int, bytes]:
    """Return the number and hash of a seal, parsed from the form that `--head` prints."""
    found = HEAD.fullmatch(text.strip())
    if not found:
        raise ArgumentTypeError("Give what --head printed: a number, a colon and 64 hexadecimal digits.")
    return int(found[1]), bytes.fromhex(found[2])


def parse_time(text: str) -> datetime:
    """Return the moment for a day or a time; UTC if it has no time zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError("Give a day or a moment, as 2026-11-21 or 2026-11-21T09:30:00Z.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def seal_head_text(seal: Seal | None) -> str:
    """Return a seal's number and hash as text; "" if there is no seal."""
    return f"{seal.number}:{bytes(seal.sha256).hex()}" if seal else ""


class Command(BaseCommand):
    """Ends with 0 where everything is as it was sealed, and with 1 where something is not."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--since", type=parse_time, help="seals and records from this day or moment on")
        parser.add_argument("--json", action="store_true", help="one JSON object per finding and line, then a summary")
        parser.add_argument("--head", action="store_true", help="print only the number and hash of the newest seal")
        parser.add_argument(
            "--expect", type=parse_head, metavar="NUMBER:HASH", help="what --head printed once has to be there still"
        )

    def handle(
        self, *, since: datetime | None, json: bool, head: bool, expect: tuple[int, bytes] | None, **_: Any
    ) -> None:
        if head:
            self._print_head()
            return
        tally, wrong = VerificationCounts(), 0
        for finding in chain(head_findings(*expect) if expect else (), verify_records(tally, since)):
            self.stdout.write(_as_json(finding) if json else f"✗ {finding.sentence}")
            wrong += 1
        newest = seal_head_text(newest_seal())
        self.stdout.write(_summary_json(tally, newest, wrong) if json else _summary_text(tally, newest))
        if wrong:
            event_announce(event=WebhookEvent.RECORDS_DAMAGED, data={"findings": wrong, "head": newest})
            raise CommandError(f"{wrong:,} parts differ from their seals. See docs/audit/seals.md.")

    def _print_head(self) -> None:
        newest = newest_seal()
        if newest is None:
            raise CommandError("Nothing was sealed yet. A running worker seals new contexts within seconds.")
        self.stdout.write(seal_head_text(newest))


def _as_json(finding: Finding) -> str:
    return json.dumps(asdict(finding), ensure_ascii=False)


def _summary_json(tally: VerificationCounts, newest: str, wrong: int) -> str:
    return json.dumps({"ok": not wrong, "findings": wrong, **asdict(tally), "head": newest})


def _summary_text(tally: VerificationCounts, newest: str) -> str:
    looked_at = f"{tally.seals:,} seals, {tally.records:,} contexts, {tally.pieces:,} pieces; {tally.pruned:,} pruned"
    looked_at += f", {tally.erased:,} erased" if tally.erased else ""
    return f"Looked at {looked_at}. The newest seal is {newest or 'none'}."
