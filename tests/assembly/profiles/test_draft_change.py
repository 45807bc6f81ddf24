"""One number of a profile is changed in its YAML; comments, order and styles stay."""

import pytest

from assembly.engine.profile import Section
from assembly.profiles.catalogue import find_profile_row, known_sources
from assembly.profiles.draft_change import draft_with_change
from assembly.profiles.parser import parse_profile
from assembly.profiles.shipped import SHIPPED

BLOCK = """# My profile
budget: 900
sections:
  - key: files
    heading: Files  # all of them
    layer: L1
    source: agent_files
    shape: text
    share: 0.5
  - {key: notes, heading: Notes, layer: L3, source: daily_logs, shape: entries, cap: 300}
"""


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (("cap", "notes", "3500"), "cap: 300}", "cap: 3500}"),
        (("top_k", "notes", "6"), "cap: 300}", "cap: 300, top_k: 6}"),
        (("cap", "files", "70"), "share: 0.5", "cap: 70"),
        (("top_k", "files", "2"), "- key: files\n", "- key: files\n    top_k: 2\n"),
        (("threshold", "", "0.25"), "budget: 900\n", "budget: 900\nsimilarity_threshold: 0.25\n"),
    ],
)
def test_only_the_number_changes(change: tuple[str, str, str], before: str, after: str) -> None:
    kind, section, value = change
    assert draft_with_change(BLOCK, kind=kind, section=section, value=value) == BLOCK.replace(before, after)


@pytest.mark.parametrize(
    ("kind", "section", "value"),
    [
        ("cap", "nothing", "1"), ("budget", "files", "1"), ("", "", ""), ("cap", "notes", "many"),
        ("cap", "notes", "-1"), ("cap", "notes", "nan"), ("cap", "notes", "inf"), ("cap", "notes", "1e300"),
        ("cap", "notes", "9" * 99),
    ],
)  # fmt: skip
def test_what_is_no_change_of_it_changes_nothing(kind: str, section: str, value: str) -> None:
    assert draft_with_change(BLOCK, kind=kind, section=section, value=value) is None


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_draft_of_each_shipped_profile_is_valid(name: str, db: None) -> None:
    row = find_profile_row(name)
    assert row
    for section in sections_of(name, row.content):
        if not section.required:
            draft = draft_with_change(row.content, kind="cap", section=section.key, value="77")
            assert draft
            assert next(one.cap for one in sections_of(name, draft) if one.key == section.key) == 77


def sections_of(name: str, content: str) -> tuple[Section, ...]:
    return parse_profile(content, name=name, version=1, sources=known_sources()).sections
