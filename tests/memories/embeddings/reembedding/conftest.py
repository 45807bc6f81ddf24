"""Changes of the embedder, each in a database of its own; afterwards, the process believes what it did before."""

from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.core.management import call_command

from memories.embeddings.active_model import last_known_model, remember_model


@pytest.fixture(autouse=True)
def belief(committed_database: str) -> Iterator[None]:
    before = last_known_model()
    yield
    remember_model([before.model, str(before.dimensions), before.slot])


@pytest.fixture
def reembed() -> Callable[..., str]:
    """Runs the command; returns what it prints."""

    def run(*arguments: str) -> str:
        printed = StringIO()
        call_command("reembed", *arguments, stdout=printed)
        return printed.getvalue()

    return run
