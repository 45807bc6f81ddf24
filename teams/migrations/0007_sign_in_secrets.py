"""Encrypts the secrets of second factors, and moves browsers' sessions into the table that knows whose they are."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.apps.registry import Apps
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.serializers import JSONSerializer
from django.core import signing
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

from config.http.encryption import decrypt, encrypt

SALT = "django.contrib.sessions.SessionStore"  # Django's, for stores of this name
BATCH = 500


def encrypt_all(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    _rewrite(apps, editor, encrypt)


def decrypt_all(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    _rewrite(apps, editor, decrypt)


def _rewrite(apps: Apps, editor: BaseDatabaseSchemaEditor, change: Callable[[str], str]) -> None:
    authenticators = apps.get_model("mfa", "Authenticator").objects.using(editor.connection.alias)
    for authenticator in authenticators.iterator(BATCH):
        data = authenticator.data
        for name in {"secret", "seed"} & set(data):
            data[name] = change(data[name])
        if "migrated_codes" in data:
            data["migrated_codes"] = [change(code) for code in data["migrated_codes"]]
        authenticator.save(update_fields=["data"])


def move_sessions(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Nobody is signed out by the migration. Rows that no cookie can use are left out."""
    sessions = apps.get_model("teams", "BrowserSession").objects.using(editor.connection.alias)
    people = set(apps.get_model("teams", "User").objects.using(editor.connection.alias).values_list("pk", flat=True))
    known = {str(person): person for person in people}
    now = timezone.now()
    latest = now + timedelta(hours=settings.SESSION_IDLE_HOURS)
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_session') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return
        # Emptied, and not dropped: on the way back, Django's own sessions want the table.
        cursor.execute("DELETE FROM django_session RETURNING session_key, session_data, expire_date")
        while rows := cursor.fetchmany(BATCH):
            sessions.bulk_create(
                sessions.model(
                    digest=hashlib.sha256(key.encode()).hexdigest(),
                    session_data=encrypt(json.dumps(held)),
                    person_id=known.get(held.get(SESSION_KEY)),
                    began_at=now,
                    seen_at=now,
                    expires_at=min(expires, latest),
                )
                for key, held, expires in ((key, _data_of(data), expires) for key, data, expires in rows)
                if expires > now
            )


def _data_of(data: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = signing.loads(data, salt=SALT, serializer=JSONSerializer)
    except signing.BadSignature:
        return {}
    return found


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0006_sign_in"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [
        migrations.RunPython(encrypt_all, decrypt_all),
        # On the way back, people sign in again: a session's key cannot be computed from its digest.
        migrations.RunPython(move_sessions, migrations.RunPython.noop),
    ]
