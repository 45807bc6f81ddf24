"""This middleware writes down what each request read that is confidential or restricted, and demands reasons for it."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase

from config.http.errors import DossierError
from config.http.problems import error_response
from teams.readings.collector import collected_things
from teams.readings.models import ReadingReasons
from teams.readings.reading_reasons import LOWEST_LEVEL, demanded_response
from teams.readings.recorded_lines import reader_of, reading_groups, readings_record, shows_texts

SAFE_METHODS = frozenset({"GET", "HEAD"})

logger = logging.getLogger(__name__)


class ReadingNotRecorded(DossierError):
    """The log of readings cannot be written now, without which nothing restricted is shown (503)."""

    status = 503
    code = "reading_not_recorded"
    title = "This cannot be shown now"
    retry_after = 5

    def __init__(self, request: HttpRequest) -> None:
        done = "" if request.method in SAFE_METHODS else " What you sent was done; only the answer is not shown."
        super().__init__(
            f"Each reading of restricted texts is recorded, and the log of readings cannot be written now.{done} Try "
            "again later. If this goes on, an operator finds the cause in the server's log."
        )


class ReadingsMiddleware:
    """It is the innermost one: what it sees is the answer of the view, whose transaction is over."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        try:
            groups = reading_groups(request, response)
            if demand := demanded_response(request, groups):
                return demand
            readings_record(request, groups)
        except DatabaseError:
            logger.exception("a reading could not be recorded")
            if _must_be_recorded(request, response):
                if response.streaming:
                    response.close()
                return error_response(request, ReadingNotRecorded(request))
        return response


def _must_be_recorded(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Return whether the response shows something whose reading must be recorded, as READINGS_REQUIRED says.

    Asks nothing of the database, which has just failed.
    """
    lowest = LOWEST_LEVEL.get(ReadingReasons(settings.READINGS_REQUIRED))
    if lowest is None or not shows_texts(request, response) or reader_of(request) is None:
        return False
    return any(thing.level >= lowest for thing in collected_things(request))
