"""Expected requests are made of recorded ones: what an agent has asked before, as it would ask for it today.

Requests with turns of a conversation or an additional context are never expected, because such texts do not come twice;
nor are those whose topic is above internal, because sealed topics cannot be compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from assembly.models import Assembly
from assembly.models.encryption import RecordErased
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.shared_readings import readings_key
from assembly.records.reader import load_record
from assembly.records.record_errors import RecordDamaged
from assembly.simulation.basis import ContextOwners, OwnerDeleted, load_owners, request_of_record


@dataclass(frozen=True, slots=True)
class ExpectedRequest:
    """A request that will probably come: whose context, and what is asked."""

    owners: ContextOwners
    asked: AssemblyRequest

    @property
    def key(self) -> bytes:
        """The key of its readings."""
        return readings_key(self.owners.agent, self.owners.team, self.asked.for_agent(self.owners.agent))


def expected_requests(records: Sequence[UUID], session: str | None = None) -> Iterator[ExpectedRequest]:
    """Yield the requests of the records, as they would be asked today.

    With `session`, one that belonged to a session is expected in this one; an empty one stands for none.
    """
    for id_ in records:
        if expected := expected_request(id_):
            asked = expected.asked
            if session is not None and asked.session:
                asked = replace(asked, session=session)
            yield ExpectedRequest(expected.owners, asked)


def expected_request(record: UUID) -> ExpectedRequest | None:
    """Return the request of the record; None if it cannot be asked again."""
    row = Assembly.objects.filter(id=record).first()
    if row is None:
        return None
    try:
        owners, asked = load_owners(row), request_of_record(load_record(row))
    except (OwnerDeleted, RecordDamaged, RecordErased):
        return None
    return None if asked.history or asked.additional_context else ExpectedRequest(owners, asked)
