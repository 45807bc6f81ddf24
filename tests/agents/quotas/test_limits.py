"""Which limit holds: the settings', the organisation's, the team's."""

from typing import Any

import pytest

from agents.quotas.limits import default_limits, limits_from_rows
from agents.quotas.models import QuotaLimit

pytestmark = pytest.mark.finding("3q")


@pytest.mark.parametrize(
    ("organisation", "own", "holds"),
    [
        (None, None, 100),
        (500, None, 500),
        (0, None, 0),
        (None, 40, 40),
        (None, 400, 100),
        (500, 400, 400),
        (0, 400, 400),
        (20, 40, 20),
        (20, 0, 20),
    ],
)
def test_a_team_lowers_what_the_organisation_allows(
    settings: Any, organisation: int | None, own: int | None, holds: int
) -> None:
    settings.QUOTA_REQUESTS_PER_MINUTE = 100
    rows = {
        True: QuotaLimit(subject="key:1", by_organisation=True, requests_per_minute=organisation),
        False: QuotaLimit(subject="key:1", by_organisation=False, requests_per_minute=own),
    }
    assert limits_from_rows("agent_key", rows).requests_per_minute == holds


def test_the_defaults_close_the_finding_and_let_admins_import() -> None:
    assert all(default_limits("agent_key"))
    assert all(default_limits("person"))
    assert default_limits("admin_key").requests_under_way
    assert not default_limits("admin_key").text_bytes_per_day
    assert default_limits("").is_unlimited
