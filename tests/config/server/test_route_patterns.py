"""The patterns that sort requests by their path name only words of routes: a renamed path is renamed there, too."""

import re

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from agents.quotas.gate import READ_ONLY_POSTS, RECORDING_PATHS
from config.server.heavy_routes import HEAVY_GET_PATHS, HEAVY_POST_PATHS

NO_WORDS = {"api", "v1", "f", "a"}
"""Parts of every address of the API, and of a UUID's pattern."""


def _paths(patterns: list[URLPattern | URLResolver], before: str = "") -> list[str]:
    found = []
    for pattern in patterns:
        path = f"{before}{pattern.pattern}"
        found += _paths(pattern.url_patterns, path) if isinstance(pattern, URLResolver) else [path]
    return found


@pytest.mark.parametrize("pattern", [HEAVY_GET_PATHS, HEAVY_POST_PATHS, READ_ONLY_POSTS, RECORDING_PATHS])
def test_each_word_of_a_pattern_stands_in_some_route(pattern: re.Pattern[str]) -> None:
    literal = re.sub(r"\[[^\]]*\]|\\[a-z]|\(\?:", " ", pattern.pattern)
    words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", literal)) - NO_WORDS
    in_routes = {
        word for path in _paths(get_resolver().url_patterns) for word in re.findall(r"[a-z]+(?:-[a-z]+)*", path)
    }
    assert words <= in_routes, words - in_routes
