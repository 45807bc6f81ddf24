"""Pages for when something goes wrong."""

from typing import Any

import pytest
from django.db import OperationalError
from django.template.loader import render_to_string
from django.test import Client

from teams.models import User
from tests.pages.conftest import SignedIn, text_of


def test_the_page_of_an_unexpected_error_needs_nothing() -> None:
    page = render_to_string("500.html")
    assert "Unexpected error" in page


def test_a_database_that_does_not_answer_is_explained_without_asking_it(
    signed_in: SignedIn, owner: User, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise OperationalError

    browser: Client = signed_in(owner)
    monkeypatch.setattr("assembly.home.pages.find_recent_changes", broken)
    response = browser.get("/")
    assert response.status_code == 503
    assert "did not answer in time" in text_of(response)
    assert "Olga" not in text_of(response)


def test_an_address_that_does_not_exist(signed_in: SignedIn, owner: User) -> None:
    response = signed_in(owner).get("/nope/")
    assert response.status_code == 404
    assert "Page not found" in text_of(response)
    assert "Olga Owner" in text_of(response)
