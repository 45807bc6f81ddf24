"""This module formats the headers `RateLimit-Policy` and `RateLimit`.

The format is that of draft-ietf-httpapi-ratelimit-headers-11: lists of quoted policies with the quota `q`, its unit
`qu` and its window `w` in seconds; and the remaining quota `r` with the seconds `t` until it is reset.
"""

import datetime
from functools import lru_cache

from agents.quotas.limits import Limits
from config.server.request_counts import SubjectCounts, seconds_left

DAY_SECONDS = 86_400


def rate_limit_headers(limits: Limits, counted: SubjectCounts, stored: tuple[int, int]) -> list[tuple[bytes, bytes]]:
    """Return both headers; an empty list without limits. `stored` are the bytes of texts and of records of today."""
    if limits.is_unlimited:
        return []
    under_way, per_minute, texts, records = limits
    left = []
    if under_way:
        left.append(f'"requests-under-way";r={max(0, under_way - counted.under_way)}')
    if per_minute:
        left.append(f'"requests-per-minute";r={max(0, per_minute - counted.this_minute)};t={seconds_left()}')
    if texts:
        left.append(f'"text-bytes-per-day";r={max(0, texts - stored[0])};t={_seconds_of_day_left()}')
    if records:
        left.append(f'"record-bytes-per-day";r={max(0, records - stored[1])};t={_seconds_of_day_left()}')
    return [(b"ratelimit-policy", _policies(limits)), (b"ratelimit", ", ".join(left).encode())]


@lru_cache(maxsize=1_000)
def _policies(limits: Limits) -> bytes:
    under_way, per_minute, texts, records = limits
    named = []
    if under_way:
        named.append(f'"requests-under-way";q={under_way};qu="concurrent-requests"')
    if per_minute:
        named.append(f'"requests-per-minute";q={per_minute};w=60')
    if texts:
        named.append(f'"text-bytes-per-day";q={texts};w={DAY_SECONDS};qu="content-bytes"')
    if records:
        named.append(f'"record-bytes-per-day";q={records};w={DAY_SECONDS};qu="content-bytes"')
    return ", ".join(named).encode()


def _seconds_of_day_left() -> int:
    now = datetime.datetime.now(datetime.UTC)
    return DAY_SECONDS - (now.hour * 3_600 + now.minute * 60 + now.second)
