"""The activity log and the log of readings as CSV files: each has the newest lines, and says where the others are."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from config.http.csv_files import csv_response
from config.http.cursors import next_page_url, page_of
from teams.access import principal_of
from teams.activity.log import export_record
from teams.models import Team
from teams.principal import Action

MAX_FILE_ROWS = 50_000

Line = TypeVar("Line", bound=Model)


def log_file(
    request: HttpRequest,
    found: QuerySet[Line],
    file_name: str,
    columns: Sequence[str],
    row_of: Callable[[Line], Sequence[Any]],
) -> HttpResponse:
    """Return the newest 50,000 of the lines as CSV, and record in the activity log that the person got them.

    If there are more, the last row says so, with the address of the file that has the next ones. Raises Invalid for a
    bad cursor in the query.
    """
    principal = principal_of(request)
    query = {name: value for name, value in request.GET.dict().items() if name != "limit"}
    lines, cursor = page_of(found, query, page_size=MAX_FILE_ROWS)
    managed = Team.objects.permitting(Action.MANAGE, principal).values_list("id", flat=True)
    export_record(principal, file_name, rows=len(lines), team_ids=[] if principal.is_admin else list(managed))
    rows = [row_of(line) for line in lines]
    if older := next_page_url(request.path, query, cursor):
        address = request.build_absolute_uri(older)
        rows.append([f"This file has {len(lines):,} lines. There are older ones: {address}"])
    return csv_response(file_name, columns, rows)
