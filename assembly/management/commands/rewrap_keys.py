"""`manage.py rewrap_keys` encrypts the keys of recorded texts with the new MASTER_KEY, the last step of changing it.

The texts themselves stay as they are. The command may be interrupted and repeated, and may run while Dossier is in use.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.keys.rotation import rewrap_keys
from config.keys.store import is_configured


class Command(BaseCommand):
    """Encrypt all keys that are still encrypted with one of MASTER_KEY_FALLBACKS with the present MASTER_KEY."""

    help = __doc__

    def handle(self, **_: Any) -> None:
        if not is_configured():
            raise CommandError("There is no key store.")
        done = lost = 0
        for rewrapped, unreadable in rewrap_keys():
            done, lost = done + rewrapped, lost + unreadable
        self.stdout.write(f"{done:,} key{'' if done == 1 else 's'} encrypted again.")
        if lost:
            raise CommandError(f"{lost:,} cannot be read. Add the key that they are under to MASTER_KEY_FALLBACKS.")
