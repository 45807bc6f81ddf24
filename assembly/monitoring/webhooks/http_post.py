"""One signed message is posted over HTTP: to a checked address, without redirects, with a bounded answer.

Signatures follow Standard Webhooks (standardwebhooks.com).
"""

import asyncio
import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import httpx2

from assembly.models.monitoring import MAX_ANSWER_CHARACTERS
from assembly.sources.external.http_queries import failure_text
from config.http.outbound.client import BackgroundCall, request_headers, tls_context
from config.http.outbound.ssrf import FOR_WEBHOOKS, AddressRefused, Destination, find_destination

SECONDS = 10.0
"""For everything: to look up the host, to connect, to send, and for the answer."""
GRACE_SECONDS = 5.0
MOST_BYTES = 4 * MAX_ANSWER_CHARACTERS
"""Of an answer that are read: a character of UTF-8 has four at most."""
ACCEPTED_STATUSES = range(200, 300)
HIDDEN_FAULT = (
    "It was not taken. Its address lies in a private network, so only an admin of the organisation can learn more, "
    "with a webhook of the organisation."
)
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """What came of sending. Without a `status` nobody answered; `fault` says in plain words what went wrong, or "".

    `is_private`: some address of the receiver lies in a private network.
    """

    status: int | None
    answer: str
    fault: str
    ms: int | None
    is_private: bool = False

    @property
    def taken(self) -> bool:
        """Whether the receiver has it."""
        return not self.fault

    def without_response(self) -> "SendOutcome":
        """Return whether the receiver has it, and nothing by which networks can be explored: no status, no duration."""
        return SendOutcome(None, "", HIDDEN_FAULT if self.fault else "", None, self.is_private)


def message_send(*, url: str, headers: Mapping[str, str], body: str) -> SendOutcome:
    """Post the body as JSON. It ends after 10 seconds, whatever the other side does."""
    sent = BackgroundCall("webhook", partial(_send_once, url, headers, body))
    return sent.result(seconds=SECONDS + GRACE_SECONDS)


def _send_once(url: str, headers: Mapping[str, str], body: str) -> SendOutcome:
    return asyncio.run(_outcome(url, headers, body))


async def _outcome(url: str, headers: Mapping[str, str], body: str) -> SendOutcome:
    started = perf_counter()
    status, answer, fault, is_private = None, "", "", False
    try:
        async with asyncio.timeout(SECONDS):
            destination = await find_destination(url, FOR_WEBHOOKS)
            is_private = not destination.is_public
            status, answer = await _exchange(destination, headers, body)
        fault = "" if status in ACCEPTED_STATUSES else _status_fault(status)
    except TimeoutError:
        fault = f"It did not answer within {SECONDS:.0f} seconds."
    except AddressRefused as refused:
        fault = str(refused)
    except httpx2.TransportError as error:
        fault = failure_text(error)
    return SendOutcome(status, answer, fault, round((perf_counter() - started) * 1000), is_private)


async def _exchange(destination: Destination, headers: Mapping[str, str], body: str) -> tuple[int, str]:
    async with (
        httpx2.AsyncClient(verify=tls_context(), trust_env=False, timeout=None) as client,
        client.stream(
            "POST",
            destination.at(destination.addresses[0]),
            content=body.encode(),
            headers={**request_headers(destination.url, ""), **headers},
            extensions={"sni_hostname": destination.host},
            follow_redirects=False,
        ) as response,
    ):
        return response.status_code, await _response_excerpt(response)


async def _response_excerpt(response: httpx2.Response) -> str:
    """The first characters of the answer, as far as they are text."""
    read = bytearray()
    async for part in response.aiter_raw():
        read += part
        if len(read) >= MOST_BYTES:
            break
    return CONTROL_CHARACTERS.sub("�", bytes(read[:MOST_BYTES]).decode(errors="replace"))[:MAX_ANSWER_CHARACTERS]


def _status_fault(status: int) -> str:
    if status in range(300, 400):
        return f"It answered with status {status}. Redirects are not followed: register the address it leads to."
    return f"It answered with status {status}, which means that it did not take the message."


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


def signed_headers(keys: Iterable[str], *, message_id: str, timestamp: int, body: str) -> dict[str, str]:
    """The headers by which the receiver knows a message again and proves it; signed with each of the secrets."""
    signatures = (signature(key, message_id=message_id, timestamp=timestamp, body=body) for key in keys)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
