"""One request over HTTP, and nothing but what was meant: to a judged address, no redirects, a bounded answer."""

import json
import ssl
from functools import cache

import httpx2

from assembly.external.asking import Asking
from assembly.external.destination import Destination

MAX_BODY_BYTES = 2_000_000
OK = 200
REDIRECTS = range(300, 400)
REFUSALS = {401, 403}
PASSING = {502, 503, 504}
"""What servers say when the same request may succeed a moment later."""


class Failed(Exception):
    """The endpoint gave no answer that can be used. The message says why, in plain words."""


class FailedForNow(Failed):
    """The same request may succeed at once: nobody was reached, or a server in between was not ready."""


async def answer_to(asking: Asking, destination: Destination, address: str, *, deadline_ms: int) -> bytes:
    """The body of the answer. Raises Failed; whoever breaks it off closes the connection."""
    try:
        async with (
            httpx2.AsyncClient(verify=_tls(), trust_env=False, timeout=None) as client,
            client.stream(
                "POST",
                destination.at(address),
                content=json.dumps({**asking.question, "deadline_ms": deadline_ms}),
                headers=_headers(asking, destination),
                extensions={"sni_hostname": destination.host},
                follow_redirects=False,
            ) as response,
        ):
            _refuse(response)
            return await _body(response)
    except httpx2.TransportError as error:
        raise FailedForNow(_trouble(error)) from None


def _headers(asking: Asking, destination: Destination) -> dict[str, str]:
    headers = {
        "Host": destination.url.netloc.decode(),
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # what is small and compressed may be huge
        "User-Agent": "dossier",
        "X-Request-ID": asking.request_id,
    }
    return headers | {"Authorization": f"Bearer {asking.secret}"} if asking.secret else headers


def _refuse(response: httpx2.Response) -> None:
    """Raises Failed for what is not a plain answer, before its body is read."""
    status = response.status_code
    if status in PASSING:
        raise FailedForNow(f"It answered with status {status}: it is not ready at the moment.")
    if status in REFUSALS:
        raise Failed(f"It answered with status {status}: it does not accept the secret.")
    if status in REDIRECTS:
        raise Failed(f"It answered with status {status} instead of 200. Redirects are not followed.")
    if status != OK:
        raise Failed(f"It answered with status {status} instead of 200.")
    if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise Failed("Its answer is compressed. It must send it as it is.")


async def _body(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise Failed(f"Its answer is larger than {MAX_BODY_BYTES:,} bytes.")
    return bytes(body)


def _trouble(error: httpx2.TransportError) -> str:
    """What the operator can look into. The error's own words may repeat addresses and headers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "Its certificate is not valid for its host, or comes from nobody known."
        if isinstance(cause, ssl.SSLError):
            return "A secure connection could not be made."
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return "It could not be reached."
    return "It broke off, or its answer is not HTTP."


@cache  # reading the certificates that the system trusts takes 50 ms
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
