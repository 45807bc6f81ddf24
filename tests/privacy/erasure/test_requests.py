"""Who may ask for an erasure, what forbids it, and what is spared."""

import json

import pytest
from django.test import Client

from agents.keys import api_key_create
from agents.models import Agent
from config.db.statements import fetch_rows
from config.http.errors import Conflict, Invalid
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from privacy.erasure.erasure_job import erasure_run
from privacy.erasure.holds import hold_lift, hold_set
from privacy.erasure.live_rows import place_erase
from privacy.erasure.places import PLACES
from privacy.erasure.services import erasure_plan, erasure_request
from privacy.erasure.sought import Sought
from privacy.erasure.spelling_patterns import SpellingPatterns
from privacy.models import HoldKind, MentionStatus, Subject, SubjectErasure, SubjectMention
from privacy.subjects.services import mentions_decide
from teams.legal_holds import HeldByLaw
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.client import Api, problem
from tests.privacy.erasure.world import begin
from tests.privacy.subject_factories import NAME, link_all, scanned_subject

REASON = "They asked for it."
pytestmark = pytest.mark.django_db


@pytest.fixture
def subject(agent: Agent, team: Team) -> Subject:
    """A person whom one memory of the agent mentions, and another of the same name whom another memory mentions."""
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} likes tea."), principal=SYSTEM)
    subject = scanned_subject()
    link_all(subject)
    return subject


def test_only_admins_of_the_organisation_and_their_keys_see_and_begin_erasures(
    subject: Subject, admin: User, owner: User, admin_api: Api, client: Client
) -> None:
    body = {"subject": str(subject.id), "reason": REASON, "expected_mentions": 1}
    pages = ["/erasures/", f"/subjects/{subject.id}/erase/", f"/subjects/{subject.id}/hold/"]
    agents_key = Api(api_key_create(agent=Agent.objects.get(), name="Ada")[1])
    assert problem(agents_key.post("erasures", body))[0] == 403
    assert problem(agents_key.get("erasures"))[0] == 403
    client.force_login(owner)
    assert [client.get(page).status_code for page in pages] == [403, 403, 403]
    assert client.post(pages[1], {"reason": REASON, "confirmed": 1}).status_code == 403
    assert not SubjectErasure.objects.exists()
    client.force_login(admin)
    assert [client.get(page).status_code for page in pages] == [200, 200, 200]
    begun = admin_api.post("erasures", body)
    assert begun.status_code == 202, begun.content
    document = json.loads(begun.content)
    assert json.loads(admin_api.get(f"erasures/{document['id']}").content)["state"] == "running"
    assert client.get(f"/erasures/{document['id']}/").status_code == 200
    assert client.get(f"/erasures/{document['id']}/report.json").status_code == 404


def test_a_legal_hold_forbids_it_visibly(subject: Subject, admin: User, admin_api: Api, client: Client) -> None:
    held = admin_api.post("legal-holds", {"kind": "subject", "target": str(subject.id), "reason": "A lawsuit."})
    assert held.status_code == 201, held.content
    refused = admin_api.post("erasures", {"subject": str(subject.id), "reason": REASON, "expected_mentions": 1})
    assert problem(refused) == (409, "legal_hold")
    assert b"A lawsuit." in refused.content
    client.force_login(admin)
    page = client.get(f"/subjects/{subject.id}/erase/").content.decode()
    assert "A legal hold forbids the erasure." in page
    assert "A lawsuit." in page
    assert "Erase permanently" not in page
    assert client.post(f"/subjects/{subject.id}/erase/", {"reason": REASON, "confirmed": 1}).status_code == 422
    assert "A lawsuit." in client.get("/erasures/").content.decode()
    assert admin_api.delete(f"legal-holds/{json.loads(held.content)['id']}").status_code == 204
    assert begin(subject).state == "running"


@pytest.mark.parametrize("kind", [HoldKind.TEAM, HoldKind.AGENT])
def test_a_hold_on_the_owner_of_a_thing_forbids_it_too(subject: Subject, team: Team, kind: HoldKind) -> None:
    mention = SubjectMention.objects.get(subject=subject)
    if kind == HoldKind.TEAM:
        SubjectMention.objects.filter(id=mention.id).update(team_id=team.id, agent_id=None)
    mention.refresh_from_db()
    target = mention.team_id or mention.agent_id
    assert target
    hold = hold_set(kind=kind, target=target, reason="An audit.", principal=SYSTEM)
    with pytest.raises(HeldByLaw):
        begin(subject)
    hold_lift(hold=hold, principal=SYSTEM)
    assert begin(subject)


