"""Limits on guessing: nobody locks out another, everybody is slowed, and all processes count together."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.cache import cache
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from teams.models import SignInLimit, User
from teams.sign_in.attempts import ACCOUNT, ACCOUNT_AT_SOURCE, SOURCE, SignInStep, full_limits_delete
from tests.concurrency import at_once
from tests.teams.sign_in.conftest import (
    HERE,
    LOGIN,
    OTHER_PLACE,
    PASSWORD,
    WRONG,
    current_code,
    make_priya,
    outcome,
    send_code,
    set_up_totp,
    sign_in,
)

TRIES = ACCOUNT_AT_SOURCE[SignInStep.PASSWORD].tokens


def guesses(count: int, *, name: str = "priya", address: str = HERE, browser: Client | None = None) -> list[str]:
    browser = browser or Client()
    return [sign_in(browser, name=name, password=WRONG, address=address) for _ in range(count)]


def let_pass(time: timedelta) -> None:
    """Let the buckets fill for as long."""
    SignInLimit.objects.update(full_at=F("full_at") - time)


@pytest.fixture
def priya(db: None) -> User:
    return make_priya()


@pytest.mark.finding("5.2a")
def test_guessing_is_limited_and_a_restart_forgets_nothing(priya: User) -> None:
    assert guesses(TRIES) == ["wrong"] * TRIES
    cache.clear()  # all that a process knows by itself
    assert guesses(3) == ["refused"] * 3
    let_pass(ACCOUNT_AT_SOURCE[SignInStep.PASSWORD].refill)
    assert guesses(2) == ["wrong", "refused"]


@pytest.mark.finding("5.2a")
def test_guesses_at_the_same_time_do_not_pass_together(committed_database: str) -> None:
    make_priya()
    answers = at_once([lambda: guesses(4)] * 8)
    flat = [answer for some in answers for answer in some]
    assert flat.count("wrong") == TRIES
    assert flat.count("refused") == 32 - TRIES


GUESS = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
settings.ALLOWED_HOSTS = ["testserver"]
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
django.setup()
from tests.teams.sign_in.test_limits import guesses
print(json.dumps(guesses(4)))
"""


@pytest.mark.deep
@pytest.mark.finding("5.2a")
def test_all_processes_count_together(committed_database: str) -> None:
    make_priya()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", GUESS, committed_database],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ},
            cwd=Path(__file__).parents[3],
        )
        for _ in range(4)
    ]
    answers = [answer for process in running for answer in json.loads(process.communicate(timeout=300)[0])]
    assert answers.count("wrong") == TRIES
    assert answers.count("refused") == 16 - TRIES


@pytest.mark.finding("5.2b")
def test_nobody_locks_out_another(priya: User) -> None:
    assert guesses(10, address=OTHER_PLACE).count("refused") == 10 - TRIES
    assert sign_in(Client(), address=HERE) == "in"


@pytest.mark.finding("5.2b")
def test_the_right_password_from_where_too_many_were_wrong_is_refused_too(priya: User) -> None:
    guesses(TRIES)
    assert sign_in(Client()) == "refused"  # else the answer would tell that it is right


@pytest.mark.finding("5.2b")
def test_one_address_is_limited_over_all_accounts(db: None) -> None:
    answers = [answer for number in range(SOURCE.tokens + 5) for answer in guesses(1, name=f"person-{number}")]
    assert answers.count("wrong") == SOURCE.tokens
    assert guesses(1, name="person-1", address=OTHER_PLACE) == ["wrong"]


@pytest.mark.finding("5.2b")
def test_an_ipv6_network_counts_as_one_address(priya: User) -> None:
    answers = [answer for number in range(9) for answer in guesses(1, address=f"2001:db8:1:2::{number}")]
    assert answers.count("wrong") == TRIES
    assert guesses(1, address="2001:db8:1:3::1") == ["wrong"]


