"""Sessions of browsers: ended for good by their owner, by admins, by what changes a sign-in, and by time."""

import hashlib
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.serializers import JSONSerializer
from django.core import signing
from django.db import connection, connections
from django.db.models import F
from django.test import Client
from django.utils import timezone

from memories.jobs.periodic import delete_expired_sign_ins
from teams.models import BrowserSession, User
from teams.people import person_password_renew, person_update
from teams.sign_in.session_store import SessionStore
from tests.teams.sign_in.conftest import (
    HERE,
    OTHER_PLACE,
    PASSWORD,
    current_code,
    make_priya,
    sign_in,
)

PAGE = "/accounts/sessions/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile/1 Safari/604.1"


@pytest.fixture
def priya(db: None) -> User:
    return make_priya()


@pytest.fixture
def admin(db: None) -> Client:
    """An admin's browser."""
    browser = Client()
    browser.force_login(User.objects.create_user("grace", PASSWORD, name="Grace", is_admin=True))
    return browser


def signed_in(*, address: str = HERE, browser: str = FIREFOX) -> Client:
    client = Client(headers={"User-Agent": browser}, REMOTE_ADDR=address)
    assert sign_in(client, address=address) == "in"
    return client


def session_of(browser: Client) -> dict[str, Any]:
    return dict(browser.session.items())


def is_in(browser: Client) -> bool:
    return browser.get("/").status_code == 200


def switch(person: User, *, on: bool) -> None:
    person_update(person=person, name=person.name, is_admin=False, is_active=on)


@pytest.mark.finding("6.2")
def test_who_is_switched_off_and_on_again_signs_in_anew(priya: User) -> None:
    browser = signed_in()
    switch(priya, on=False)
    switch(priya, on=True)
    assert not is_in(browser)
    assert is_in(signed_in())


@pytest.mark.finding("6.2")
def test_a_request_that_was_under_way_does_not_bring_its_session_back(priya: User) -> None:
    browser = signed_in()
    store = SessionStore(browser.cookies["sessionid"].value)
    store["words"] = "written while the person is switched off"
    switch(priya, on=False)
    with pytest.raises(UpdateError):
        store.save()
    switch(priya, on=True)
    assert not is_in(browser)


@pytest.mark.finding("6.2")
def test_a_sign_in_that_was_under_way_is_ended_when_the_person_is_switched_on(priya: User) -> None:
    switch(priya, on=False)
    browser = Client()
    browser.force_login(priya)
    assert not is_in(browser)
    switch(priya, on=True)
    assert not is_in(browser)


@pytest.mark.finding("6.2")
def test_the_page_lists_where_one_is_signed_in(priya: User) -> None:
    signed_in(address=OTHER_PLACE, browser=SAFARI)
    page = signed_in().get(PAGE).content.decode()
    assert page.index("Firefox on Linux") < page.index("this one") < page.index("Safari on iPhone")
    assert all(text in page for text in (HERE, OTHER_PLACE, "last sign-in", "last active"))
    User.objects.create_user("otis", PASSWORD)
    other = Client()
    assert sign_in(other, name="otis") == "in"
    assert OTHER_PLACE not in other.get(PAGE).content.decode()


@pytest.mark.finding("6.2")
def test_one_session_is_ended(priya: User) -> None:
    first, second, third = signed_in(), signed_in(address=OTHER_PLACE), signed_in(address="192.0.2.1")
    ended = BrowserSession.objects.get(address=OTHER_PLACE)
    assert first.post(f"{PAGE}{ended.id}/end/").status_code == 302
    assert [is_in(browser) for browser in (first, second, third)] == [True, False, True]
    own = BrowserSession.objects.get(address=HERE)
    assert first.post(f"{PAGE}{own.id}/end/")["Location"] == "/accounts/login/"
    assert [is_in(browser) for browser in (first, third)] == [False, True]


@pytest.mark.finding("6.2")
def test_nobody_ends_the_session_of_another(priya: User) -> None:
    browser = signed_in()
    User.objects.create_user("otis", PASSWORD)
    other = Client()
    sign_in(other, name="otis")
    assert other.post(f"{PAGE}{BrowserSession.objects.get(person=priya).id}/end/").status_code == 404
    assert other.get(f"{PAGE}{BrowserSession.objects.get(person=priya).id}/end/").status_code == 405
    assert other.post(f"/people/{priya.id}/sign-out/").status_code == 403
    assert other.post(f"/people/{priya.id}/second-factor/").status_code == 403
    assert other.post(f"{PAGE}end-others/").status_code == 302
    assert is_in(browser)


@pytest.mark.finding("6.2")
def test_all_others_are_ended_at_once(priya: User) -> None:
    here, *others = (signed_in(address=f"192.0.2.{number}") for number in range(4))
    page = here.post(f"{PAGE}end-others/", follow=True).content.decode()
    assert "Signed out in 3 other sessions." in page
    assert is_in(here)
    assert not any(is_in(browser) for browser in others)


@pytest.mark.finding("6.2")
def test_admins_of_the_organisation_sign_a_person_out_everywhere(priya: User, admin: Client) -> None:
    browsers = [signed_in(), signed_in(address=OTHER_PLACE)]
    page = admin.get(f"/people/{priya.id}/").content.decode()
    assert HERE in page
    assert OTHER_PLACE in page
    assert admin.post(f"/people/{priya.id}/sign-out/").status_code == 302
    assert not any(is_in(browser) for browser in browsers)
    grace = User.objects.get(username="grace")
    admin.post(f"/people/{grace.id}/sign-out/")
    assert is_in(admin)


