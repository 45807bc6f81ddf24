"""Signatures by Standard Webhooks (standardwebhooks.com): whoever knows the secret sees that a message is ours."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

PREFIX = "whsec_"
SECRET_BYTES = 32


def secret_new() -> str:
    """A new secret: `whsec_` and 32 random bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature(secret: str, *, message_id: str, timestamp: int, body: str) -> str:
    """`v1,` and the HMAC-SHA256 of `id.timestamp.body`, in base64. `timestamp` is in seconds."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message_id}.{timestamp}.{body}".encode()
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def headers_of(keys: Iterable[str], *, message_id: str, timestamp: int, body: str) -> dict[str, str]:
    """The headers by which the receiver knows a message again and proves it; signed with each of the secrets."""
    signatures = (signature(key, message_id=message_id, timestamp=timestamp, body=body) for key in keys)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