def from_everywhere(name: str, count: int, *, block: int = 0) -> list[str]:
    addresses = (f"203.{block}.{part // 250}.{part % 250 + 1}" for part in range(count))
    return [answer for address in addresses for answer in guesses(1, name=name, address=address)]


@pytest.mark.finding("5.2b")
def test_many_addresses_against_one_account_are_slowed_but_not_its_owner(priya: User) -> None:
    own = Client()
    assert sign_in(own) == "in"
    own.post("/accounts/logout/")
    tokens = ACCOUNT[SignInStep.PASSWORD].tokens
    assert from_everywhere("priya", tokens + 10).count("wrong") == tokens
    assert sign_in(Client(), address="192.0.2.1") == "refused"  # a browser that nobody knows
    assert sign_in(own) == "in"
    own.post("/accounts/logout/")
    assert sign_in(own, address="192.0.2.77") == "in"  # wherever it is
    let_pass(ACCOUNT[SignInStep.PASSWORD].refill)
    assert sign_in(Client(), address="192.0.2.1") == "in"


@pytest.mark.finding("5.2b")
def test_a_known_device_is_limited_by_itself_and_for_its_own_account_alone(priya: User) -> None:
    User.objects.create_user("otis", PASSWORD)
    own = Client()
    assert sign_in(own, name="otis") == "in"
    own.post("/accounts/logout/")
    assert guesses(TRIES + 2, name="otis", browser=own).count("wrong") == TRIES
    assert sign_in(Client(), name="otis") == "in"  # another one is not held up by it
    tokens = ACCOUNT[SignInStep.PASSWORD].tokens
    from_everywhere("priya", tokens)
    assert sign_in(own, name="priya", address="192.0.2.5") == "refused"


@pytest.mark.finding("5.2b")
def test_a_device_cookie_of_ones_own_making_helps_nobody(priya: User) -> None:
    genuine = Client()
    sign_in(genuine)
    (name,) = [name for name in genuine.cookies if name.startswith("device_")]
    morsel = genuine.cookies[name]
    assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "Lax", "/accounts/")
    forger = Client()
    from_everywhere("priya", ACCOUNT[SignInStep.PASSWORD].tokens)
    for value in ("x", morsel.value[:-2] + "xx", ""):
        forger.cookies[name] = value
        assert sign_in(forger, address="192.0.2.5") == "refused"


@pytest.mark.finding("5.2b")
def test_what_is_said_and_counted_is_the_same_for_accounts_that_do_not_exist(priya: User) -> None:
    for address in (HERE, "2001:db8::1"):
        assert guesses(8, name="priya", address=address) == guesses(8, name="nobody", address=address)
    assert from_everywhere("priya", 60) == from_everywhere("nobody", 60, block=1)


def test_other_ways_to_write_a_name_share_its_limits(priya: User) -> None:
    names = ("priya", "PRIYA", " Priya ", "pRiYa", "priyA", "prIya", "priya  ")
    assert [answer for name in names for answer in guesses(1, name=name)].count("wrong") == TRIES


def test_right_passwords_use_nothing_up(priya: User) -> None:
    for _ in range(3 * TRIES):
        assert sign_in(Client()) == "in"


def test_signing_in_now_and_then_does_not_allow_more_guesses(priya: User) -> None:
    User.objects.create_user("mallory", PASSWORD)
    answers = []
    for number in range(SOURCE.tokens + 10):
        answers += guesses(1, name=f"person-{number}")
        sign_in(Client(), name="mallory")
    assert answers.count("wrong") == SOURCE.tokens


@pytest.mark.finding("5.2b")
def test_codes_are_limited_without_locking_out_the_owner(priya: User) -> None:
    own = Client()
    assert sign_in(own) == "in"
    own.post("/accounts/logout/")
    set_up_totp(priya)
    thief = Client()
    assert sign_in(thief, address=OTHER_PLACE) == "code"
    wrong = [send_code(thief, f"{number:06}", address=OTHER_PLACE) for number in range(8)]
    assert wrong == ["wrong"] * 5 + ["refused"] * 3
    for part in range(8):
        again = Client()
        sign_in(again, address=f"192.0.2.{part}")
        wrong += [send_code(again, "000000", address=f"192.0.2.{part}") for _ in range(5)]
    assert wrong.count("wrong") == ACCOUNT[SignInStep.CODE].tokens
    assert sign_in(own) == "code"
    assert send_code(own, current_code()) == "in"


