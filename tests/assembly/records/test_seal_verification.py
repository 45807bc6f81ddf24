"""`verify_records` finds what the database's owner did to the record, and nothing where nobody did anything."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Model

from agents.models import Agent
from assembly.models import Assembly, NewAssembly, Seal, Webhook, WebhookDelivery
from assembly.records.seal_hashing import PURPOSE_FORM, SealLink, record_columns
from assembly.records.seal_verification import VerificationCounts, verify_records
from assembly.records.seals import newest_seal
from teams.models import Team
from tests.assembly.records.conftest import AsOwner, Kept, kinds, make_assembly

pytestmark = pytest.mark.usefixtures("sealed")

# Another value for each column, as SQL.
ALTERED = {
    "created": "created + interval '1 microsecond'",
    "agent_id": "gen_random_uuid()",
    "agent_slug": "agent_slug || 'x'",
    "agent_name": "agent_name || 'x'",
    "team_id": "NULL",
    "team_slug": "''",
    "team_name": "''",
    "requested_by": "'person'",
    "requester_name": "'Mallory'",
    "purpose": "'test'",
    "parent": "id",
    "decided_in": "id",
    "topic": "topic || ' '",
    "profile_name": "'other'",
    "profile_version": "profile_version + 1",
    "tokenizer": "'chars4'",
    "now": "now - interval '1 day'",
    "budget": "budget + 1",
    "tokens": "tokens + 1",
    "truncated": "NOT truncated",
    "left_out": "left_out + 1",
    "warnings": "'[\"BUDGET_EXCEEDED\"]'",
    "codes": "codes[2:]",
    "told": "told[2:]",
    "omitted": "omitted || told[1]",
    "sha256": "set_byte(sha256, 31, get_byte(sha256, 31) # 1)",
    "engine_version": "engine_version + 1",
    "assembly_ms": "assembly_ms + 1",
    "body": "set_byte(body, 5, get_byte(body, 5) # 1)",
}
UNSEALED = {"sensitivity"}
"""Who may read a record is no part of what it says."""


def test_nothing_is_wrong_where_nobody_did_anything() -> None:
    tally = VerificationCounts()
    assert list(verify_records(tally)) == []
    assert (tally.seals, tally.records) == (2, 6)
    assert tally.pieces > 0


def test_every_column_of_a_record_is_sealed() -> None:
    columns = {field.attname for field in Assembly._meta.concrete_fields} - UNSEALED
    assert sorted(record_columns(PURPOSE_FORM)) == sorted(columns) == sorted([*ALTERED, "id"])


def test_an_altered_column_is_found_whichever_it_is(sealed: list[Assembly], as_owner: AsOwner, kept: Kept) -> None:
    for column, value in ALTERED.items():
        with kept("assemblies", column):
            statement = f"UPDATE assemblies SET {column} = {value} WHERE id = %s"  # noqa: S608
            as_owner("assemblies", statement, [sealed[1].id])
            [finding] = verify_records(VerificationCounts())
        assert (finding.kind, finding.about) == ("record_altered", str(sealed[1].id)), column
        assert "of seal 1" in finding.sentence
    assert kinds() == []


def test_a_deleted_record_is_found(sealed: list[Assembly], as_owner: AsOwner) -> None:
    as_owner("assemblies", "DELETE FROM assemblies WHERE id = %s", [sealed[0].id])
    assert kinds() == ["record_missing"]


def test_webhooks_hear_of_damage(sealed: list[Assembly], as_owner: AsOwner) -> None:
    Webhook.objects.create(label="Chat", url="http://127.0.0.1:1/", events=["records.damaged"], sealed_secret="")
    as_owner("assemblies", "DELETE FROM assemblies WHERE id = %s", [sealed[0].id])
    with pytest.raises(CommandError):
        call_command("verify_records", stdout=StringIO())
    assert json.loads(WebhookDelivery.objects.get().body)["data"]["findings"] == 1


def test_a_reordered_pair_is_found(as_owner: AsOwner) -> None:
    swapped = "ARRAY[assemblies[2], assemblies[1]] || assemblies[3:]"
    as_owner("seals", f"UPDATE seals SET assemblies = {swapped} WHERE number = 2")  # noqa: S608
    assert kinds() == ["seal_altered", "record_altered", "record_altered"]


def test_a_pair_reordered_with_its_hashes_is_found(as_owner: AsOwner) -> None:
    swapped = "ARRAY[assemblies[2], assemblies[1]] || assemblies[3:]"
    hashes = "substr(hashes, 33, 32) || substr(hashes, 1, 32) || substr(hashes, 65)"
    as_owner("seals", f"UPDATE seals SET assemblies = {swapped}, hashes = {hashes} WHERE number = 2")  # noqa: S608
    assert kinds() == ["seal_altered"]


def test_a_seal_that_was_made_anew_breaks_the_chain(as_owner: AsOwner) -> None:
    first = Seal.objects.get(number=1)
    first.assemblies = [*first.assemblies[1:], first.assemblies[0]]
    first.hashes = bytes(first.hashes)[32:] + bytes(first.hashes)[:32]
    facts = [first.assemblies, first.hashes, SealLink.of(first).sha256]
    as_owner("seals", "UPDATE seals SET assemblies = %s, hashes = %s, sha256 = %s WHERE number = 1", facts)
    assert kinds() == ["chain_broken"]


def test_a_missing_seal_is_found(as_owner: AsOwner) -> None:
    as_owner("seals", "DELETE FROM seals WHERE number = 1")
    assert kinds() == ["seal_missing", *["record_forged"] * 3]


def test_a_chain_that_was_cut_short_shows_in_its_records_and_in_the_head(as_owner: AsOwner) -> None:
    head = run("--head").strip()
    as_owner("seals", "DELETE FROM seals WHERE number = 2")
    assert kinds() == ["record_forged"] * 3
    as_owner("assemblies", "DELETE FROM assemblies WHERE decided_in IS NOT NULL")
    as_owner("assemblies", "DELETE FROM assemblies WHERE topic IN ('tea', 'milk')")
    assert kinds() == [], "a tail that is gone whole shows only to who noted the head"
    with pytest.raises(CommandError, match="1 parts"):
        run(f"--expect={head}")


def test_an_altered_piece_is_found_whatever_of_it_it_is(as_owner: AsOwner, kept: Kept) -> None:
    one = "(SELECT sha256 FROM pieces WHERE ref LIKE 'agent_file:%' ORDER BY ref LIMIT 1)"
    for column in ("sha256", "text_sha256", "ref", "named", "facts"):
        value = {"facts": "facts || '{\"x\": 1}'", "ref": "'x'", "named": "'x'"}.get(column, f"sha256({column})")
        with kept("pieces", column):
            as_owner("pieces", f"UPDATE pieces SET {column} = {value} WHERE sha256 = {one}")  # noqa: S608
            assert "piece_altered" in kinds(), column
    assert kinds() == []


def test_an_altered_text_is_found(as_owner: AsOwner) -> None:
    as_owner("stored_texts", "UPDATE stored_texts SET sealed = sealed || 'x' WHERE sha256 = sha256('Be kind.')")
    assert kinds() == ["text_altered"]


def test_a_deleted_text_is_found(as_owner: AsOwner) -> None:
    as_owner("stored_texts", "DELETE FROM stored_texts WHERE sha256 = sha256('Be kind.')")
    assert kinds() == ["text_missing"]


def test_a_record_that_somebody_slipped_in_is_found(sealed: list[Assembly], as_owner: AsOwner) -> None:
    forged = sealed[0]
    forged.pk = "01999999-0000-7000-8000-000000000000"
    _insert(forged)
    assert kinds() == ["record_forged"]


def test_a_record_waits_for_its_seal_for_so_long_and_no_longer(agent: Agent, team: Team, as_owner: AsOwner) -> None:
    waiting = make_assembly(agent, team, "sugar")
    assert NewAssembly.objects.filter(assembly=waiting.id).exists()
    assert kinds() == []
    as_owner("assemblies", "UPDATE assemblies SET created = now() - interval '1 hour' WHERE id = %s", [waiting.id])
    assert kinds() == ["record_waiting"]


def test_only_what_is_newer_can_be_looked_at(sealed: list[Assembly], as_owner: AsOwner) -> None:
    between = Seal.objects.get(number=2).created
    as_owner("assemblies", "UPDATE assemblies SET budget = budget + 1 WHERE id = %s", [sealed[0].id])
    tally = VerificationCounts()
    assert list(verify_records(tally, between)) == []
    assert (tally.seals, tally.records) == (1, 3)


def test_the_command_says_it_to_people_and_to_programs(sealed: list[Assembly], as_owner: AsOwner) -> None:
    newest = newest_seal()
    assert newest
    assert "2 seals, 6 contexts, " in run()
    assert f"The newest seal is 2:{bytes(newest.sha256).hex()}." in run(f"--expect={run('--head').strip()}")
    as_owner("assemblies", "UPDATE assemblies SET budget = budget + 1 WHERE id = %s", [sealed[5].id])
    told = StringIO()
    with pytest.raises(CommandError, match="1 parts differ from their seals"):
        call_command("verify_records", "--json", stdout=told)
    finding, summary = map(json.loads, told.getvalue().splitlines())
    assert (finding["kind"], finding["about"]) == ("record_altered", str(sealed[5].id))
    assert (summary["ok"], summary["findings"], summary["records"]) == (False, 1, 6)


@pytest.mark.parametrize("arguments", [["--expect=2"], ["--expect=2:abc"], ["--since=yesterday"]])
def test_what_cannot_be_understood_is_refused(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*arguments)


def run(*arguments: str) -> str:
    told = StringIO()
    call_command("verify_records", *arguments, stdout=told)
    return told.getvalue()


def _insert(row: Model) -> None:
    row.save(force_insert=True)
