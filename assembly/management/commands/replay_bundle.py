"""`replay_bundle FILE`: replays the contexts of a bundle byte for byte, and checks them. Needs no database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assembly.management.commands.verify_records import parse_head as head_given
from assembly.records.bundle_check import RecordCheck, chain_faults, check_bundle, newest_head
from assembly.records.bundle_reader import BundleContents, read_bundle
from assembly.records.bundle_writer import MAX_BYTES
from config.http.errors import DossierError


class Command(BaseCommand):
    """Ends with 0 where every context gives the recorded bytes and is what its seal holds, else with 1."""

    help = __doc__
    requires_system_checks: list[str] = []  # some ask the database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--expect",
            type=head_given,
            metavar="NUMBER:HASH",
            help="what `verify_records --head` printed once has to be among the seals in it",
        )

    def handle(self, *, file: Path, expect: tuple[int, bytes] | None, **_: Any) -> None:
        bundle = _read(file)
        wrong = 0
        for sentence in [*bundle.damaged_sentences, *chain_faults(bundle), *_head_faults(bundle, expect)]:
            self.stdout.write(f"✗ {sentence}")
            wrong += 1
        for checked in check_bundle(bundle):
            self.stdout.write(_line(checked))
            wrong += bool(checked.fault)
        self.stdout.write(f"The newest seal in it is {newest_head(bundle) or 'none'}.")
        if wrong:
            raise CommandError(f"{wrong:,} parts differ from the record.")


def _read(file: Path) -> BundleContents:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise CommandError(f"{file} is larger than 200 MB: no bundle is.")
        return read_bundle(file.read_bytes())
    except DossierError as error:
        raise CommandError(f"{file}: {error.detail}") from error
    except OSError as error:
        raise CommandError(f"{file} cannot be read ({error.strerror}).") from error


def _head_faults(bundle: BundleContents, expect: tuple[int, bytes] | None) -> list[str]:
    if expect is None or (expect[0] in bundle.links and bundle.links[expect[0]][1] == expect[1]):
        return []
    return [f"Seal {expect[0]} is not in it with the hash that you expect."]


def _line(checked: RecordCheck) -> str:
    if checked.fault:
        return f"✗ {checked.id}  {checked.fault}"
    proof = f"as in seal {checked.seal}" if checked.seal else "not sealed yet"
    if checked.erased:
        return f"✓ {checked.id}  {checked.erased} It is {proof}."
    return f"✓ {checked.id}  replayed byte for byte, {proof}"