def test_a_hold_that_was_set_after_the_request_stops_what_has_not_begun(subject: Subject) -> None:
    erasure = begin(subject)
    hold = hold_set(kind=HoldKind.SUBJECT, target=subject.id, reason="A lawsuit.", principal=SYSTEM)
    erasure_run(erasure)
    erasure.refresh_from_db()
    assert (erasure.state, erasure.blocked_because) == ("blocked", "A legal hold forbids it: A lawsuit.")
    assert Memory.everything.filter(text__contains=NAME).exists()
    hold_lift(hold=hold, principal=SYSTEM)


def test_the_number_of_things_is_confirmed(subject: Subject, admin: User, client: Client, admin_api: Api) -> None:
    client.force_login(admin)
    answer = client.post(f"/subjects/{subject.id}/erase/", {"reason": REASON, "confirmed": 2})
    assert answer.status_code == 422
    assert "not the number of linked texts" in answer.content.decode()
    body = {"subject": str(subject.id), "reason": REASON, "expected_mentions": 2}
    assert problem(admin_api.post("erasures", body))[0] == 409
    assert not SubjectErasure.objects.exists()
    done = client.post(f"/subjects/{subject.id}/erase/", {"reason": REASON, "confirmed": 1})
    assert done.status_code == 302
    erasure = SubjectErasure.objects.get()
    assert erasure.whole == []  # nothing was ticked


def test_a_reason_is_needed_and_names_nobody(subject: Subject) -> None:
    for reason in ("", "  ", f"{NAME.upper()} asked"):
        with pytest.raises(Invalid):
            erasure_request(subject=subject, reason=reason, principal=SYSTEM)


def test_what_is_not_reviewed_has_to_be_reviewed_first(subject: Subject) -> None:
    ids = list(SubjectMention.objects.values_list("id", flat=True))
    mentions_decide(subject=subject, mentions=ids, status=MentionStatus.FOUND, principal=SYSTEM)
    with pytest.raises(Conflict, match="not reviewed"):
        begin(subject)


def test_one_erasure_of_a_subject_at_a_time(subject: Subject) -> None:
    begin(subject)
    with pytest.raises(Conflict, match="under way"):
        begin(subject)


def test_memories_are_deleted_as_a_whole_unless_somebody_chooses_otherwise(subject: Subject) -> None:
    [planned] = erasure_plan(subject).mentions
    assert planned.is_whole
    assert [one.is_whole for one in erasure_plan(subject, whole=()).mentions] == [False]


def test_names_that_are_unique_stay_different(subject: Subject, agent: Agent) -> None:
    for number, name in enumerate((NAME, NAME.upper(), f"{NAME} again")):
        facts = MemoryFacts(kind="fact", text=f"Tea {number}", external_id=name)
        memory_create(owner=agent, facts=facts, principal=SYSTEM)
    place = next(one for one in PLACES if one.table == "memories")
    assert place_erase(place, Sought.of(begin(subject))) == 4
    ids = set(Memory.everything.exclude(external_id="").values_list("external_id", flat=True))
    assert len(ids) == 3
    assert all(id_.startswith("[erased") for id_ in ids)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{NAME}'s tea", "[erased]'s tea"),
        ("zora\nquell", "[erased]"),
        ("ZORA  QUELL, zora quell.", "[erased], [erased]."),
        ("Mozora Quellen", "Mozora Quellen"),
        ("(Zora Quell)", "([erased])"),
        ("Zora_Quell", "Zora_Quell"),
    ],
)
def test_spellings_are_replaced_as_whole_words_in_any_case(text: str, left: str) -> None:
    patterns = SpellingPatterns.of([NAME])
    assert fetch_rows("SELECT erased_text(%s, %s)", [text, patterns.strict]) == [(left,)]
    assert patterns.is_in(text) == (text != left)
    value = {"a": [text, {text: 1}], "b": None}
    [[replaced]] = fetch_rows("SELECT erased_json(%s::jsonb, %s)", [json.dumps(value), patterns.strict])
    found = json.loads(replaced) if isinstance(replaced, str) else replaced
    assert found == {"a": [left, {left: 1}], "b": None}
    assert patterns.is_in_value(value) == (text != left)
