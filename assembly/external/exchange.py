"""One request over HTTP, and nothing but what was meant: to a judged address, no redirects, a bounded answer."""

import json
import ssl

import httpx2

from assembly.external.asking import Asking
from assembly.external.destination import Destination
from config.http.answers import Failed, body_of, headers_for, tls

OK = 200
REDIRECTS = range(300, 400)
REFUSALS = {401, 403}
PASSING = {502, 503, 504}
"""What servers say when the same request may succeed a moment later."""


class FailedForNow(Failed):
    """The same request may succeed at once: nobody was reached, or a server in between was not ready."""


async def answer_to(asking: Asking, destination: Destination, address: str, *, deadline_ms: int) -> bytes:
    """The body of the answer. Raises Failed; whoever breaks it off closes the connection."""
    try:
        async with (
            httpx2.AsyncClient(verify=tls(), trust_env=False, timeout=None) as client,
            client.stream(
                "POST",
                destination.at(address),
                content=json.dumps({**asking.question, "deadline_ms": deadline_ms}),
                headers={**headers_for(destination.url, asking.secret), "X-Request-ID": asking.request_id},
                extensions={"sni_hostname": destination.host},
                follow_redirects=False,
            ) as response,
        ):
            _refuse(response)
            return await body_of(response)
    except httpx2.TransportError as error:
        raise FailedForNow(trouble(error)) from None


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


def trouble(error: httpx2.TransportError) -> str:
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
