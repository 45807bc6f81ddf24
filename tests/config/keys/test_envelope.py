"""What is encrypted can be read by its key and for its name alone, and any change of it is noticed."""

import secrets

import pytest

from config.keys.envelope import DataKey, DecryptionFailed, MasterKey, generation_of, seal, seal_alike, unseal

KEY, OTHER = DataKey(3, secrets.token_bytes(32)), DataKey(3, secrets.token_bytes(32))


@pytest.mark.parametrize("value", [b"", b"tea", secrets.token_bytes(100_000)])
def test_a_value_is_read_as_it_was_sealed(value: bytes) -> None:
    sealed = seal(KEY, b"name", value)
    assert unseal(KEY, b"name", sealed) == value
    assert generation_of(sealed) == 3
    assert seal(KEY, b"name", value) != sealed, "each has a nonce of its own"


def test_values_that_are_sealed_alike_are_equal_if_they_were_and_under_one_key() -> None:
    first, second, again = seal_alike(KEY, b"name", [b"tea", b"Tea", b"tea"])
    assert first == again != second
    assert seal_alike(OTHER, b"name", [b"tea"]) != [first]
    assert [unseal(KEY, b"name", one) for one in (first, second)] == [b"tea", b"Tea"]


def test_another_key_or_name_reads_nothing() -> None:
    sealed = seal(KEY, b"name", b"tea")
    for key, name in ((OTHER, b"name"), (KEY, b"other")):
        with pytest.raises(DecryptionFailed):
            unseal(key, name, sealed)


def test_every_changed_bit_is_noticed() -> None:
    sealed = seal(KEY, b"name", b"tea")
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(DecryptionFailed):
            unseal(KEY, b"name", bytes(changed))
    for length in range(len(sealed)):
        with pytest.raises(DecryptionFailed):
            unseal(KEY, b"name", sealed[:length])


def test_a_wrapped_key_is_bound_to_its_id_and_its_master_key() -> None:
    first, second = secrets.token_bytes(32), secrets.token_bytes(32)
    wrapped = MasterKey(first).wrap(b"id", KEY.secret)
    assert KEY.secret not in wrapped
    assert MasterKey(first).unwrap(b"id", wrapped) == KEY.secret
    assert MasterKey(second, [first]).unwrap(b"id", wrapped) == KEY.secret
    with pytest.raises(DecryptionFailed):
        MasterKey(first).unwrap(b"other", wrapped)
    with pytest.raises(DecryptionFailed, match="another master key"):
        MasterKey(second).unwrap(b"id", wrapped)
