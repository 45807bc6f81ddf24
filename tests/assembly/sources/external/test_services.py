"""Registering external sources: who may, what is refused, and where the secret goes."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.db import connection

from assembly.models import ExternalSource
from assembly.sources.external.services import (
    MAX_SOURCES,
    ExternalSourceConfig,
    external_source_create,
    external_source_delete,
    external_source_update,
)
from config.http.encryption import UndecryptableSecret, decrypt, encrypt
from config.http.errors import Conflict, Forbidden, Invalid, NotFound
from teams.models import User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import StaleVersion
from tests.concurrency import at_once

FACTS = ExternalSourceConfig("Tickets", "https://93.184.216.34/ask")
SECRET = "quite-a-secret"


def create(name: str = "tickets", facts: ExternalSourceConfig = FACTS, secret: str = SECRET) -> ExternalSource:
    return external_source_create(name=name, facts=facts, secret=secret, principal=SYSTEM)


def update(
    source: ExternalSource, secret: str | None = None, expected_version: int | None = None, **changes: Any
) -> ExternalSource:
    return external_source_update(
        source=source,
        facts=replace(ExternalSourceConfig.of(source), **changes),
        secret=secret,
        expected_version=source.version if expected_version is None else expected_version,
        principal=SYSTEM,
    )


def test_the_database_holds_it_encrypted(db: None) -> None:
    create()
    with connection.cursor() as cursor:
        cursor.execute("SELECT external_sources::text FROM external_sources")
        (row,) = cursor.fetchone()
    assert SECRET not in row
    assert decrypt(ExternalSource.objects.get().sealed_secret) == SECRET


def test_it_stays_unless_another_is_given(db: None) -> None:
    source = create()
    assert decrypt(update(source, label="Open tickets").sealed_secret) == SECRET
    source.refresh_from_db()
    assert decrypt(update(source, secret="another-secret").sealed_secret) == "another-secret"
    source.refresh_from_db()
    assert update(source, secret="").sealed_secret == ""


def test_it_does_not_go_to_another_server_by_itself(db: None) -> None:
    source = create()
    for url in ("https://1.1.1.1/ask", "https://93.184.216.34:8443/ask"):
        with pytest.raises(Invalid, match="another server"):
            update(source, url=url)
    assert update(source, url="https://93.184.216.34/other").version == 2
    source.refresh_from_db()
    assert update(source, url="https://1.1.1.1/ask", secret="another-secret").version == 3
    source.refresh_from_db()
    assert update(source, url="https://8.8.8.8/ask", secret="").version == 4
    source.refresh_from_db()
    assert update(source, url="https://1.1.1.1/ask").version == 5, "there is none to be kept"


def test_under_another_key_it_is_lost_and_can_be_entered_again(db: None, settings: Any) -> None:
    source = create()
    settings.SECRET_KEY = "another key"
    with pytest.raises(UndecryptableSecret):
        decrypt(source.sealed_secret)
    assert decrypt(update(source, secret=SECRET).sealed_secret) == SECRET


def test_sealed_twice_it_looks_different(db: None) -> None:
    assert encrypt(SECRET) != encrypt(SECRET)


def test_the_same_again_makes_no_version(db: None) -> None:
    source = create()
    assert update(source).version == 1
    assert update(source, secret=SECRET).version == 1
    assert update(source, enabled=False).version == 2


def test_a_stale_change_is_refused(db: None) -> None:
    source = create()
    update(source, label="Open tickets")
    with pytest.raises(StaleVersion):
        update(source, expected_version=1, label="Closed tickets")


def test_one_whose_host_is_gone_can_still_be_changed_and_switched_off(db: None, settings: Any) -> None:
    settings.EXTERNAL_ALLOWED_NETWORKS = ["10.0.0.0/8"]
    source = create(facts=replace(FACTS, url="http://10.1.1.1/ask"))
    settings.EXTERNAL_ALLOWED_NETWORKS = []
    assert not update(source, enabled=False).enabled


@pytest.mark.parametrize("name", ["Tickets", "open-tickets", "7up", "", "t" * 51, "a b", "new", "tickets\n"])
def test_names_are_keys_of_sections(db: None, name: str) -> None:
    with pytest.raises(Invalid):
        create(name)


def test_a_name_is_there_once(db: None) -> None:
    create()
    with pytest.raises(Conflict, match="“tickets” already"):
        create()


def test_there_are_at_most_so_many(db: None) -> None:
    rows = [ExternalSource(name=f"t{number}", label="T", url="x") for number in range(MAX_SOURCES)]
    ExternalSource.objects.bulk_create(rows)
    with pytest.raises(Conflict, match="100 external sources"):
        create()


def test_a_private_address_is_refused_for_new_and_old(db: None) -> None:
    with pytest.raises(Invalid, match="private"):
        create(facts=replace(FACTS, url="https://10.0.0.1/"))
    source = create()
    with pytest.raises(Invalid, match="private"):
        update(source, url="https://10.0.0.1/", secret="")
    assert ExternalSource.objects.get().url == FACTS.url


def test_admins_alone(db: None, owner: User) -> None:
    source, principal = create(), owner.principal
    with pytest.raises(Forbidden):
        external_source_create(name="more", facts=FACTS, principal=principal)
    with pytest.raises(Forbidden):
        external_source_update(source=source, facts=FACTS, secret="", expected_version=1, principal=principal)
    with pytest.raises(Forbidden):
        external_source_delete(source=source, principal=principal)


def test_what_is_deleted_is_gone(db: None) -> None:
    source = create()
    external_source_delete(source=source, principal=SYSTEM)
    with pytest.raises(NotFound):
        external_source_delete(source=source, principal=SYSTEM)
    with pytest.raises(NotFound):
        update(source, label="Too late")


def test_two_at_once_make_one_and_change_once(committed_database: str) -> None:
    def conflicts(call: Any) -> bool:
        try:
            call()
        except (Conflict, StaleVersion):
            return True
        return False

    assert sorted(at_once([lambda: conflicts(create)] * 4)) == [False, True, True, True]
    source = ExternalSource.objects.get()
    saves = [partial(update, source, label=f"Tickets {number}") for number in range(4)]
    saved = at_once([partial(conflicts, save) for save in saves])
    assert sorted(saved) == [False, True, True, True]
    assert ExternalSource.objects.get().version == 2
