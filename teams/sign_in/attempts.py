"""Attempts to sign in are limited by token buckets in the database, which all processes share and restarts keep.

Nobody can lock out another person, but attempts are slowed down (docs/accounts.md has the table). An attempt is taken
from the bucket of its account and source, from that of the source over all accounts, and, unless the source is a known
device (`teams.sign_in.device`), from that of the account over all addresses. So guessing from one address uses up its
own tokens, and guessing from many addresses uses up those that all unknown devices share, while a person's own browser
is not affected. This follows OWASP's “device cookies” against slow and distributed guessing.

Attempts are taken before the password is checked, so that parallel ones cannot pass together, and returned after
success. Unknown usernames are limited in the same way, so a refusal says nothing about accounts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from http import HTTPStatus
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac

from config.db.statements import execute_sql, fetch_rows
from teams.sign_in.device import find_device, network_of
from teams.sign_in.models import SignInLimit

REFUSED = "refused_attempt"
"""The name of the request's attribute that holds the refusal of an attempt."""
TAKE_SQL = """
    INSERT INTO sign_in_limits AS bucket (bucket, full_at)
    VALUES (%(bucket)s, clock_timestamp() + %(refill)s * interval '1 second')
    ON CONFLICT (bucket) DO UPDATE
    SET full_at = greatest(bucket.full_at, clock_timestamp()) + %(refill)s * interval '1 second'
    WHERE bucket.full_at <= clock_timestamp() + %(refill)s * (%(tokens)s - 1) * interval '1 second'
    RETURNING bucket
"""
WAIT_SQL = """
    SELECT ceil(max(extract(epoch FROM full_at - clock_timestamp()) - refill * (tokens - 1)))::int
    FROM sign_in_limits
    JOIN unnest(%(buckets)s::text[], %(refills)s::float[], %(tokens)s::int[]) AS wanted (bucket, refill, tokens)
    USING (bucket)
"""
GIVE_BACK_SQL = """
    UPDATE sign_in_limits SET full_at = full_at - %(refill)s * interval '1 second' WHERE bucket = %(bucket)s
"""


class TooManyAttempts(Exception):
    """A limit is exhausted; nothing was taken from the other limits. `retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"try again in {retry_after} s")


class RefusedAttemptMiddleware:
    """This middleware answers a refused attempt with 429 and Retry-After, and with the page that allauth rendered.

    allauth shows a refusal as a form error, with status 200.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        refused: TooManyAttempts | None = getattr(request, REFUSED, None)
        if refused:
            response.status_code = HTTPStatus.TOO_MANY_REQUESTS
            response.headers["Retry-After"] = str(refused.retry_after)
        return response


class SignInStep(Enum):
    """A step of signing in at which a secret can be guessed."""

    PASSWORD = "password"  # noqa: S105 - a word, no password
    CODE = "code"


@dataclass(frozen=True, slots=True)
class BucketRate:
    """The size of a bucket in tokens, and the time in which one token comes back.

    `is_refunded` says whether a successful attempt returns its token.
    """

    tokens: int
    refill: timedelta
    is_refunded: bool = True


ACCOUNT_AT_SOURCE = {
    SignInStep.PASSWORD: BucketRate(5, timedelta(minutes=3)),
    SignInStep.CODE: BucketRate(5, timedelta(minutes=10)),
}
SOURCE = BucketRate(20, timedelta(seconds=30))
SOURCE_EVEN_RIGHT = BucketRate(60, timedelta(seconds=2), is_refunded=False)  # hashing a password takes half a second
ACCOUNT = {
    SignInStep.PASSWORD: BucketRate(50, timedelta(minutes=1)),
    SignInStep.CODE: BucketRate(20, timedelta(minutes=6)),
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that was allowed, with the buckets from which tokens were taken."""

    taken: Sequence[tuple[str, BucketRate]]


def attempt_begin(*, request: HttpRequest, step: SignInStep, username: str) -> Attempt:
    """Take a token from every limit that applies to the attempt, or from none.

    Raises TooManyAttempts, and stores it in the request for RefusedAttemptMiddleware.
    """
    account = username.strip().lower()
    device = find_device(request, account)
    source = f"device:{device}" if device else f"address:{network_of(request)}"
    wanted = [
        (_bucket(step.value, account, source), ACCOUNT_AT_SOURCE[step]),
        (_bucket("source", source), SOURCE),
        (_bucket("even right", source), SOURCE_EVEN_RIGHT),
    ]
    if not device:
        wanted.append((_bucket(step.value, account), ACCOUNT[step]))
    if not _try_take(wanted):
        refused = TooManyAttempts(_retry_after(wanted))
        setattr(request, REFUSED, refused)
        raise refused
    return Attempt(wanted)


def _try_take(wanted: Sequence[tuple[str, BucketRate]]) -> bool:
    with transaction.atomic():
        # Always in this order of kinds, so that no two attempts wait for each other.
        for bucket, rate in wanted:
            seconds = rate.refill.total_seconds()
            if not fetch_rows(TAKE_SQL, {"bucket": bucket, "refill": seconds, "tokens": rate.tokens}):
                transaction.set_rollback(True)
                return False
    return True


def _retry_after(wanted: Sequence[tuple[str, BucketRate]]) -> int:
    facts: dict[str, Any] = {
        "buckets": [bucket for bucket, _ in wanted],
        "refills": [rate.refill.total_seconds() for _, rate in wanted],
        "tokens": [rate.tokens for _, rate in wanted],
    }
    ((seconds,),) = fetch_rows(WAIT_SQL, facts)
    return max(1, seconds or 1)


def attempt_give_back(attempt: Attempt) -> None:
    """Return the tokens of a successful attempt.

    Tokens of failed attempts are not returned: otherwise someone who signs in now and then could guess without limit.
    """
    with transaction.atomic():
        for bucket, rate in attempt.taken:
            if rate.is_refunded:
                execute_sql(GIVE_BACK_SQL, {"bucket": bucket, "refill": rate.refill.total_seconds()})


def full_limits_delete() -> int:
    """Delete the rows of buckets that are full again. Return how many were deleted."""
    deleted, _ = SignInLimit.objects.filter(full_at__lt=timezone.now()).delete()
    return deleted


def _bucket(*parts: str) -> str:
    return salted_hmac("teams.sign_in.attempts", "\n".join(parts), algorithm="sha256").hexdigest()
