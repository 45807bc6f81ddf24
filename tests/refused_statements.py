"""Statements that would change history, and whether the database refuses them."""

from django.db import DatabaseError, connections, transaction

CHANGES = ["UPDATE {} SET {} = {}", "DELETE FROM {}", "TRUNCATE {} CASCADE"]


def column_of(table: str) -> str:
    with connections["default"].cursor() as cursor:
        name: str = connections["default"].introspection.get_table_description(cursor, table)[0].name
        return name


def refused(database: str, statement: str) -> bool:
    try:
        with transaction.atomic(using=database), connections[database].cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as error:
        return "permission denied" in str(error) or "keeps history" in str(error)
    return False


def changes_of(table: str) -> list[str]:
    column = column_of(table)
    return [change.format(table, column, column) for change in CHANGES]


def rows_in(table: str) -> int:
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {connections['owner'].ops.quote_name(table)}")  # noqa: S608
        return int(cursor.fetchone()[0])
