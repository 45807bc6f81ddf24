"""The migration that seals names keeps every one of them, and is turned back only while none is sealed."""

import io

import pytest
from django.core.management import call_command

from agents.services import agent_create
from config.db.statements import fetch_rows
from memories.models import Entity
from teams.level_changes import level_set
from teams.principal import SYSTEM
from teams.sensitivity import FULL, Sensitivity
from tests.sensitivity.restricted_things import raise_level
from tests.sensitivity.test_sealed_names import is_sealed, mentions, quokka, stored


@pytest.mark.deep
def test_the_migration_keeps_all_names_there_and_back(committed_database: str) -> None:
    agent = agent_create(slug="luna", name="Luna")
    zoe = quokka(agent)
    before = "0030_owners_of_versions"
    with pytest.raises(RuntimeError, match="entities has sealed names"):
        call_command("migrate", "memories", before, verbosity=0)
    raise_level(Entity, zoe.pk, Sensitivity.INTERNAL)
    call_command("migrate", "memories", before, verbosity=0)
    fetch_rows("UPDATE entities SET sensitivity = 3 RETURNING 1")  # whose name that version does not seal
    call_command("migrate", verbosity=0)
    assert stored(zoe, "aliases") == ["The Quokka"]
    assert Entity.objects.get().name == "Zoë Quokka"
    level_set(row=Entity.objects.get(), level=Sensitivity.CONFIDENTIAL, principal=SYSTEM)
    assert is_sealed(stored(zoe, "aliases"))
    call_command("seal_texts", stdout=io.StringIO())
    assert mentions(agent, "the quokka", FULL)[0] == ["Zoë Quokka"]
