"""`manage.py reencrypt_secrets` encrypts stored secrets with the new SECRET_KEY, the last step of changing it."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from assembly.models import ExternalSource, Webhook
from config.http.encryption import UndecryptableSecret, decrypt, encrypt, is_current

COLUMNS = ((ExternalSource, "sealed_secret"), (Webhook, "sealed_secret"), (Webhook, "sealed_before"))


class Command(BaseCommand):
    """Encrypt with the present SECRET_KEY all secrets that are still encrypted with one of SECRET_KEY_FALLBACKS.

    The command may be repeated, and may run while Dossier is in use.
    """

    help = (
        "Encrypts stored secrets with the current SECRET_KEY, so that former keys can be removed "
        "from SECRET_KEY_FALLBACKS."
    )

    def handle(self, **options: Any) -> None:
        self.done = self.lost = 0
        for model, column in COLUMNS:
            self._columns(model, column)
        self._authenticators()
        self.stdout.write(f"{self.done} secret{'' if self.done == 1 else 's'} encrypted again.")
        if self.lost:
            raise CommandError(f"{self.lost} cannot be read. Add the key that they are under to SECRET_KEY_FALLBACKS.")

    @transaction.atomic
    def _columns(self, model: Any, column: str) -> None:
        for row in model.objects.select_for_update():
            stored = getattr(row, column)
            if stored != (changed := self._anew(stored)):
                model.objects.filter(pk=row.pk).update(**{column: changed})

    @transaction.atomic
    def _authenticators(self) -> None:
        for row in Authenticator.objects.select_for_update():
            row.data |= {name: self._anew(row.data[name]) for name in ("secret", "seed") if name in row.data}
            row.save(update_fields=["data"])

    def _anew(self, stored: str) -> str:
        """Return the text encrypted with the present key; unchanged if it already is, or if it cannot be decrypted."""
        if is_current(stored):
            return stored
        try:
            changed = encrypt(decrypt(stored))
        except UndecryptableSecret:
            self.lost += 1
            return stored
        self.done += 1
        return changed
