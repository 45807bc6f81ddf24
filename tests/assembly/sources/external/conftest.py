"""External sources on this very machine, which is allowed on purpose here."""

from typing import Any

import pytest


@pytest.fixture
def local(settings: Any) -> None:
    """Endpoints at 127.0.0.1 may be asked."""
    settings.EXTERNAL_ALLOWED_NETWORKS = ["127.0.0.0/8"]
