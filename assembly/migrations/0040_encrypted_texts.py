"""Recorded texts can be encrypted. A row has its text in plain or encrypted, never both; none of them is lost here.

Rows that are there stay as they are: `manage.py encrypt_records` encrypts them. Turned back, this refuses to run while
there are encrypted texts, because they cannot be read in the former version.
"""

import django.utils.timezone
from django.db import migrations, models

# Of a stored text, nothing may change but how it is stored: from plain to encrypted by the owner of the table, and from
# one generation of its key to a later one, because its key was destroyed and the text is stored again.
GUARD = """
CREATE FUNCTION refuse_text_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_owner boolean := current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID);
BEGIN
    IF TG_OP = 'DELETE' AND is_owner AND current_setting('dossier.erasing', true) = 'on' THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'UPDATE' AND is_owner AND current_setting('dossier.sealing', true) = 'on' THEN
        IF NEW.sha256 = OLD.sha256 AND NEW.text IS NULL
            AND (OLD.text IS NOT NULL OR substr(OLD.sealed, 1, 4) < substr(NEW.sealed, 1, 4)) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% keeps history: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
DROP TRIGGER stored_texts_keeps_rows ON stored_texts;
CREATE TRIGGER stored_texts_keeps_rows BEFORE UPDATE OR DELETE ON stored_texts
    FOR EACH ROW EXECUTE FUNCTION refuse_text_change();

CREATE FUNCTION seal_stored_texts(hashes bytea[], ciphertexts bytea[]) RETURNS integer
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    PERFORM set_config('dossier.sealing', 'on', true);
    UPDATE stored_texts SET sealed = given.ciphertext, text = NULL
        FROM unnest(hashes, ciphertexts) AS given (hash, ciphertext)
        WHERE sha256 = given.hash AND text IS NOT NULL;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.sealing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION seal_stored_texts(bytea[], bytea[]) FROM PUBLIC;

CREATE FUNCTION renew_stored_texts(hashes bytea[], ciphertexts bytea[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    PERFORM set_config('dossier.sealing', 'on', true);
    UPDATE stored_texts SET sealed = given.ciphertext
        FROM unnest(hashes, ciphertexts) AS given (hash, ciphertext)
        WHERE sha256 = given.hash AND substr(sealed, 1, 4) < substr(given.ciphertext, 1, 4);
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.sealing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION renew_stored_texts(bytea[], bytea[]) FROM PUBLIC;
"""
UNGUARD = """
DROP FUNCTION seal_stored_texts(bytea[], bytea[]);
DROP FUNCTION renew_stored_texts(bytea[], bytea[]);
DROP TRIGGER stored_texts_keeps_rows ON stored_texts;
DROP FUNCTION refuse_text_change();
CREATE TRIGGER stored_texts_keeps_rows BEFORE UPDATE OR DELETE ON stored_texts
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""
# Whoever deletes a text or a record, and in whatever way: its key is listed in the same transaction.
LIST_KEYS = """
CREATE FUNCTION list_unused_text_keys() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO unused_keys (key, noted_at) SELECT sha256, now() FROM old_rows WHERE sealed IS NOT NULL
        ON CONFLICT (key) DO UPDATE SET noted_at = excluded.noted_at, retired_at = NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER stored_texts_list_keys AFTER DELETE ON stored_texts REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION list_unused_text_keys();

CREATE FUNCTION list_unused_body_keys() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO unused_keys (key, noted_at) SELECT uuid_send(id), now() FROM old_rows WHERE get_byte(body || '\\x00', 0) = 2
        ON CONFLICT (key) DO UPDATE SET noted_at = excluded.noted_at, retired_at = NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER assemblies_list_keys AFTER DELETE ON assemblies REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION list_unused_body_keys();
"""
UNLIST_KEYS = """
DROP TRIGGER stored_texts_list_keys ON stored_texts;
DROP TRIGGER assemblies_list_keys ON assemblies;
DROP FUNCTION list_unused_text_keys();
DROP FUNCTION list_unused_body_keys();
"""
REFUSE_TO_LOSE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM stored_texts WHERE sealed IS NOT NULL)
        OR EXISTS (SELECT FROM assemblies WHERE substr(body, 1, 1) = '\\x02') THEN
        RAISE EXCEPTION 'there are encrypted records, which the former version cannot read';
    END IF;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0042_raised_levels")]

    operations = [
        migrations.CreateModel(
            name="UnusedKey",
            fields=[
                ("key", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ("noted_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("retired_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "unused_keys"},
        ),
        migrations.AddField("storedtext", "sealed", models.BinaryField(null=True)),
        migrations.AlterField("storedtext", "text", models.TextField(null=True)),
        migrations.AddConstraint(
            "storedtext",
            models.CheckConstraint(
                condition=models.Q(("text", None), ("sealed", None), _connector="XOR"), name="stored_text_once"
            ),
        ),
        migrations.RunSQL(GUARD, UNGUARD),
        migrations.RunSQL(LIST_KEYS, UNLIST_KEYS),
        migrations.RunSQL(migrations.RunSQL.noop, REFUSE_TO_LOSE),
    ]
