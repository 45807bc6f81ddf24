"""A receiver of webhooks on a real socket of this machine, which checks signatures as any receiver would."""

import base64
import hashlib
import hmac

from tests.http_endpoints import Seen


def signatures_hold(seen: Seen, body: str, *secrets: str) -> list[bool]:
    """Whether each of the message's signatures is by the secret at its place."""
    signed = f"{seen.headers['webhook-id']}.{seen.headers['webhook-timestamp']}.{body}".encode()
    given = seen.headers["webhook-signature"].split(" ")
    assert len(given) == len(secrets)
    return [
        hmac.compare_digest(one, f"v1,{base64.b64encode(_digest(secret, signed)).decode()}")
        for one, secret in zip(given, secrets, strict=True)
    ]


def _digest(secret: str, signed: bytes) -> bytes:
    return hmac.new(base64.b64decode(secret[len("whsec_") :]), signed, hashlib.sha256).digest()
