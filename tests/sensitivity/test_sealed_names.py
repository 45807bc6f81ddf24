"""Names above internal are sealed so that the same name is sealed alike: unique, and found as a whole."""

import uuid

from config.keys.sealed_texts import MARK, open_texts, owner_of, seal_names, seal_text

OWNER, OTHER = uuid.UUID(int=41), uuid.UUID(int=42)
NAMES = ["Zoë Quokka", "zoë quokka", "", "\ud800 odd", "x" * 500]


def test_the_same_name_is_sealed_alike_under_one_key_and_opens_as_any_text() -> None:
    sealed = seal_names(NAMES, OWNER)
    assert seal_names(NAMES, OWNER) == sealed
    assert len({*sealed}) == len(NAMES)
    assert all(one.startswith(MARK) and owner_of(one) == OWNER for one in sealed)
    assert not {*seal_names(NAMES, OTHER)} & {*sealed}
    assert open_texts(sealed) == NAMES
    assert seal_text(NAMES[0], OWNER) not in sealed
