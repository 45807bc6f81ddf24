"""What somebody types or pastes to say which thing a context is to hold."""

import pytest

from agents.models import Agent
from agents.services import daily_log_append
from assembly.contexts.search.criteria import ReferenceQuery
from assembly.contexts.search.things import parse_reference
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db
ID = "01a20075-e6bd-73e2-8031-20abafbd6fe3"


@pytest.mark.parametrize(
    ("text", "named", "version"),
    [
        (f"memory:{ID}", f"memory:{ID}", ""),
        (f" agent_file:{ID}@7 ", f"agent_file:{ID}", "7"),
        ("turn:3", "turn:3", ""),
        ("my-source:tickets/42", "my-source:tickets/42", ""),
        (f"/memories/{ID}/", f"memory:{ID}", ""),
        (f"https://dossier.example/memories/{ID}/versions/3/", f"memory:{ID}", "3"),
        (f"/agents/ada/entities/{ID}/", f"entity:{ID}", ""),
        (f"/agents/ada/documents/{ID}/edit/", f"chunk:{ID}", ""),
        (f"/agents/ada/events/{ID}/", f"event:{ID}", ""),
    ],
)
def test_refs_and_addresses_name_things(text: str, named: str, version: str) -> None:
    thing = parse_reference(text, SYSTEM)
    assert (thing.named, thing.version) == (named, version)


def test_the_pages_of_files_name_them(agent: Agent, team: Team, teammate: User) -> None:
    file, goals = agent.files.get(file_key="KNOWLEDGE"), team.files.get(file_key="GOALS")
    log = daily_log_append(agent=agent, date=agent.created.date(), text="Met.", principal=SYSTEM)
    who = teammate.principal
    assert parse_reference("/agents/ada/files/KNOWLEDGE/", who) == ReferenceQuery(
        f"agent_file:{file.id}", f"agent_file:{file.id}"
    )
    assert parse_reference("/agents/ada/files/KNOWLEDGE/history/2/", who).ref == f"agent_file:{file.id}@2"
    assert (
        parse_reference("http://testserver/teams/care/files/GOALS/history/?x=1", who).named == f"team_file:{goals.id}"
    )
    assert parse_reference(f"/agents/ada/logs/{log.date}/", who) == ReferenceQuery(
        f"daily_log:{log.id}", f"daily_log:{log.id}"
    )


def test_the_pages_of_files_of_the_organisation_name_them(teammate: User) -> None:
    file = organisation_file_create(key="brand-voice", title="Brand voice", principal=SYSTEM)
    who, address = teammate.principal, "/organisation/files/brand-voice/"
    assert parse_reference(address, who) == ReferenceQuery(file.about, file.about)
    assert parse_reference(f"{address}history/2/", who) == ReferenceQuery(file.about, f"{file.about}@2")
    for other in ("/organisation/", "/organisation/new/", "/organisation/files/nothing/"):
        with pytest.raises(ValueError, match="page"):
            parse_reference(other, who)


@pytest.mark.parametrize(
    "text",
    ["", "knowledge", "/", "/contexts/", "/nowhere/", "https://[", f"/agents/ada/memories/{ID}", "a b:c", "é:1"],
)
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|page"):
        parse_reference(text, SYSTEM)


def test_what_one_may_not_see_is_not_there(agent: Agent, outsider: User) -> None:
    with pytest.raises(ValueError, match="not a page"):
        parse_reference("/agents/ada/files/KNOWLEDGE/", outsider.principal)
