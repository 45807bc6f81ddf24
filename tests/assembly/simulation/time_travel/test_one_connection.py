"""Looking back and telling of now take turns on one connection, and neither knows of the other."""

import pytest
from django.db import connection
from django.utils import timezone

from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.simulation.time_travel.services import assemble_as_of, assemble_unrecorded
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.simulation.time_travel.edit_story import story_begun


def test_looking_back_leaves_nothing_behind(committed_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    story = story_begun(monkeypatch, seed=1)
    asked = AssemblyRequest(topic="the tide", profile="quay")
    before = assemble(agent=story.agent, team=story.team, asked=asked, principal=SYSTEM)
    then = story.clock.now
    [goals] = story.team.files.filter(file_key="GOALS")
    story.clock.goes_on(hours=1)
    file_save(file=goals, content="Row.", expected_version=1, author=SYSTEM.author)
    rows = Assembly.objects.count()
    for _ in range(8):  # more often than a statement is sent before PostgreSQL keeps its plan
        assert (
            assemble_as_of(
                agent=story.agent, team=story.team, asked=asked, moment=then, principal=SYSTEM
            ).context.content
            == before.content
        )
        now = assemble_unrecorded(agent=story.agent, team=story.team, asked=asked, now=timezone.now())
        assert "Row." in now.content
    assert Assembly.objects.count() == rows
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pg_temp.memories'), current_setting('transaction_read_only')")
        assert cursor.fetchone() == (None, "off")
        cursor.execute("SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()")
        assert cursor.fetchone() == (0,)
