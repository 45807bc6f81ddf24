"""Keys from the command line."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agents.authentication import principal_of_key
from agents.models import Agent, ApiKey

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_an_agents_key_is_the_last_word(agent: Agent) -> None:
    key = run("create_api_key", "--agent", "ada", "--scope", "files:write", "--name", "CI").split()[-1]
    principal = principal_of_key(key)
    assert principal is not None
    assert (principal.kind, principal.agent_id, principal.name) == ("agent_key", agent.id, "CI")
    assert principal.scopes == {"files:write"}
    assert key not in str(list(ApiKey.objects.values()))


def test_an_admins_key_is_the_last_word() -> None:
    principal = principal_of_key(run("create_api_key", "--admin").split()[-1])
    assert principal is not None
    assert principal.is_admin


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--agent", "eva"], "Use one of: ada"),
        (["--agent", "a\0"], "There is no agent"),
        (["--agent", "ada", "--scope", "all"], "invalid choice"),
        (["--admin", "--scope", "files:write"], "Leave --scope out"),
        (["--admin", "--name", "x" * 121], "at most 120"),
        ([], "one of the arguments"),
        (["--admin", "--agent", "ada"], "not allowed with"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(arguments: list[str], sentence: str, agent: Agent) -> None:
    with pytest.raises(CommandError, match=sentence):
        run("create_api_key", *arguments)
    assert not ApiKey.objects.exists()


def test_a_revoked_key_is_of_no_use() -> None:
    key = run("create_api_key", "--admin").split()[-1]
    lookup = key.split("_")[1]
    assert run("revoke_api_key", lookup) == f"Key {lookup} is revoked.\n"
    assert principal_of_key(key) is None
    first = ApiKey.objects.get().revoked
    assert run("revoke_api_key", lookup) == f"Key {lookup} was revoked before.\n"
    assert ApiKey.objects.get().revoked == first
    with pytest.raises(CommandError, match="eight characters"):
        run("revoke_api_key", "nothing")


def test_an_altered_key_is_no_key() -> None:
    key = run("create_api_key", "--admin").split()[-1]
    assert principal_of_key(key[:-1] + ("A" if key[-1] != "A" else "B")) is None


@pytest.mark.finding("6.8a")
def test_a_key_expires_after_as_many_days_as_are_given() -> None:
    key = run("create_api_key", "--admin", "--expires-days", "30").split()[-1]
    row = ApiKey.objects.get()
    assert row.expires
    assert round((row.expires - row.created).total_seconds() / 86_400) == 30
    assert principal_of_key(key)
    for days in ("0", "-1", "3651"):
        with pytest.raises(CommandError, match="1 to 3650"):
            run("create_api_key", "--admin", "--expires-days", days)
