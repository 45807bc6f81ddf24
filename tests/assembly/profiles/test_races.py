"""Admins at once: one save wins, the others hear of it, and nothing is stored twice."""

from functools import partial

import pytest

from assembly.models import StoredProfile, StoredProfileVersion
from assembly.profiles.services import profile_create, profile_save
from config.http.errors import Conflict
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import StaleVersion
from tests.assembly.profiles.test_services import BRIEF
from tests.concurrency import at_once

pytestmark = pytest.mark.usefixtures("committed_database")

THREADS = 6


def save(number: int) -> str:
    try:
        return (
            f"version {profile_save(name='coding', content=text(number), expected_version=1, principal=SYSTEM).version}"
        )
    except StaleVersion as stale:
        return f"stale: {stale.current.version}"


def create(number: int) -> str:
    try:
        return profile_create(name="brief", content=text(number), principal=SYSTEM).name
    except Conflict:
        return "conflict"


def text(number: int) -> str:
    return BRIEF.replace("500", str(500 + number))


def test_the_first_change_of_a_shipped_profile_is_made_once() -> None:
    answers = at_once([partial(save, number) for number in range(THREADS)])
    assert sorted(answers) == ["stale: 2"] * (THREADS - 1) + ["version 2"]
    assert sorted(StoredProfileVersion.objects.values_list("version", flat=True)) == [1, 2]


def test_a_name_is_given_once() -> None:
    answers = at_once([partial(create, number) for number in range(THREADS)])
    assert sorted(answers) == ["brief"] + ["conflict"] * (THREADS - 1)
    assert StoredProfile.objects.count() == StoredProfileVersion.objects.count() == 1
