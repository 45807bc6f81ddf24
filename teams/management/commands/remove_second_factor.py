"""`manage.py remove_second_factor USERNAME` removes a second factor on the command line, for the last admin who lost
it.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from teams.models import User
from teams.sign_in.second_factor import second_factor_remove


class Command(BaseCommand):
    """Remove somebody's authenticator app and recovery codes. It ends the sessions of that person, too."""

    help = (
        "Removes the second factor of a person who lost phone and recovery codes; the password "
        "is sufficient afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, username: str, **options: Any) -> None:
        person = User.objects.filter(username=username).first()
        if person is None:
            raise CommandError(f"There is no user with the username “{username}”. The page “People” lists all.")
        if not second_factor_remove(person=person):
            raise CommandError(f"“{username}” has no second factor. Nothing was changed.")
        self.stdout.write(f"“{username}” signs in with the password alone now.")
