"""What was kept long enough goes, with proof; what is flagged, unsealed, shared or still in use stays."""

from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from uuid_utils.compat import uuid7

from agents.models import Agent, AgentFile
from agents.services import agent_create
from assembly.models import Assembly, Piece, Pruning, Seal, StoredSummary, StoredText, UnusedPiece, text_hash
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.pruning import PruneResult, records_prune, unused_prune
from assembly.records.reader import load_record, replay
from assembly.records.retention_policies import RetentionRule, assembly_flag, retention_set
from assembly.records.seals import pruning_seal
from privacy.erasure.holds import hold_lift, hold_set
from privacy.models import HoldKind
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.records.conftest import Ago, keep
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.refused_statements import refused

pytestmark = pytest.mark.django_db


def left() -> set[UUID]:
    return set(Assembly.objects.values_list("id", flat=True))


def test_without_a_policy_everything_stays(agent: Agent, ago: Ago) -> None:
    ago(agent, 3_000)
    assert records_prune() == PruneResult(0, 0)


def test_what_is_old_goes_and_a_sealed_line_says_so(agent: Agent, ago: Ago) -> None:
    old, young = ago(agent, 40), ago(agent, 20)
    sealed = dict(Seal.objects.get(number=1).sealed)
    keep(30)
    assert records_prune().records == 1
    assert left() == {young.id}
    line = Pruning.objects.get()
    assert (line.assemblies, line.days, line.by_ref) == ([old.id], 30, "system")
    assert bytes(line.hashes) == sealed[old.id]
    assert Seal.objects.get(pruning=line.id).number == 3


def test_each_team_has_its_own_time_and_the_others_that_of_the_organisation(agent: Agent, team: Team, ago: Ago) -> None:
    of_team, of_nobody = ago(agent, 40, team), ago(agent, 40)
    keep(30, team)
    records_prune()
    assert left() == {of_nobody.id}
    again = ago(agent, 20, team)
    keep(10)
    records_prune()
    assert left() == {again.id}, "the team's own policy counts, not the organisation's"
    assert of_team.id not in left()


def test_for_ever_can_be_a_teams_own_policy(agent: Agent, team: Team, ago: Ago) -> None:
    kept = ago(agent, 400, team)
    keep(None, team)
    keep(10)
    records_prune()
    assert left() == {kept.id}