@pytest.mark.finding("5.2b")
@pytest.mark.parametrize(
    ("page", "field"), [("/accounts/password/change/", "oldpassword"), ("/accounts/reauthenticate/", "password")]
)
def test_a_stolen_session_does_not_let_one_guess_the_password(priya: User, page: str, field: str) -> None:
    browser = Client()
    browser.force_login(priya)
    if field == "oldpassword":
        browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    new = {"password1": "another long one 1", "password2": "another long one 1"}
    answers = [outcome(browser.post(page, {field: WRONG, **new})) for _ in range(TRIES + 2)]
    assert answers == ["wrong"] * TRIES + ["refused"] * 2
    assert outcome(browser.post(page, {field: PASSWORD, **new})) == "refused"
    priya.refresh_from_db()
    assert priya.check_password(PASSWORD)


@pytest.mark.finding("5.2a")
def test_a_refusal_says_when_the_next_attempt_passes(priya: User) -> None:
    guesses(TRIES)
    refused = Client().post(LOGIN, {"login": "priya", "password": WRONG}, REMOTE_ADDR=HERE)
    wait = int(refused["Retry-After"])
    refill = ACCOUNT_AT_SOURCE[SignInStep.PASSWORD].refill
    assert timedelta(0) < timedelta(seconds=wait) <= refill
    let_pass(timedelta(seconds=wait))
    assert guesses(2) == ["wrong", "refused"]


@pytest.mark.finding("5.2a")
def test_a_refused_code_is_429_too_and_a_page_of_a_browser_says_so(priya: User) -> None:
    set_up_totp(priya)
    browser = Client()
    assert sign_in(browser) == "code"
    assert [send_code(browser, "000000") for _ in range(6)] == ["wrong"] * 5 + ["refused"]
    set_up = Client()
    set_up.force_login(priya)
    page = "/accounts/2fa/reauthenticate/"
    assert [outcome(set_up.post(page, {"code": "000000"})) for _ in range(6)][-1] == "refused"


def test_the_table_says_nothing_about_names_and_is_cleared(priya: User) -> None:
    guesses(1, name="my-secret-typed-into-the-wrong-field")
    rows = [str(row) for row in SignInLimit.objects.values_list()]
    assert len(rows) == 4
    assert not any("secret" in row or HERE in row for row in rows)
    assert full_limits_delete() == 0
    let_pass(timedelta(days=1))
    assert full_limits_delete() == 4


@pytest.mark.finding("5.2b")
@pytest.mark.parametrize("account", ["right", "off", "without a password"])
def test_a_wrong_password_costs_the_same_work_whether_or_not_there_is_an_account(
    priya: User, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if account == "off":
        User.objects.filter(pk=priya.pk).update(is_active=False)
    if account == "without a password":
        priya.set_unusable_password()
        priya.save()
    work = [work_of_a_guess(name, monkeypatch) for name in ("priya", "nobody")]
    assert work[0] == work[1]
    assert work[0][0] == 1


def work_of_a_guess(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """Return how often a password is hashed for a wrong guess at this name, and the commands that the database gets."""
    hashed = []
    encode = MD5PasswordHasher.encode

    def counted_encode(hasher: Any, password: str, salt: str) -> Any:
        hashed.append(salt)
        return encode(hasher, password, salt)

    with monkeypatch.context() as patched, CaptureQueriesContext(connection) as queries:
        patched.setattr(MD5PasswordHasher, "encode", counted_encode)
        assert guesses(1, name=name) == ["wrong"]
    return len(hashed), [query["sql"].split()[0] for query in queries]
