"""This module encrypts secrets that cannot be stored as a hash, because they are needed in plain text.

Secrets of external sources and webhooks, and people's second factors, are stored as Fernet tokens (AES-128-CBC and
HMAC-SHA256) under a key that is derived from SECRET_KEY. SECRET_KEY_FALLBACKS are former keys: what was encrypted under
one of them can still be read, and `reencrypt_secrets` encrypts it under the current key.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.validators import RegexValidator

from config.http.errors import DossierError

valid_secret = RegexValidator(
    r"\A[\x21-\x7e]{8,1000}\Z", "Use 8 to 1,000 letters, digits and signs of ASCII, without spaces."
)


class UndecryptableSecret(DossierError):
    """The text was encrypted under a SECRET_KEY that is neither the current one nor among SECRET_KEY_FALLBACKS."""

    status = 409
    code = "secret_lost"
    title = "A secret cannot be read"

    def __init__(self) -> None:
        super().__init__(
            "SECRET_KEY was changed. The operator of Dossier can add the former one to SECRET_KEY_FALLBACKS."
        )


def encrypt(secret: str) -> str:
    """Return the secret as it is stored, encrypted and signed under the current SECRET_KEY; "" for no secret."""
    return _fernets()[0].encrypt(secret.encode()).decode() if secret else ""


def decrypt(stored: str) -> str:
    """Return the secret of a stored text. Raises UndecryptableSecret."""
    try:
        return MultiFernet(_fernets()).decrypt(stored.encode()).decode() if stored else ""
    except InvalidToken:
        raise UndecryptableSecret from None


def is_current(stored: str) -> bool:
    """Return whether a stored text is encrypted under the current SECRET_KEY; true for ""."""
    try:
        return not stored or bool(_fernets()[0].decrypt(stored.encode()))
    except InvalidToken:
        return False


def _fernets() -> list[Fernet]:
    return [_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _fernet(secret_key: str) -> Fernet:
    # The prefix dates from the first secrets that were encrypted. With another one, no stored text could be read.
    key = hashlib.sha256(b"external-secrets:" + secret_key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
