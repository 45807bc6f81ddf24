"""Where the things of a context can be read: looked up once for all, the addresses are those of the pages."""

import pytest
from django.urls import reverse

from assembly.contexts.links import PAGES, ItemLinks
from assembly.engine.types import Candidate

ID = "01a1fc7c-0f9e-7116-8647-000000000001"
HERE = ItemLinks("luna", "demo")


def test_a_memory_leads_to_the_version_that_was_considered() -> None:
    found = HERE.address_of(Candidate(f"memory:{ID}@12", "knows", "It."))
    assert found == reverse("memory_version", args=[ID, 12])


@pytest.mark.parametrize("kind", PAGES)
def test_a_thing_leads_to_its_page(kind: str) -> None:
    thing = Candidate(f"{kind}:{ID}@3", "things", "It.")
    assert HERE.address_of(thing) == reverse(PAGES[kind], args=["luna", ID])
    assert ItemLinks("", "").address_of(thing) == ""
