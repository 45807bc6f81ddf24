"""One visit: somebody sends a request, it is undone, and what came back is judged."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from django.db import transaction
from django.utils import timezone

from assembly.pipeline.read_cache import row_cache
from assembly.records.insert_sql import stored_pieces
from teams.activity.models import ActivityAction
from teams.models import Activity
from tests.rights.needs import ALLOWED, FORBIDDEN, NO_CHOICE, NOT_ALLOWED, SIGN_IN, Standing, expected
from tests.rights.world import FOREIGN, LED, MIXED_ROLES, Owned, World

SEES = {
    "mixed": frozenset(MIXED_ROLES),
    "outsider": frozenset({FOREIGN}),
    "foreign key": frozenset({FOREIGN}),
    **dict.fromkeys(("viewer", "editor", "own key", "writing key"), frozenset({LED})),
}
"""The teams of which somebody may read at all; everybody else of none, admins of the organisation of all."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, when nothing of the request was left any more."""

    status: int
    location: str
    text: str

    @property
    def outcome(self) -> str | int:
        """What it amounts to: allowed, sign in, or the status of a refusal."""
        if self.status == 401 or (self.status == 302 and self.location.startswith("/accounts/login/")):
            return SIGN_IN
        return ALLOWED if self.status < 400 else self.status


Answers = dict[tuple[str, str], Answer]
"""What somebody was answered at an address. As each request is undone, who asks again is answered the same."""


EXPORTS = (ActivityAction.EXPORT_DOWNLOADED, ActivityAction.BUNDLE_DOWNLOADED)


def undone(request: Callable[[], Any]) -> Answer:
    """The answer to a request that is rolled back. Fails if it is a file that the activity log does not name."""
    begun = timezone.now()
    with transaction.atomic():
        answer = request()
        if "attachment" in answer.headers.get("Content-Disposition", "") and answer.status_code == 200:
            entries = Activity.objects.filter(action__in=EXPORTS, created__gte=begun)
            assert entries.exists(), "a file was downloaded, and the activity log has no entry: see `export_record`"
        content = answer.getvalue() if answer.streaming else answer.content
        transaction.set_rollback(True)
    stored_pieces.forget()
    row_cache.forget()
    return Answer(answer.status_code, answer.get("Location", ""), _read(content))


def _read(content: bytes) -> str:
    """The content as a text; of an archive, the names and the texts of its files."""
    if not content.startswith(b"PK"):
        return content.decode(errors="replace")
    with ZipFile(BytesIO(content)) as archive:
        return "\n".join(f"{name}\n{archive.read(name).decode(errors='replace')}" for name in archive.namelist())


def faults(
    need: str, visits: Iterable[tuple[str, str, Standing]], world: World, send: Callable[[str, Owned], Answer]
) -> list[str]:
    """Who is answered otherwise than the need says, or reads what is not for them, each in a line."""
    wrong = []
    for who, slug, standing in visits:
        owned = world.teams[slug]
        answer = send(who, owned)
        if not fits(answer.outcome, need, who, standing):
            wanted = expected(need, who, standing)
            wrong.append(f"{who} ({standing}) at {slug}: {answer.outcome}, not {wanted}")
        refused = answer.outcome not in {ALLOWED, NO_CHOICE}
        shown = leaked(answer.text, who, owned, world, refused=refused)
        wrong += [f"{who} at {slug} reads of {one}" for one in shown]
    return wrong


def fits(outcome: str | int, need: str, who: str, standing: Standing) -> bool:
    """Whether the outcome is what the need says."""
    if need == "-":
        return outcome in {NOT_ALLOWED, SIGN_IN}
    wanted = expected(need, who, standing)
    return outcome in {NO_CHOICE, FORBIDDEN} if wanted == NO_CHOICE else outcome == wanted


def leaked(text: str, who: str, owned: Owned, world: World, *, refused: bool) -> set[str]:
    """The teams of which the answer shows a text, though the visitor may not see them, or was refused."""
    seen = frozenset(world.teams) if "admin" in who else SEES.get(who, frozenset())
    hidden = set(world.teams) - seen | ({owned.team.slug} if refused else set())
    return {slug for slug in hidden if world.teams[slug].secret in text}