@pytest.mark.finding("6.2")
def test_a_new_password_ends_the_others(priya: User) -> None:
    here, other = signed_in(), signed_in(address=OTHER_PLACE)
    new = {"oldpassword": PASSWORD, "password1": "a new one, rather long", "password2": "a new one, rather long"}
    here.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert here.post("/accounts/password/change/", new).status_code == 302
    assert is_in(here)
    assert not is_in(other)
    assert BrowserSession.objects.filter(person=priya).count() == 1
    person_password_renew(person=priya)
    assert BrowserSession.objects.filter(person=priya).count() == 0
    assert not is_in(here)


@pytest.mark.finding("6.2")
def test_a_second_factor_ends_the_others(priya: User, django_capture_on_commit_callbacks: Any) -> None:
    here, other = signed_in(), signed_in(address=OTHER_PLACE)
    here.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = here.get("/accounts/2fa/totp/activate/").context["form"].secret
    from tests.teams.sign_in import conftest

    with pytest.MonkeyPatch.context() as patch, django_capture_on_commit_callbacks(execute=True):
        patch.setattr(conftest, "TOTP_SECRET", secret)
        here.post("/accounts/2fa/totp/activate/", {"code": current_code()})
    assert is_in(here)
    assert not is_in(other)


@pytest.mark.finding("6.2")
def test_admins_remove_a_lost_second_factor(priya: User, admin: Client) -> None:
    from tests.teams.sign_in.conftest import set_up_totp

    browser = signed_in()
    assert "Lost second factor" not in admin.get(f"/people/{priya.id}/").content.decode()
    set_up_totp(priya)
    assert sign_in(Client()) == "code"
    assert "Lost second factor" in admin.get(f"/people/{priya.id}/").content.decode()
    assert admin.post(f"/people/{priya.id}/second-factor/").status_code == 302
    assert not is_in(browser)
    assert sign_in(Client()) == "in"


@pytest.mark.finding("6.2")
def test_an_idle_session_ends_and_an_active_one_goes_on_to_its_last_day(priya: User, settings: Any) -> None:
    settings.SESSION_IDLE_HOURS, settings.SESSION_DAYS = 2, 1
    idle, active = signed_in(address=OTHER_PLACE), signed_in()

    def let_pass(minutes: int) -> None:
        past = timedelta(minutes=minutes)
        moved = {name: F(name) - past for name in ("began_at", "seen_at", "expires_at")}
        BrowserSession.objects.update(**moved)

    hours = 0
    while is_in(active):
        let_pass(90)
        hours += 90
        assert hours <= 24 * 60
    assert hours >= 23 * 60
    assert not is_in(idle)
    delete_expired_sign_ins()
    assert not BrowserSession.objects.exists()


def test_activity_is_written_down_once_in_a_while(priya: User, django_assert_num_queries: Any) -> None:
    browser = signed_in()
    browser.get(PAGE)
    with django_assert_num_queries(3):  # the session, the person, the list
        browser.get(PAGE)
    BrowserSession.objects.update(seen_at=timezone.now() - timedelta(minutes=6), address="")
    with django_assert_num_queries(4):
        browser.get(PAGE)
    assert BrowserSession.objects.get().address == HERE


@pytest.mark.finding("5.3")
def test_no_row_can_be_used_as_a_cookie(priya: User) -> None:
    browser = signed_in()
    key = browser.cookies["sessionid"].value
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row::text, ' ') FROM browser_sessions AS row")
        assert key not in cursor.fetchone()[0]
    thief = Client()
    thief.cookies["sessionid"] = BrowserSession.objects.get().digest
    assert not is_in(thief)
    assert is_in(browser)


@pytest.mark.finding("6.2")
def test_the_migration_signs_nobody_out(committed_database: str) -> None:
    priya = make_priya()
    browser = signed_in()
    key = browser.cookies["sessionid"].value
    migration = import_module("teams.migrations.0007_sign_in_secrets")
    soon, long_ago = timezone.now() + timedelta(days=9), timezone.now() - timedelta(days=1)
    owner = connections["owner"]
    with owner.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE django_session"
            " (session_key varchar(40) PRIMARY KEY, session_data text NOT NULL, expire_date timestamptz NOT NULL)"
        )
        held = signing.dumps(session_of(browser), salt=migration.SALT, serializer=JSONSerializer, compress=True)
        rows = [(key, held, soon), ("old", held, long_ago), ("odd", "nonsense", soon)]
        anonymous = signing.dumps({"a": 1}, salt=migration.SALT, compress=True)
        cursor.executemany("INSERT INTO django_session VALUES (%s, %s, %s)", [*rows, ("anonymous", anonymous, soon)])
    BrowserSession.objects.all().delete()
    assert not is_in(browser)
    with owner.schema_editor(atomic=False) as editor:
        migration.move_sessions(apps, editor)
    browser.cookies["sessionid"] = key
    assert is_in(browser)
    moved = dict(BrowserSession.objects.values_list("digest", "person_id"))
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in (key, "odd", "anonymous")}
    assert moved == {digests[key]: priya.pk, digests["odd"]: None, digests["anonymous"]: None}
    with owner.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_session")
        assert cursor.fetchone() == (0,)
