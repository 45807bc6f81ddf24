"""Pages are sent compressed. Answers of the API are not: programs that are near wait for them."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from config.http.problems import is_api


class PageCompressionMiddleware(GZipMiddleware):
    """Compresses what browsers read. Each page gets some random bytes beside, so that its length tells nothing about
    the secrets in it (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if is_api(request) else super().process_response(request, response)
