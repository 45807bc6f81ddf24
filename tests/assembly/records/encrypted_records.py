"""Records of an agent with a text that no other test has, and all that the data tells of them."""

from typing import Any

from django.db import connections

from agents.models import Agent, AgentFile
from assembly.models import Assembly, StoredText, text_hash
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.insert_sql import stored_pieces
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save


def write(agent: Agent, text: str) -> None:
    file = AgentFile.objects.get(agent=agent, file_key="INSTRUCTIONS")
    file_save(file=file, content=text, expected_version=file.version, author=SYSTEM.author)


def made(agent: Agent, topic: str = "tea") -> Assembly:
    one = assemble(agent=agent, asked=AssemblyRequest(topic=topic), principal=SYSTEM).assembly
    return Assembly.objects.get(id=one.id)


def text_of(marker: str) -> StoredText:
    return StoredText.objects.get(sha256=text_hash(marker))


def in_plain(settings: Any, agent: Agent, topic: str = "tea") -> Assembly:
    """A record from before there was a key store."""
    settings.ENCRYPT_RECORDS = False
    one = made(agent, topic)
    settings.ENCRYPT_RECORDS = True
    stored_pieces.forget()
    return one


def dump() -> str:
    """All rows of all tables, as `pg_dump --data-only` writes them."""
    found = []
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE nspname IN ('public', 'pgmq') AND relkind = 'r'"
        )
        tables = cursor.fetchall()
        assert ("public", "stored_texts") in tables
        for schema, table in tables:
            with cursor.copy(f'COPY "{schema}"."{table}" TO STDOUT') as rows:
                found += [bytes(row).decode() for row in rows]
    return "".join(found)
