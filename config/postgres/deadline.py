"""How long a client waits for the server."""

import time

from config.postgres.data_folder import DataFolder
from config.postgres.errors import EmbeddedPostgresError

POLL_SECONDS = 0.02
ATTACH_LIMIT_SECONDS = 660.0  # recovery may take minutes; nothing is killed when this has passed


class Deadline:
    """The moment after which a client waits no longer."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._moment = time.monotonic() + ATTACH_LIMIT_SECONDS

    def pause(self) -> None:
        """Wait a little. Raises EmbeddedPostgresError when the moment has passed."""
        if time.monotonic() > self._moment:
            raise self.too_late()
        time.sleep(POLL_SECONDS)

    def seconds_left(self) -> float:
        return max(0.0, self._moment - time.monotonic())

    def too_late(self) -> EmbeddedPostgresError:
        return EmbeddedPostgresError(
            f"PostgreSQL is not ready after {ATTACH_LIMIT_SECONDS:.0f} s, but it is still at work; try again "
            f"in a while, or look for the reason. Log: {self._folder.postgres_log}"
        )
