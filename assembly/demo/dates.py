"""Days and moments in the demo's texts, counted from the moment of loading, so that the demo is never old.

{{day +12}}        the date in twelve days, in words: 3 December
{{at -3 09:12}}    the moment three days ago at that time of the agent's day, as JSON says it
{{ago 95}}         the moment 95 minutes ago, likewise
"""

import datetime
import re

DAY = re.compile(r"\{\{day ([+-][0-9]+)\}\}")
AT = re.compile(r"\{\{at (-[0-9]+) ([0-9]{2}):([0-9]{2})\}\}")
AGO = re.compile(r"\{\{ago ([0-9]+)\}\}")


def days_dated(text: str, today: datetime.date) -> str:
    """The text with its days as dates in words."""
    return DAY.sub(lambda match: _in_words(today + datetime.timedelta(days=int(match[1]))), text)


def moments_dated(text: str, now: datetime.datetime) -> str:
    """The text with its moments as RFC 3339. `now` is in the agent's time zone."""

    def at(match: re.Match[str]) -> str:
        day = now.date() + datetime.timedelta(days=int(match[1]))
        return datetime.datetime.combine(day, datetime.time(int(match[2]), int(match[3])), now.tzinfo).isoformat()

    def ago(match: re.Match[str]) -> str:
        # Before UTC, or an hour would be lost or won on two nights of the year.
        return (now.astimezone(datetime.UTC) - datetime.timedelta(minutes=int(match[1]))).isoformat()

    return AGO.sub(ago, AT.sub(at, text))


def _in_words(date: datetime.date) -> str:
    return f"{date.day} {date:%B}"
