"""REST: MemoryRequest.v0 is answered with AssembledContext.v0, an assembly with a record like any other."""

import pytest

from assembly.engine.scopes import SCOPES
from tests.assembly.contract.contract_checks import ask
from tests.client import Api

pytestmark = [pytest.mark.usefixtures("press"), pytest.mark.django_db]


def test_an_agents_key_needs_no_more_than_an_id_and_an_intent(mira_api: Api) -> None:
    document = ask(mira_api, format="markdown")
    assert document["request_id"] == "one"
    metadata = document["metadata"]
    assert (metadata["agent"], metadata["team"], metadata["profile"]) == ("mira", "press", "memory")
    assert {fragment["source_layer"] for fragment in document["fragments"]} == set(SCOPES)
    assert metadata["source_coverage"] == 1
    assert metadata["warnings"] == metadata["trims"] == []
    record = mira_api.get(f"assemblies/{metadata['assembly']}").json()
    assert record["content"] == metadata["content"]
    assert (record["tokens"], record["sha256"]) == (metadata["total_tokens"], metadata["sha256"])
    assert mira_api.post(f"assemblies/{metadata['assembly']}/replay").json()["identical"]
