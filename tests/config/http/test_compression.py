"""Pages are compressed; answers that have no body keep none."""

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from config.http.middleware import PageCompressionMiddleware

GZIP = {"Accept-Encoding": "gzip"}


@pytest.mark.finding("E10")
@pytest.mark.finding("6.4")
@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_keeps_none(status: int) -> None:
    empty = StreamingHttpResponse(iter(()), status=status, headers={"Content-Length": "0"})
    answer = PageCompressionMiddleware(lambda _: empty)(RequestFactory().get("/static/x.css", headers=GZIP))
    assert isinstance(answer, StreamingHttpResponse)
    assert b"".join(answer) == b""
    assert "Content-Encoding" not in answer.headers


@pytest.mark.parametrize(("path", "encoding"), [("/", "gzip"), ("/api/v1/agents", None)])
def test_pages_are_compressed_and_the_api_is_not(path: str, encoding: str | None) -> None:
    answer = PageCompressionMiddleware(lambda _: HttpResponse(b"page " * 1000))(
        RequestFactory().get(path, headers=GZIP)
    )
    assert isinstance(answer, HttpResponse)
    assert answer.headers.get("Content-Encoding") == encoding
