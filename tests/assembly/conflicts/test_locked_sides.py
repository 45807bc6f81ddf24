"""No side of a conflict is deleted while the conflict is stored, and storing waits for no deletion."""

from typing import Any

import pytest
from django.db import OperationalError, connections, transaction

from assembly.conflicts.compared_texts import lock_current, texts_of
from teams.services import team_create
from tests.assembly.conflicts.conflict_factories import EIGHTY, remember
from tests.postgres import cloned_database, connected_to


def test_a_memory_is_deleted_before_or_after_its_conflict_is_stored(
    django_db_setup: None, django_db_blocker: Any
) -> None:
    delete = "SELECT FROM memories WHERE id = %s FOR UPDATE"
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        memory = remember(team_create(slug="care", name="Care"), EIGHTY)
        [text] = texts_of("memory", memory.id) or []
        with transaction.atomic(), connections["owner"].cursor() as other:
            assert lock_current(text)
            other.execute("SET lock_timeout = 50")
            with pytest.raises(OperationalError, match="lock timeout"):
                other.execute(delete, [memory.id])
        with transaction.atomic(using="owner"), connections["owner"].cursor() as other:
            other.execute(delete, [memory.id])
            with transaction.atomic():
                assert not lock_current(text), "it does not wait"
