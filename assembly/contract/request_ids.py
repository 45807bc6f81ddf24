"""A request with the same id and the same body, from the same principal, has one effect and always the same answer.

The id is claimed in the transaction that records the assembly, so both are stored or neither. Of identical requests at
once, all may assemble, but one records; the others wait for it at the claim, record nothing, and answer from its
record. No text of an answer is stored: the answer is built again from the record.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from assembly.models import Assembly
from assembly.pipeline.answer_cache import canonical_json
from config.db.statements import Statement, execute_sql, run_statement
from config.http.errors import DossierError
from teams.principal import Principal

RETENTION = timedelta(hours=24)
MAX_SWEPT = 20
"""Expired ids that one claim deletes at most."""

FIND_SQL = """
SELECT body_sha256, assembly FROM memory_requests
WHERE principal = %(principal)s AND request_id = %(request_id)s AND created >= %(expired)s
"""
CLAIM_SQL = """
WITH swept AS (
    DELETE FROM memory_requests WHERE id IN (
        SELECT id FROM memory_requests
        WHERE created < %(expired)s AND NOT (principal = %(principal)s AND request_id = %(request_id)s)
        ORDER BY created LIMIT %(swept)s FOR UPDATE SKIP LOCKED
    )
)
INSERT INTO memory_requests AS known (principal, request_id, body_sha256, assembly, created)
VALUES (%(principal)s, %(request_id)s, %(body_sha256)s, %(assembly)s, %(now)s)
ON CONFLICT (principal, request_id) DO UPDATE
    SET body_sha256 = excluded.body_sha256, assembly = excluded.assembly, created = excluded.created
    WHERE known.created < %(expired)s
"""


class RequestIdReused(DossierError):
    status = 422
    code = "request_id_reused"
    title = "This request_id was used for another request"


class AlreadyAssembled(Exception):
    """Another request with this id was recorded first, so this one must not be recorded."""


@dataclass(frozen=True, slots=True)
class RequestId:
    """A request id identifies a request, with its principal and the SHA-256 of its body as canonical JSON."""

    principal: str
    request_id: str
    body_sha256: bytes

    @classmethod
    def of(cls, memory_request: Mapping[str, Any], principal: Principal) -> "RequestId":
        """Return the id of a valid request."""
        return cls(principal.ref, memory_request["request_id"], hashlib.sha256(canonical_json(memory_request)).digest())

    def find_assembly(self) -> UUID | None:
        """Return the id of the assembly that this request got before; None if it is new. Raises RequestIdReused."""
        parameters = {"principal": self.principal, "request_id": self.request_id, "expired": _expired(timezone.now())}
        found = run_statement(Statement(FIND_SQL, parameters))
        if not found:
            return None
        (body, assembly) = found[0]
        if bytes(body) != self.body_sha256:
            raise RequestIdReused(
                "Use a new request_id for a new request. Nothing was assembled.",
                errors={"request_id": [{"code": "reused", "message": "Another request with this id was sent before."}]},
            )
        return UUID(str(assembly))

    def claim(self, assembly: Assembly) -> None:
        """Note that this request got the assembly. Must run in the transaction that records it.

        Raises AlreadyAssembled if the id is taken.
        """
        now = timezone.now()
        claimed = execute_sql(
            CLAIM_SQL,
            {
                "principal": self.principal,
                "request_id": self.request_id,
                "body_sha256": self.body_sha256,
                "assembly": assembly.id,
                "now": now,
                "expired": _expired(now),
                "swept": MAX_SWEPT,
            },
        )
        if not claimed:
            raise AlreadyAssembled


def _expired(now: datetime) -> datetime:
    return now - RETENTION
