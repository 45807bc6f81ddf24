"""The tables of the key store. They are created where they are missing, by whoever needs them first.

A key that was destroyed leaves its row, without the key, so that a stored value can tell since when it is erased.
"""

TABLES_EXIST = "SELECT to_regclass('key_destructions') IS NOT NULL"
LOCK = "SELECT pg_advisory_xact_lock(hashtext('dossier key store'))"
CREATE_TABLES = """
CREATE TABLE IF NOT EXISTS data_keys (
    id bytea NOT NULL,
    generation integer NOT NULL,
    wrapped bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz,
    destroyed_at timestamptz,
    PRIMARY KEY (id, generation),
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))
);
CREATE TABLE IF NOT EXISTS text_words (id bytea PRIMARY KEY, words tsvector NOT NULL);
CREATE INDEX IF NOT EXISTS text_words_words ON text_words USING gin (words) WITH (gin_pending_list_limit = 512);
CREATE TABLE IF NOT EXISTS key_destructions (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    number bigint NOT NULL
);
INSERT INTO key_destructions (number) VALUES (0) ON CONFLICT DO NOTHING;
"""
