"""What lists say about the limits that a context reached."""

import pytest

from assembly.models import Assembly
from assembly.records.warnings import shortage_sentence


def recorded(*statuses: str, truncated: bool = True) -> Assembly:
    """Return an unsaved context whose sections have these statuses."""
    assembly = Assembly(truncated=truncated)
    sections = [{"key": f"s{at}", "label": f"Section {at}", "status": status} for at, status in enumerate(statuses, 1)]
    assembly.contents = {"sections": sections}
    return assembly


@pytest.mark.parametrize(
    ("assembly", "sentence"),
    [
        (recorded("whole", "empty", truncated=False), ""),
        (recorded("whole", "partial"), "Section 2 over limit"),
        (recorded("cut", "whole", "left_out"), "Section 1 +1 over limit"),
        (recorded("whole", "whole"), "items shortened"),
        (Assembly(truncated=True, body=b"damaged"), "over limit"),
    ],
)
def test_a_few_words_say_what_reached_its_limit(assembly: Assembly, sentence: str) -> None:
    assert shortage_sentence(assembly) == sentence
