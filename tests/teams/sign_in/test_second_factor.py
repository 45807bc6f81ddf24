"""Second factors: each code works once, and nobody can read them in the database."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.apps import apps
from django.core import signing
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from config.http.encryption import UndecryptableSecret, decrypt, encrypt, is_current
from teams.models import BrowserSession, User
from teams.sign_in.second_factor import code_accept
from tests.concurrency import at_once
from tests.teams.sign_in.conftest import (
    HERE,
    OTHER_PLACE,
    PASSWORD,
    TOTP_SECRET,
    current_code,
    make_priya,
    send_code,
    set_up_totp,
    sign_in,
)

STEP = 60_000_000


@pytest.fixture
def priya(db: None) -> User:
    """A person with an authenticator app."""
    person = make_priya()
    set_up_totp(person)
    return person


def before_the_code(address: str = HERE) -> Client:
    browser = Client()
    assert sign_in(browser, address=address) == "code"
    return browser


@pytest.mark.finding("5.2d")
def test_a_code_works_once_even_after_a_restart(priya: User, at_step: Callable[[int], None]) -> None:
    at_step(STEP)
    first, second, third = before_the_code(), before_the_code(), before_the_code(OTHER_PLACE)
    code = current_code()
    assert send_code(first, code) == "in"
    cache.clear()  # all that a process knows by itself
    assert send_code(second, code) == "wrong"
    assert send_code(third, f" {code} ", address=OTHER_PLACE) == "wrong"
    at_step(STEP + 1)
    assert send_code(second, code) == "wrong"
    assert send_code(second, current_code()) == "in"


@pytest.mark.finding("5.2d")
def test_a_code_older_than_the_last_one_is_refused(priya: User, at_step: Callable[[int], None], settings: Any) -> None:
    settings.MFA_TOTP_TOLERANCE = 1
    at_step(STEP)
    assert code_accept(person=priya, code=current_code(step=2)) is not None
    assert code_accept(person=priya, code=current_code(step=1)) is None
    assert code_accept(person=priya, code=current_code(step=2)) is None


@pytest.mark.finding("5.2d")
def test_of_many_who_send_a_code_at_once_one_is_let_in(committed_database: str, at_step: Callable[[int], None]) -> None:
    set_up_totp(make_priya())
    at_step(STEP)
    code = current_code()
    browsers = [before_the_code() for _ in range(5)]
    answers = at_once([lambda b=browser: send_code(b, code) for browser in browsers])  # type: ignore[misc]
    assert sorted(answers) == ["in"] + ["wrong"] * 4


@pytest.mark.finding("5.2d")
def test_of_many_who_send_a_recovery_code_at_once_one_is_let_in(committed_database: str) -> None:
    person = make_priya()
    set_up_totp(person)
    code, other, *_ = RecoveryCodes.activate(person).get_unused_codes()
    browsers = [before_the_code() for _ in range(5)]
    answers = at_once([lambda b=browser: send_code(b, code) for browser in browsers])  # type: ignore[misc]
    assert sorted(answers) == ["in"] + ["wrong"] * 4
    cache.clear()
    assert send_code(before_the_code(OTHER_PLACE), code, address=OTHER_PLACE) == "wrong"
    assert send_code(before_the_code(OTHER_PLACE), other, address=OTHER_PLACE) == "in"
    left = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()
    assert not {code, other} & set(left)
    assert len(left) == 8


@pytest.mark.finding("5.2d")
def test_the_code_that_shows_once_more_that_it_is_oneself_is_used_up(
    priya: User, at_step: Callable[[int], None]
) -> None:
    at_step(STEP)
    code, browser = current_code(), before_the_code()
    assert send_code(browser, code) == "in"
    again = browser.post("/accounts/2fa/reauthenticate/", {"code": code})
    assert "Incorrect code" in again.content.decode()
    at_step(STEP + 1)
    assert browser.post("/accounts/2fa/reauthenticate/", {"code": current_code()}).status_code == 302


@pytest.mark.finding("5.2d")
def test_the_code_of_setting_up_signs_nobody_in(
    db: None, at_step: Callable[[int], None], django_capture_on_commit_callbacks: Any
) -> None:
    person = make_priya()
    at_step(STEP)
    browser = Client()
    sign_in(browser)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

    code = format_hotp_value(hotp_value(secret, STEP))
    with django_capture_on_commit_callbacks(execute=True):
        assert browser.post("/accounts/2fa/totp/activate/", {"code": code}).status_code == 302
    assert Authenticator.objects.filter(user=person).count() == 2
    assert send_code(before_the_code(), code) == "wrong"
    at_step(STEP + 1)
    assert send_code(before_the_code(), format_hotp_value(hotp_value(secret, STEP + 1))) == "in"


def rows_as_text() -> str:
    """All rows of all tables, as a dump holds them."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        texts = []
        for table in tables:
            cursor.execute(f'SELECT string_agg(held::text, chr(10)) FROM "{table}" AS held')  # noqa: S608 - names of our own tables
            texts.append(str(cursor.fetchone()[0]))
    assert "priya" in "".join(texts)
    return "\n".join(texts)


