"""`migrate` runs as the owner of the database, because the role of the app may not create tables."""

from django.core.management.base import CommandParser
from django.core.management.commands import migrate


class Command(migrate.Command):
    """Django's `migrate`, which uses the database `owner` unless another one is named."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")
