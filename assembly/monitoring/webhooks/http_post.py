"""A signed message is posted over HTTP here.

Signatures follow Standard Webhooks (standardwebhooks.com).
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from assembly.models.monitoring import MAX_ANSWER_CHARACTERS
from config.http.outbound.background_call import run_in_background
from config.http.outbound.client import OutboundClient, OutboundRequestFailed
from config.http.outbound.ssrf import FOR_WEBHOOKS, AddressRefused

SECONDS = 10.0
"""The time limit for everything, in seconds: lookup, connection, request and response."""
GRACE_SECONDS = 5.0
MOST_BYTES = 4 * MAX_ANSWER_CHARACTERS
"""The number of bytes of a response that are read: a character in UTF-8 has at most four."""
ACCEPTED_STATUSES = range(200, 300)
HIDDEN_FAULT = (
    "It was not taken. Its address lies in a private network, so only an admin of the organisation can learn more, "
    "with a webhook of the organisation."
)
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """The result of sending. Without a `status` there was no response; `fault` is the error in plain words, or "".

    `is_private`: an address of the receiver is in a private network.
    """

    status: int | None
    answer: str
    fault: str
    ms: int | None
    is_private: bool = False

    @property
    def taken(self) -> bool:
        """Whether the receiver accepted the message."""
        return not self.fault

    def without_response(self) -> "SendOutcome":
        """Return the result without status and duration, which could be used to explore networks."""
        return SendOutcome(None, "", HIDDEN_FAULT if self.fault else "", None, self.is_private)


def message_send(*, url: str, headers: Mapping[str, str], body: str) -> SendOutcome:
    """Post the body as JSON. The call ends after 10 seconds, whatever the receiver does."""
    return run_in_background("webhook", partial(_outcome, url, headers, body), seconds=SECONDS + GRACE_SECONDS)


async def _outcome(url: str, headers: Mapping[str, str], body: str) -> SendOutcome:
    started = perf_counter()
    status, answer, fault, is_private = None, b"", "", False
    try:
        async with OutboundClient.open(url, allowed=FOR_WEBHOOKS, seconds=SECONDS, max_bytes=MOST_BYTES) as client:
            is_private = not client.destination.is_public
            address = client.destination.addresses[0]
            status, answer = await client.post_for_status(body, address=address, headers=headers)
        fault = "" if status in ACCEPTED_STATUSES else _status_fault(status)
    except TimeoutError:
        fault = f"It did not answer within {SECONDS:.0f} seconds."
    except (AddressRefused, OutboundRequestFailed) as failure:
        fault = str(failure)
    return SendOutcome(status, _excerpt(answer), fault, round((perf_counter() - started) * 1000), is_private)


def _excerpt(answer: bytes) -> str:
    """Return the first characters of the response that are text."""
    return CONTROL_CHARACTERS.sub("�", answer.decode(errors="replace"))[:MAX_ANSWER_CHARACTERS]


def _status_fault(status: int) -> str:
    if status in range(300, 400):
        return f"It answered with status {status}. Redirects are not followed: register the address it leads to."
    return f"It answered with status {status}, which means that it did not take the message."


PREFIX = "whsec_"
SECRET_BYTES = 32


def secret_new() -> str:
    """Return a new secret: `whsec_` and 32 random bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature(secret: str, *, message_id: str, timestamp: int, body: str) -> str:
    """Return `v1,` and the HMAC-SHA256 of `id.timestamp.body`, in base64. `timestamp` is in seconds."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message_id}.{timestamp}.{body}".encode()
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def signed_headers(keys: Iterable[str], *, message_id: str, timestamp: int, body: str) -> dict[str, str]:
    """Return the headers with which the receiver identifies and verifies a message; it is signed with each of the
    secrets.
    """
    signatures = (signature(key, message_id=message_id, timestamp=timestamp, body=body) for key in keys)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
