"""The OpenAPI document and its page: open to all, complete, and served from here alone."""

import re
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from tests.client import Api, problem
from tests.rights.test_tenancy import ROUTES


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    response = Api().get("schema")
    assert response.status_code == 200
    document: dict[str, Any] = yaml.load(response.content, Loader=yaml.CSafeLoader)
    return document


def test_the_document_is_valid_and_complete(tmp_path: Any) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))


def test_every_address_is_in_the_document(document: dict[str, Any]) -> None:
    addresses = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route).replace("{id_}", "{id}") for route in ROUTES} - {
        "schema",
        "docs",
        "",
    }
    assert {path.removeprefix("/api/v1/") for path in document["paths"]} == addresses


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(ids) == len(set(ids))


def test_every_operation_has_a_summary_of_its_own_and_a_tag_that_is_described(document: dict[str, Any]) -> None:
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    summaries = [operation["summary"] for operation in operations]
    assert len(summaries) == len(set(summaries))
    assert max(map(len, summaries)) <= 60
    described = {tag["name"] for tag in document["tags"]}
    assert {tag for operation in operations for tag in operation["tags"]} == described


def test_no_name_shows_how_the_document_was_generated(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert not [name for name in schemas if "RequestRequest" in name or name in {"NullEnum", "NameEnum"}]
    parameters = [one for path in document["paths"].values() for op in path.values() for one in op["parameters"]]
    assert not [one["name"] for one in parameters if one["name"].endswith("_")]


def test_every_operation_tells_its_errors_and_every_post_its_key(document: dict[str, Any]) -> None:
    for path in document["paths"].values():
        for method, operation in path.items():
            assert {"401", "403", "404", "422", "default"} <= operation["responses"].keys()
            names = {parameter["name"] for parameter in operation.get("parameters", [])}
            assert ("Idempotency-Key" in names) == (method == "post")
            assert method != "patch" or ("If-Match" in names and {"412", "428"} <= operation["responses"].keys())


@pytest.mark.django_db
def test_the_page_needs_no_key_and_no_other_host(anonymous_api: Api, settings: Any) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    page = anonymous_api.get("docs")
    assert page.status_code == 200
    html = page.content.decode()
    assert not re.search(r'(?:src|href)="(?!/)', html)
    assert "<style" not in html
    assert all(re.search(r"\bsrc=", tag) for tag in re.findall(r"<script[^>]*>", html))
    script = anonymous_api.get("docs?script=")
    assert script["Content-Type"].startswith("application/javascript")
    assert "/api/v1/schema" in script.content.decode()


@pytest.mark.django_db
def test_an_unknown_address_is_a_problem_not_a_page(anonymous_api: Api) -> None:
    assert problem(anonymous_api.get("nothing/here")) == (404, "not_found")
    assert problem(anonymous_api.get("")) == (404, "not_found")
    assert problem(anonymous_api.post("nothing", {})) == (404, "not_found")
