"""What can go wrong with the key store; each error says what to do."""

from config.http.errors import DossierError


class KeysUnavailable(DossierError):
    """What is encrypted can be neither read nor written now (503)."""

    status = 503


class KeyStoreUnavailable(KeysUnavailable):
    """The key store does not answer, or not in time."""

    code = "key_store_unavailable"
    title = "The key store is not available"
    retry_after = 5

    def __init__(self) -> None:
        super().__init__(
            "Recorded contexts and confidential texts are encrypted, and the database with their keys does not answer. "
            "Try again soon. The operator of Dossier finds the reason in the log, and the address in "
            "KEYS_DATABASE_URL."
        )


class KeyStoreMissing(KeysUnavailable):
    """There is no key store, so nothing that must be encrypted can be stored or read."""

    code = "key_store_missing"
    title = "There is no key store"

    def __init__(self) -> None:
        super().__init__(
            "Texts that are confidential or above are stored encrypted, and this installation has no key store. "
            "Nothing was changed. The operator of Dossier sets KEYS_DATABASE_URL, see docs/operations.md."
        )


class MasterKeyMissing(KeysUnavailable):
    """A stored key is under a master key that this process does not have."""

    code = "master_key_missing"
    title = "Recorded contexts cannot be decrypted"

    def __init__(self) -> None:
        super().__init__(
            "MASTER_KEY is not the key that recorded contexts and confidential texts were encrypted under. The "
            "operator of Dossier can add the former one to MASTER_KEY_FALLBACKS."
        )


class KeyLost(LookupError):
    """The key store has no row for a key that a stored value names: the store was emptied, or restored from before."""
