"""This middleware writes down what each request read that is confidential or restricted, and demands reasons for it."""

import logging
from collections.abc import Callable

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase

from teams.readings.reading_reasons import demanded_response
from teams.readings.recorded_lines import reading_groups, readings_record

logger = logging.getLogger(__name__)


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
        return response
