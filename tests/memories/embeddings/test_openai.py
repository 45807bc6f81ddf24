"""An embedding model on a server: what it is asked, and what of its answers are vectors."""

import gzip
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import pytest

from memories.embeddings.base import EmbedderFailed, EmbedderTimeout, embedder_deadline
from memories.embeddings.openai import MAX_CHARACTERS, MAX_TEXTS
from memories.embeddings.registry import find_embedder
from tests.http_endpoints import Endpoint, Handler, closed_port, giving, serving

Behave = Callable[[Handler], None]
ServerOf = Callable[[Behave], AbstractContextManager[Endpoint]]
KEY = "quite-a-key"


@pytest.fixture
def server_of(settings: Any) -> ServerOf:
    """`with server_of(behaviour) as endpoint`: the configured server behaves like this."""

    @contextmanager
    def configured(behave: Behave) -> Iterator[Endpoint]:
        with serving(behave) as endpoint:
            settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
            settings.EMBEDDER_API_KEY, settings.EMBEDDER_TIMEOUT_MS = KEY, 5_000
            yield endpoint

    return configured


def embedding(handler: Handler) -> None:
    """A vector of the text's length and 1, or of as many ones as are asked for; in another order than asked."""
    asked = handler.endpoint.seen[-1].body
    rows = [[float(len(text)), 1.0] + [1.0] * (asked.get("dimensions", 2) - 2) for text in asked["input"]]
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
    giving({"object": "list", "data": data[::-1], "model": asked["model"]})(handler)


def sleeping(handler: Handler) -> None:
    handler.wait_until_gone(30)


def trickling(handler: Handler) -> None:
    handler.begin()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.02)


def trickling_before_it_answers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Padding: ")
    while True:
        handler.wfile.write(b"x")
        time.sleep(0.02)


def answering(data: Any) -> Behave:
    return giving({"data": data})


def test_it_asks_as_openai_wants_it_and_gives_unit_vectors_in_order(server_of: ServerOf) -> None:
    with server_of(embedding) as endpoint:
        first, nothing, last = find_embedder("openai:tiny-1").embed(["abc", " ", "abcdef"])
    assert nothing is None
    assert np.allclose(first, np.array([3, 1]) / 10**0.5)  # type: ignore[arg-type]
    assert np.allclose(last, np.array([6, 1]) / 37**0.5)  # type: ignore[arg-type]
    [seen] = endpoint.seen
    assert seen.path == "/v1/embeddings"
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert seen.body == {"model": "tiny-1", "input": ["abc", "abcdef"], "encoding_format": "float"}


@pytest.mark.parametrize(
    ("name", "model", "asked", "dimensions"),
    [
        ("openai:tiny-1", "tiny-1", None, 2),
        ("openai:tiny-1:7", "tiny-1", 7, 7),
        ("openai:qwen3-embedding:0.6b", "qwen3-embedding:0.6b", None, 2),
        ("openai:org/model:latest:5", "org/model:latest", 5, 5),
    ],
)
def test_dimensions_stand_in_the_name_or_are_found_by_a_word(
    name: str, model: str, asked: int | None, dimensions: int, server_of: ServerOf
) -> None:
    embedder = find_embedder(name)
    assert embedder.name == name
    with server_of(embedding) as endpoint:
        assert embedder.dimensions == dimensions
    assert endpoint.seen[0].body["model"] == model
    assert endpoint.seen[0].body.get("dimensions") == asked


def test_many_and_long_texts_are_sent_as_servers_take_them(server_of: ServerOf) -> None:
    with server_of(embedding) as endpoint:
        vectors = find_embedder("openai:tiny-1").embed(["x" * 20_000, *["y"] * MAX_TEXTS])
        assert find_embedder("openai:tiny-1").embed(["", "\n"]) == [None, None]
    assert [len(seen.body["input"]) for seen in endpoint.seen] == [MAX_TEXTS, 1]
    assert len(endpoint.seen[0].body["input"][0]) == MAX_CHARACTERS
    assert len(vectors) == MAX_TEXTS + 1


