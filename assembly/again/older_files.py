"""Other versions of the files that a context is made of, put in the place of those that it has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.models import AgentFileVersion
from assembly.again.things import kind_and_id
from assembly.engine.types import Candidate
from config.http.errors import Invalid
from teams.models import TeamFileVersion

VERSIONS: Mapping[str, Any] = {"agent_file": AgentFileVersion, "team_file": TeamFileVersion}


def with_versions(candidates: Sequence[Candidate], wanted: Mapping[str, int]) -> tuple[Candidate, ...]:
    """The candidates with the wanted versions, by the keys of files, in the place of those that are there.

    One query per file. Raises Invalid for a file that is not among them, and for a version that there never was.
    """
    texts = {key: _version_text(candidates, key, number) for key, number in wanted.items()}
    return tuple(_with(one, *texts[one.kind]) if is_file(one) and one.kind in texts else one for one in candidates)


def _version_text(candidates: Sequence[Candidate], key: str, number: int) -> tuple[str, str]:
    """The ref and the text of that version."""
    found = next((one for one in candidates if is_file(one) and one.kind == key), None)
    if found is None:
        raise Invalid(f"files.{key}", f"This context is not made of {key}. Choose one of its files.", "unknown")
    kind, id_ = kind_and_id(found.ref)
    text = VERSIONS[kind].objects.filter(file_id=id_, version=number).values_list("content", flat=True).first()
    if text is None:
        raise Invalid(f"files.{key}", f"{key} has no version {number}. Look it up in its history.", "unknown")
    return f"{kind}:{id_}@{number}", text


def _with(candidate: Candidate, ref: str, text: str) -> Candidate:
    return candidate if candidate.ref == ref else replace(candidate, ref=ref, text=text, summary=None)


def is_file(candidate: Candidate) -> bool:
    """Whether it is a file of the agent or the team."""
    return kind_and_id(candidate.ref)[0] in VERSIONS
