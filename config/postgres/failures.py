"""The errors of the embedded PostgreSQL have messages that say what to do."""

import contextlib
from collections.abc import Iterator

from config.postgres.data_folder import DataFolder


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the message says what to do and ends with the path of the log."""


class InterruptedStartError(Exception):
    """The server ended, or was stopped, while it was being prepared: it has to be started again."""


@contextlib.contextmanager
def explain_os_errors(folder: DataFolder) -> Iterator[None]:
    """Turn an OSError about the data folder into a message that says what to do."""
    try:
        yield
    except OSError as error:
        raise EmbeddedPostgresError(
            f"The data folder {folder.path} cannot be used ({error}). Free some space or make it writable "
            "for this user, or set DOSSIER_DATA_DIR to another folder, or DATABASE_URL to a PostgreSQL of "
            "your own. "
            f"Log: {folder.supervisor_log}"
        ) from error


def refusal(folder: DataFolder, reason: str, advice: str) -> EmbeddedPostgresError:
    """Return the error for a condition that only people can change."""
    return EmbeddedPostgresError(
        f"{reason}. {advice}, or set DATABASE_URL to a PostgreSQL of your own. Log: {folder.postgres_log}"
    )


def failure(folder: DataFolder, what: str, recent_errors: list[str]) -> EmbeddedPostgresError:
    """Return the error of one of PostgreSQL's programs, with its messages."""
    reason = f"{what}: {'; '.join(dict.fromkeys(recent_errors)) or 'see the log'}"
    advice = "Free some space" if "No space left" in reason else "Remove the cause"
    return refusal(folder, reason.rstrip("."), f"{advice}, set DOSSIER_DATA_DIR to another folder")
