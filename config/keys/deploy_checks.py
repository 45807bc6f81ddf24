"""Checks of `manage.py check --deploy`: whether recorded texts are encrypted, and whether their keys can be read."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as DeployWarning

from config.keys.key_errors import KeyStoreUnavailable
from config.keys.store import is_configured, master_key
from config.keys.store_connections import run_in_store

UNDER_OTHERS_SQL = """
SELECT count(*), count(*) FILTER (WHERE substr(wrapped, 1, 4) <> %(present)s) FROM data_keys WHERE wrapped IS NOT NULL
"""


@register(Tags.security, deploy=True)
def check_keys(**_: Any) -> list[CheckMessage]:
    """Return what is wrong with the encryption of recorded texts."""
    if not is_configured():
        return [
            DeployWarning(
                "What contexts record is not encrypted, because there is no key store.",
                hint="Set KEYS_DATABASE_URL to a database of its own, see docs/operations.md.",
                id="keys.W001",
            )
        ]
    found: list[CheckMessage] = []
    if not settings.ENCRYPT_RECORDS:
        hint = "Remove ENCRYPT_RECORDS from the environment."
        sentence = "What contexts record is not encrypted: it is switched off."
        found.append(DeployWarning(sentence, hint=hint, id="keys.W002"))
    try:
        (((keys, others),),) = run_in_store((UNDER_OTHERS_SQL, {"present": master_key().fingerprint}))
    except KeyStoreUnavailable as error:
        return [*found, Error("The key store does not answer.", hint=error.detail, id="keys.E001")]
    if others:
        sentence = f"{others:,} of {keys:,} keys of recorded texts are not under MASTER_KEY."
        hint = "Put the former one into MASTER_KEY_FALLBACKS, and run `manage.py rewrap_keys`."
        found.append(DeployWarning(sentence, hint=hint, id="keys.W003"))
    return found
