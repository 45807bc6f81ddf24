"""Secrets of external sources, which must be sent as they are and so cannot be kept as a hash: they are encrypted."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.core.validators import RegexValidator

valid_secret = RegexValidator(
    r"\A[\x21-\x7e]{8,1000}\Z", "Use 8 to 1,000 letters, digits and signs of ASCII, without spaces."
)


class SecretLost(Exception):
    """It was sealed under another SECRET_KEY."""


def sealed(secret: str) -> str:
    """The secret as it is stored, encrypted and signed (Fernet); "" for none."""
    return _fernet().encrypt(secret.encode()).decode() if secret else ""


def opened(stored: str) -> str:
    """The secret of what was stored. Raises SecretLost."""
    try:
        return _fernet().decrypt(stored.encode()).decode() if stored else ""
    except InvalidToken:
        raise SecretLost from None


def _fernet() -> Fernet:
    key = hashlib.sha256(b"external-secrets:" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
