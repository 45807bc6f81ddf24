"""Which log lines are written, in which format."""

from typing import Any


def logging_settings(log_format: str, level: str) -> dict[str, Any]:
    """Return the setting LOGGING: everything from the level on goes to standard error, as `text` or `json` lines."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": "config.observability.log_lines.readable_lines"},
            "json": {"()": "config.observability.log_lines.json_lines"},
        },
        "filters": {"seldom": {"()": "config.observability.log_lines.TelemetryThrottle"}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": log_format,
                "filters": ["seldom"],
            }
        },
        "loggers": {
            # Its lines on what a caller did wrong name addresses in full; ours name routes.
            "django.request": {"level": "ERROR"},
            # Its lines name the addresses of external sources in full; ours name the sources.
            "httpx2": {"level": "WARNING"},
        },
        # No DEBUG: libraries then log statements and bodies, and so what agents and people wrote.
        "root": {"handlers": ["console"], "level": level},
    }
