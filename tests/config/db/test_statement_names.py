"""A connection keeps the names of its prepared statements, and no statement that was sent with values in it."""

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from config.db.statements import Statement, StatementNames, run_statement

pytestmark = pytest.mark.django_db

WORD = "Vyqxvalue"


@pytest.fixture
def prepared_statements() -> None:
    """Skip the test where statements go through PgBouncer, because they are not prepared there."""
    if settings.DATABASE_DIRECT:
        pytest.skip("statements that go through PgBouncer are not prepared")


def names() -> StatementNames:
    connection.ensure_connection()
    found: StatementNames = connection.connection._prepared
    return found


def ask(sql: str, *values: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def test_no_statement_with_values_is_kept() -> None:
    for _ in range(7):  # psycopg would prepare what is repeated
        ask("SELECT %s", WORD)
    with pytest.raises(DatabaseError), transaction.atomic():
        ask("SELECT %s::integer", WORD)
    assert names()._counts == {}
    assert WORD not in str(names()._names)


@pytest.mark.usefixtures("prepared_statements")
def test_frequent_statements_stay_prepared_without_their_values() -> None:
    statement = Statement("SELECT %(word)s::text", {"word": WORD})
    run_statement(statement)
    prepared = dict(names()._names)
    assert any(b"::text" in query for query, _ in prepared)
    ask("SELECT %s", WORD)
    run_statement(statement)
    assert names()._names == prepared
    assert WORD not in str(prepared)


@pytest.mark.usefixtures("prepared_statements")
def test_what_changes_tables_still_makes_connections_prepare_anew() -> None:
    """A prepared statement would fail if a table that it reads was made again."""
    run_statement(Statement("SELECT %(word)s::text", {"word": WORD}))
    assert names()._names
    for _ in range(2):  # psycopg itself notices the first of two equal statements only
        ask("CREATE TEMPORARY TABLE of_this_test (id integer)")
        ask("DROP TABLE of_this_test")
        assert not names()._names
        run_statement(Statement("SELECT %(word)s::text", {"word": WORD}))
