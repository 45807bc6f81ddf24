"""Where memories are divided by owner, statements about one owner name the partition by its column `owner_id`.

Rows that are older than that column have it empty until the table is divided, so statements name it only afterwards. A
statement that does not, because its process has not noticed yet, reads the same rows from all partitions.
"""

IS_DIVIDED_SQL = "(SELECT relkind = 'p' FROM pg_class WHERE oid = 'memories'::regclass)"
"""Whether the table that a statement calls `memories` is divided; a copy of the past is not."""


class _Noticed:
    """What the newest search of this process noticed."""

    is_divided = False


def notice_division(is_divided: bool) -> None:
    """Remember whether the table of memories is divided, as a statement with IS_DIVIDED_SQL says."""
    _Noticed.is_divided = is_divided


def within() -> dict[str, str]:
    """Return the conditions to put into SQL about the memories of one owner, after the one on the owner's column.

    `{within}` is for the table `memories`, `{joined_within}` for it as `m`; both are empty where it is not divided.
    """
    return {"within": within_partition_of("owner"), "joined_within": within_partition_of("owner", "m.")}


def within_partition_of(parameter: str, row: str = "") -> str:
    """Return the condition, with AND before it, for the owner whose id is this parameter; empty where not divided."""
    return f" AND {row}owner_id = %({parameter})s" if _Noticed.is_divided else ""
