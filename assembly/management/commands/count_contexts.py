"""`count_contexts [--since DAY] [--again]` counts contexts for the trends, on days that are not counted yet."""

import datetime
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assembly.monitoring.trends.recount import day_recount, find_recorded_days
from config.http.serializers import parse_date


class Command(BaseCommand):
    help = (
        "Counts recorded contexts day by day that are not counted yet. It can be interrupted and "
        "continued. With --again, days that are counted already are counted again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--since", metavar="DAY", help="as in 2026-11-21, by UTC; all days without")
        parser.add_argument("--again", action="store_true")

    def handle(self, *, since: str | None, again: bool, **_: Any) -> None:
        for day in find_recorded_days(_day(since)):
            counted = day_recount(day, again=again)
            told = "counted already" if counted is None else f"{counted:,} contexts counted"
            self.stdout.write(f"{day}: {told}")


def _day(text: str | None) -> datetime.date | None:
    if text is None:
        return None
    day = parse_date(text)
    if day is None:
        raise CommandError("Write the day like 2026-11-21.")
    return day