@pytest.mark.parametrize(
    ("behave", "says"),
    [
        (giving({"error": "overloaded"}, 500), "answered 500 instead of 200"),
        (giving({"error": "no such model"}, 404), "See whether it has the model"),
        (giving({"error": "who?"}, 401), "does not accept EMBEDDER_API_KEY"),
        (giving(b"", 302, Location="http://127.0.0.1/"), "answered 302"),
        (giving(b"<html>Welcome</html>"), "is not JSON"),
        (giving(gzip.compress(b"{}"), Content_Encoding="gzip"), "server's answer is compressed"),
        (giving(b"\xff\xfe"), "is not JSON"),
        (giving([]), "The embedding server's answer is JSON, but has no vector for each text."),
        (giving({"data": None}), "The embedding server's answer is JSON, but has no vector for each text."),
        (answering([]), "The embedding server's answer is JSON, but has no vector for each text."),
        (answering([{"index": 0}]), "The embedding server's answer is JSON, but has no vector for each text."),
        (
            answering([{"index": 0, "embedding": "AAAA"}]),
            "The embedding server's answer is JSON, but has no vector for each text.",
        ),
        (answering([{"index": 0, "embedding": []}]), "The embedding server's answer has invalid vectors."),
        (answering([{"index": 0, "embedding": 7}]), "The embedding server's answer has invalid vectors."),
        (answering([{"index": 0, "embedding": [1e39, 1]}]), "The embedding server's answer has invalid vectors."),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), "not HTTP"),
        (lambda _: None, "not HTTP"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_nonsense_is_no_vector(behave: Behave, says: str, server_of: ServerOf) -> None:
    with server_of(behave), pytest.raises(EmbedderFailed) as failed:
        find_embedder("openai:tiny-1").embed(["abc"])
    assert says in failed.value.detail
    assert KEY not in failed.value.detail
    assert "127.0.0.1" not in failed.value.detail


def test_other_dimensions_than_asked_for_are_refused(server_of: ServerOf) -> None:
    with server_of(answering([{"index": 0, "embedding": [1, 2]}])), pytest.raises(EmbedderFailed, match="2 dimensions"):
        find_embedder("openai:tiny-1:512").embed(["abc"])


def test_zeros_are_no_direction(server_of: ServerOf) -> None:
    with server_of(answering([{"index": 0, "embedding": [0, 0]}])):
        assert find_embedder("openai:tiny-1").embed(["abc"]) == [None]
        with pytest.raises(EmbedderFailed, match="vector of zeros"):
            find_embedder("openai:tiny-1").dimensions  # noqa: B018 - it is asked for


def test_a_server_that_is_down_or_not_configured_is_named_so(server_of: ServerOf, settings: Any) -> None:
    embedder = find_embedder("openai:tiny-1")
    with pytest.raises(EmbedderFailed, match="Set EMBEDDER_URL"):
        embedder.embed(["abc"])
    settings.EMBEDDER_URL = f"http://127.0.0.1:{closed_port()}/v1"
    with pytest.raises(EmbedderFailed, match="could not be reached"):
        embedder.embed(["abc"])


@pytest.mark.parametrize("behave", [sleeping, trickling, trickling_before_it_answers])
def test_a_server_that_takes_its_time_is_given_up_however_it_does_so(
    behave: Behave, server_of: ServerOf, settings: Any
) -> None:
    embedder = find_embedder("openai:tiny-1")
    with server_of(behave) as endpoint:
        settings.EMBEDDER_TIMEOUT_MS = 300
        with pytest.raises(EmbedderTimeout, match="within 300 ms"):
            embedder.embed(["abc"])
        assert endpoint.gone.wait(5), "the server sees that the client hung up"


def test_whoever_has_less_time_waits_less_and_without_any_asks_nobody(server_of: ServerOf) -> None:
    embedder = find_embedder("openai:tiny-1")
    with server_of(sleeping) as endpoint, embedder_deadline(0.2), embedder_deadline(60):
        with pytest.raises(EmbedderTimeout, match="did not answer within"):
            embedder.embed(["abc"])
        with pytest.raises(EmbedderTimeout, match="The time was too short to query"):
            embedder.embed(["abc"])
    assert len(endpoint.seen) == 1
    with server_of(embedding):
        [vector] = embedder.embed(["abc"])
    assert vector is not None


def test_an_address_that_refuses_leaves_the_next_its_turn(
    server_of: ServerOf, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.2", "127.0.0.1")]
    with server_of(embedding) as endpoint:
        settings.EMBEDDER_URL = f"http://models.example.org:{endpoint.port}/v1"
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        [vector] = find_embedder("openai:tiny-1").embed(["abc"])
    assert vector is not None
    assert endpoint.seen[0].headers["Host"] == f"models.example.org:{endpoint.port}"


def test_a_host_that_is_not_known_is_not_reached(settings: Any) -> None:
    settings.EMBEDDER_URL = "http://nowhere.invalid/v1"
    with pytest.raises(EmbedderFailed, match="could not be reached"):
        find_embedder("openai:tiny-1").embed(["abc"])