def test_a_policy_that_is_changed_meanwhile_is_not_followed_any_more(
    agent: Agent, ago: Ago, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assembly.records.pruning.BATCH", 1)
    for day in (42, 41):
        ago(agent, day)
    policy = keep(30)
    seal = pruning_seal

    def change(pruning: Pruning) -> None:
        seal(pruning)
        retention_set(team=None, keeping=RetentionRule(None), expected_version=policy.version, principal=SYSTEM)

    monkeypatch.setattr("assembly.records.pruning.pruning_seal", change)
    assert records_prune().records == 1


def test_what_is_flagged_stays_where_the_policy_says_so(agent: Agent, ago: Ago) -> None:
    flagged = ago(agent, 40)
    assembly_flag(assembly=flagged, note="requested by: the auditor", principal=SYSTEM)
    policy = keep(30)
    assert records_prune().records == 0
    retention_set(
        team=None, keeping=RetentionRule(30, keep_flagged=False), expected_version=policy.version, principal=SYSTEM
    )
    assert records_prune().records == 1


def test_what_is_not_sealed_stays(agent: Agent, ago: Ago) -> None:
    unsealed = ago(agent, 40, seal=False)
    keep(30)
    records_prune()
    assert left() == {unsealed.id}


def test_what_another_repeats_stays_until_that_one_goes(agent: Agent, ago: Ago) -> None:
    first = ago(agent, 40, topic="tea")
    again = ago(agent, 40, topic="tea")
    assert again.decided_in == first.id
    assembly_flag(assembly=again, principal=SYSTEM)
    keep(30)
    assert records_prune().records == 0
    again.flag.delete()
    assert records_prune().records == 2


def test_many_go_in_batches_and_each_is_tried_once(agent: Agent, ago: Ago, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembly.records.pruning.BATCH", 2)
    ago(agent, 45, seal=False)
    for day in range(41, 45):
        ago(agent, day)
    stuck = Assembly.objects.order_by("created")[1]
    assembly_flag(assembly=stuck, principal=SYSTEM)
    keep(30)
    records_prune()
    assert left() == {stuck.id}
    assert Pruning.objects.count() >= 2


def test_texts_go_with_the_last_record_that_is_made_of_them(agent: Agent, ago: Ago) -> None:
    ago(agent, 40)
    file = AgentFile.objects.get(agent=agent, file_key="INSTRUCTIONS")
    file_save(file=file, content="Be quick.", expected_version=file.version, author=SYSTEM.author)
    young = ago(agent, 1)
    assert StoredText.objects.filter(sha256=text_hash("Be kind.")).exists()
    keep(30)
    assert records_prune().pieces > 0
    assert not StoredText.objects.filter(sha256=text_hash("Be kind.")).exists()
    assert not UnusedPiece.objects.exists()
    assert replay(load_record(Assembly.objects.get(id=young.id))).identical


def test_summaries_go_with_their_texts(agent: Agent, ago: Ago) -> None:
    ago(agent, 40)
    text = StoredText.objects.get(sha256=text_hash("Be kind."))
    other = StoredText.objects.exclude(sha256=text_hash("Be kind.")).first()
    assert other
    StoredSummary.objects.create(text_sha256=text.sha256, model="m", summary_sha256=other.sha256)
    keep(30)
    records_prune()
    assert not StoredSummary.objects.exists()


def test_a_writer_that_knows_a_piece_that_is_gone_sends_it_again(agent: Agent, ago: Ago) -> None:
    ago(agent, 40)
    keep(30)
    records_prune()
    assert not Piece.objects.exists()
    again = assemble(agent=agent, asked=AssemblyRequest(topic="again"), principal=SYSTEM).assembly
    assert replay(load_record(Assembly.objects.get(id=again.id))).identical


def test_pieces_in_use_are_never_taken_however_they_are_asked_for(agent: Agent, ago: Ago) -> None:
    young = ago(agent, 1)
    UnusedPiece.objects.bulk_create(UnusedPiece(piece=one) for one in (*young.told, *young.omitted))
    with connection.cursor() as cursor:
        cursor.execute("SELECT prune_unused(%s)", [[*young.told]])
    assert unused_prune() == 0
    assert replay(load_record(Assembly.objects.get(id=young.id))).identical


@pytest.mark.parametrize("table", ["assemblies", "pieces", "stored_texts", "seals", "prunings"])
def test_the_app_itself_deletes_nothing(table: str, agent: Agent, ago: Ago) -> None:
    ago(agent, 40)
    assert refused("default", f"DELETE FROM {table}")  # noqa: S608
    assert refused("default", f"SET LOCAL dossier.erasing = 'on'; DELETE FROM {table}")  # noqa: S608


def test_the_function_itself_takes_nothing_that_is_young_flagged_or_unsealed(agent: Agent, ago: Ago) -> None:
    young, flagged, unsealed = ago(agent, 5), ago(agent, 40), ago(agent, 41, seal=False)
    assembly_flag(assembly=flagged, principal=SYSTEM)
    ids = [young.id, flagged.id, unsealed.id, uuid4()]
    with connection.cursor() as cursor:
        cursor.execute("SELECT prune_assemblies(%s, %s, NULL, 30, true, 'system')", [uuid7(), ids])
        assert cursor.fetchone() == (0,)
    with pytest.raises(DatabaseError, match="for a day at least"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT prune_assemblies(%s, %s, NULL, 0, true, 'system')", [uuid7(), ids])
    assert not Pruning.objects.exists()


def test_what_a_legal_hold_protects_stays_until_it_is_lifted(
    agent: Agent, team: Team, admin: User, client: Client, ago: Ago
) -> None:
    other = agent_create(slug="other", name="Other", teams=[team], principal=SYSTEM)
    of_agent, of_team, of_other = ago(agent, 40), ago(other, 40, team), ago(other, 40)
    keep(30)
    holds = [
        hold_set(kind=kind, target=target, reason="A lawsuit.", principal=SYSTEM)
        for kind, target in ((HoldKind.AGENT, agent.id), (HoldKind.TEAM, team.id))
    ]
    assert records_prune() == PruneResult(1, 0, 2)
    assert left() == {of_agent.id, of_team.id}
    with connection.cursor() as cursor, transaction.atomic():  # nor by the function itself
        ids = [of_agent.id, of_team.id]
        cursor.execute("SELECT prune_assemblies(%s, %s, NULL, 30, true, 'system')", [uuid7(), ids])
        assert cursor.fetchone() == (0,)
    client.force_login(admin)
    assert "2 older contexts are not deleted, because of legal holds." in client.get("/retention/").content.decode()
    for hold in holds:
        hold_lift(hold=hold, principal=SYSTEM)
    assert records_prune().records == 2
    assert of_other.id not in left()
