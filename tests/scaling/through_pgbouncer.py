"""A pytest plugin with which any tests run behind PgBouncer: `pytest -p tests.scaling.through_pgbouncer tests/…`.

The application's role goes through it, in transaction mode and without prepared statements. The owner's and the
broker's sessions go to PostgreSQL itself, as docs/scaling.md advises.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connections

from tests.scaling.debian_servers import pgbouncer, require_program


def pytest_configure() -> None:
    """End the run with an error where there is no PgBouncer."""
    require_program("pgbouncer")


@pytest.fixture(scope="session", autouse=True)
def behind_pgbouncer() -> Iterator[None]:
    """Point Django's connections of the application's role at PgBouncer."""
    wrapper: Any = connections["default"]
    facts = wrapper.settings_dict
    direct = {key: facts[key] for key in ("HOST", "PORT")}
    with pgbouncer(facts) as port:
        settings.DATABASE_DIRECT = direct
        facts |= {"HOST": "127.0.0.1", "PORT": str(port), "DISABLE_SERVER_SIDE_CURSORS": True}
        facts["OPTIONS"]["prepare_threshold"] = None
        yield
        wrapper.close()
        wrapper.close_pool()
        facts |= direct
        settings.DATABASE_DIRECT = None