@pytest.mark.finding("5.3")
def test_not_even_while_it_is_set_up_a_row_shows_a_secret(db: None) -> None:
    make_priya()
    browser = Client()
    sign_in(browser)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    text = rows_as_text()
    assert secret not in text
    for (held,) in BrowserSession.objects.values_list("session_data"):
        with pytest.raises(signing.BadSignature):
            signing.loads(held, salt="django.contrib.sessions.SessionStore")
    assert browser.session["mfa.totp.secret"] == secret


@pytest.mark.finding("5.3")
def test_no_row_shows_a_secret_or_a_code(priya: User) -> None:
    codes = RecoveryCodes.activate(priya)
    seed = decrypt(codes.instance.data["seed"])
    text = rows_as_text()
    assert TOTP_SECRET not in text
    assert seed not in text
    assert not any(code in text for code in codes.get_unused_codes())
    assert decrypt(Authenticator.objects.get(type="totp").data["secret"]) == TOTP_SECRET


def migrate(function: str) -> None:
    """Run one of the migration's functions as `migrate` does, on the rows that there are."""
    migration = import_module("teams.migrations.0007_sign_in_secrets")
    with connection.schema_editor(atomic=False) as editor:
        getattr(migration, function)(apps, editor)


@pytest.mark.finding("5.3")
def test_the_migration_encrypts_what_is_there_and_gives_it_back(priya: User) -> None:
    RecoveryCodes.activate(priya)
    migrate("decrypt_all")
    assert TOTP_SECRET in rows_as_text()
    plain = list(Authenticator.objects.order_by("pk").values_list("data", flat=True))
    migrate("encrypt_all")
    assert TOTP_SECRET not in rows_as_text()
    assert code_accept(person=priya, code=current_code()) is not None
    Authenticator.objects.filter(type="totp").update(data={"secret": encrypt(TOTP_SECRET)})
    migrate("decrypt_all")
    assert list(Authenticator.objects.order_by("pk").values_list("data", flat=True)) == plain


@pytest.mark.finding("5.3")
def test_the_secret_key_can_be_changed(priya: User, settings: Any, capsys: Any) -> None:
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another key"
    with pytest.raises(UndecryptableSecret):
        code_accept(person=priya, code=current_code())
    settings.SECRET_KEY_FALLBACKS = [former]
    assert code_accept(person=priya, code=current_code()) is not None
    call_command("reencrypt_secrets")
    assert "1 secret" in capsys.readouterr().out
    settings.SECRET_KEY_FALLBACKS = []
    stored = Authenticator.objects.get(type="totp").data
    assert is_current(stored["secret"])
    assert decrypt(stored["secret"]) == TOTP_SECRET
    assert stored["last_step"] > 0  # what was used before stays used


@pytest.mark.finding("5.3")
def test_a_secret_that_is_lost_is_explained(priya: User, settings: Any) -> None:
    stored = Authenticator.objects.get(type="totp")
    stored.data["secret"] = "gAAAA-of-another-key"
    stored.save()
    with pytest.raises(CommandError, match="1 cannot be read"):
        call_command("reencrypt_secrets")
    response = before_the_code().post("/accounts/2fa/authenticate/", {"code": "123456"})
    assert response.status_code == 409
    assert "SECRET_KEY was changed" in response.content.decode()
    call_command("remove_second_factor", "priya")
    assert sign_in(Client(), address=OTHER_PLACE) == "in"
