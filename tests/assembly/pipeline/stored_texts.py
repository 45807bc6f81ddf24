"""Texts as records store them, without a record."""

import hashlib

from django.db import connections, transaction

from assembly.models import StoredText
from assembly.models.encryption import read_texts


def stored(text: str) -> bytes:
    """The key under which the text is stored now."""
    key = hashlib.sha256(text.encode()).digest()
    StoredText.objects.get_or_create(sha256=key, defaults={"text": text})
    return key


def recorded_texts() -> list[str]:
    """All texts that are stored, in plain."""
    return list(read_texts(StoredText.objects.values_list("sha256", "text", "sealed")).values())


def delete_text(key: bytes) -> None:
    """As the job that prunes texts does: in the owner's name."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SET LOCAL dossier.erasing = 'on'")
        cursor.execute("DELETE FROM stored_texts WHERE sha256 = %s", [key])
