"""Records that older versions of the engine made are replayed to the same bytes.

`records/engine_version_3.json.gz` was made on commit d370cec, the last of version 3: all shipped profiles, texts that
pose as sections, cuts, summaries, compacted turns, and an appended event.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assembly.engine.assemble import assemble
from assembly.engine.profile import Profile
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import ENGINE_VERSION, Candidate, EngineRequest, EngineResult

STORED = json.loads(gzip.decompress((Path(__file__).parent / "records" / "engine_version_3.json.gz").read_bytes()))
RECORDS = STORED["records"]
TEXTS: list[str] = STORED["texts"]


def candidate_of(one: dict[str, Any]) -> Candidate:
    return Candidate.from_dict(one["facts"], TEXTS[one["text"]], TEXTS[one["summary"]] if one["summary"] else "")


def replayed(record: dict[str, Any], **otherwise: Any) -> EngineResult:
    request = EngineRequest.from_dict({**record["request"], **otherwise})
    candidates = [candidate_of(one) for one in record["candidates"]]
    return assemble(request, Profile.from_dict(record["profile"]), candidates, get_tokenizer(request.tokenizer))


@pytest.mark.finding("4a")
@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_a_record_of_version_3_gives_the_same_bytes(number: int) -> None:
    record = RECORDS[number]
    assert record["request"]["engine_version"] == 3
    again = replayed(record)
    decided = [[one.section, one.ref, one.code.value, one.tokens, one.start, one.end] for one in again.decisions]
    assert (again.sha256, decided) == (record["sha256"], record["decisions"])


def test_the_same_made_anew_gives_other_bytes() -> None:
    assert all(replayed(record, engine_version=ENGINE_VERSION).sha256 != record["sha256"] for record in RECORDS)
