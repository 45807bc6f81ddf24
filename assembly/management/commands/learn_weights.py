"""`learn_weights --profile NAME`: weights of a profile, learned from feedback and tried on its newest contexts."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assembly.learned_weights.services import (
    MIN_CONTEXTS,
    missing_gain_sentence,
    shadow_report_create,
    shows_gain,
    weights_learn,
)
from config.http.errors import DossierError
from teams.principal import SYSTEM


class Command(BaseCommand):
    help = (
        "Learns the weights of a profile from feedback, stores them as a new version, and stores what they would have"
        " changed in its newest contexts. Nothing is switched on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--profile", required=True, metavar="NAME")
        parser.add_argument("--least", type=int, default=MIN_CONTEXTS, metavar="NUMBER", help="contexts with feedback")

    def handle(self, *, profile: str, least: int, **_: Any) -> None:
        try:
            learned = weights_learn(profile=profile, principal=SYSTEM, least=least)
            report = shadow_report_create(learned=learned)
        except DossierError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(f"Version {learned.version}, from {learned.contexts} contexts:")
        for name, weight in learned.weights.items():
            self.stdout.write(f"  {name}: {learned.own_weights[name]} → {weight}")
        if shows_gain(report):
            recalls = f"{report.recall_before:.3f} before and {report.recall_after:.3f} after"
            self.stdout.write(f"The recall of used items is {recalls}. An admin can switch them on.")
        else:
            self.stdout.write(missing_gain_sentence(report))
