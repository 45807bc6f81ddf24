"""Pages are sent compressed. Answers of the API are not: programs that are near wait for them."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from config.http.problems import is_api

BODILESS = {204, 304}


class PageCompressionMiddleware(GZipMiddleware):
    """Compresses what browsers read. Each page gets some random bytes beside, so that its length tells nothing about
    the secrets in it (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        # An answer without a body must stay without one: compressed, nothing becomes twenty bytes.
        if is_api(request) or response.status_code in BODILESS:
            return response
        return super().process_response(request, response)
