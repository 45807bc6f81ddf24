"""External sources: HTTP endpoints of the organisation's own, asked beside the database and within its deadline."""

from assembly.external.asking import SOURCE, Asking, Told, askings
from assembly.external.asking_all import ask_all

__all__ = ["SOURCE", "Asking", "Told", "ask_all", "askings"]
