"""A context as JSON: the API's own document, with all its decisions."""

import json
import re

from agents.keys import api_key_create
from agents.models import Agent
from assembly.contexts.page_views import pretty_json
from assembly.models import Assembly
from teams.models import Team, User
from tests.assembly.large_record import context_of_many
from tests.client import Api
from tests.pages.conftest import SignedIn, text_of


def the_apis(api: Api, assembly: Assembly) -> dict[str, object]:
    document = api.get(f"assemblies/{assembly.id}").json()
    decisions = api.get(f"assemblies/{assembly.id}/decisions?limit=200").json()
    assert decisions["next"] is None
    return {**document, "decisions": decisions["results"]}


def test_the_file_is_what_the_api_gives(signed_in: SignedIn, teammate: User, team: Team, agent: Agent) -> None:
    assembly = context_of_many(agent, team, teammate.principal, candidates=120)
    response = signed_in(teammate).get(f"/contexts/{assembly.id}/json/file/")
    api = Api(api_key_create(agent=None, name="Ops")[1])
    assert json.loads(response.content) == the_apis(api, assembly)
    assert response["Content-Type"] == "application/json; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="luna-[\d-]+\.json"', response["Content-Disposition"])


def test_each_value_is_written_as_the_api_writes_it() -> None:
    beyond_64_bits = 2**70
    assert (
        pretty_json({"score": 1.5e-7, "said": "“so”", "none": []})
        == '{\n  "score": 1.5e-7,\n  "said": "“so”",\n  "none": []\n}'
    )
    assert json.loads(pretty_json({"asked": beyond_64_bits})) == {"asked": beyond_64_bits}


def test_the_page_shows_the_beginning_of_a_long_one(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    large = context_of_many(agent, team, owner.principal, candidates=500)
    page = text_of(signed_in(owner).get(f"/contexts/{large.id}/json/"))
    assert "more characters. Copy or download the full JSON." in page
    assert f'data-copy-from="/contexts/{large.id}/json/file/"' in page
    small = context_of_many(agent, team, owner.principal, candidates=3)
    page = text_of(signed_in(owner).get(f"/contexts/{small.id}/json/"))
    assert "more characters" not in page
    assert 'data-copy="#document"' in page
    assert "all 3 decisions" in page
