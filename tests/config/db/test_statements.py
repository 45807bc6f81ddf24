"""Statements that are sent alone: who wraps Django's statements wraps them, and bytes may come as they are."""

from typing import Any

import pytest
from django.db import connection

from config.db.statements import Statement, run_statement

pytestmark = pytest.mark.django_db

SEVEN = Statement("SELECT %(number)s::int AS number", {"number": 7})


def test_a_wrapper_sees_the_statement_and_may_refuse_it() -> None:
    seen = []

    def refuses(_execute: Any, sql: str, parameters: Any, _many: bool, context: dict[str, Any]) -> None:
        seen.append((sql, parameters, context["connection"]))
        raise TimeoutError

    with connection.execute_wrapper(refuses), pytest.raises(TimeoutError):
        run_statement(SEVEN)
    assert seen == [(SEVEN.sql, SEVEN.parameters, connection)]
    assert run_statement(SEVEN) == [(7,)]


def test_the_outer_wrapper_is_asked_first_as_django_does() -> None:
    asked = []

    def named(name: str) -> Any:
        def wrapper(execute: Any, *told: Any) -> Any:
            asked.append(name)
            return execute(*told)

        return wrapper

    with connection.execute_wrapper(named("outer")), connection.execute_wrapper(named("inner")):
        assert run_statement(SEVEN) == [(7,)]
    assert asked == ["outer", "inner"]


@pytest.mark.parametrize("binary", [False, True])
def test_values_are_the_same_in_binary(binary: bool) -> None:
    statement = Statement("SELECT %(bytes)s::bytea AS bytes, ARRAY['a', 'b'] AS texts", {"bytes": b"\0\xff'\\"})
    assert run_statement(statement, binary=binary) == [(b"\0\xff'\\", ["a", "b"])]
