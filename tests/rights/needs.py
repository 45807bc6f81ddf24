"""What a route needs, and who therefore gets what from it: the rules of access as one small table.

A need is a word:

| need | who may |
|---|---|
| public | everybody, signed in or not |
| anyone | everybody who is signed in, or has a key |
| read | who sees the team |
| write | its editors and admins, and the agent's key |
| edit | its editors and admins, and keys with the scope |
| decide | its editors and admins, and no agent's key |
| manage | its admins |
| organisation | admins of the organisation, whatever the team |
| member | who belongs to any team |
| writer | who may edit in any team |
| manager | who manages any team |
| account | the signed-in person: pages of allauth about the own account, tried in tests/browser |
| own | the person whose it is (here: the mixed one), and nobody else |
| - | nobody: the method is not allowed |

A question mark behind it: the form names the thing, and to who may not, it is no valid choice, or the form is not
for them at all.
"""

from typing import Literal, get_args

from tests.rights.world import FOREIGN, HELPED, LED, WATCHED

Need = Literal[
    "public",
    "anyone",
    "read",
    "write",
    "edit",
    "decide",
    "manage",
    "organisation",
    "member",
    "writer",
    "manager",
    "account",
    "own",
    "-",
]
Standing = Literal["nobody", "none", "viewer", "editor", "admin", "organisation", "key", "writing key"]
"""What somebody is where the thing belongs."""

# Who tries, at the things of which team, and what they are there.
VISITS: tuple[tuple[str, str, Standing], ...] = (
    ("mixed", LED, "admin"),
    ("mixed", HELPED, "editor"),
    ("mixed", WATCHED, "viewer"),
    ("mixed", FOREIGN, "none"),
    ("outsider", LED, "none"),
    ("stranger", LED, "none"),
    ("viewer", LED, "viewer"),
    ("editor", LED, "editor"),
    ("admin", LED, "organisation"),
    ("nobody", LED, "nobody"),
)
KEY_VISITS: tuple[tuple[str, str, Standing], ...] = (
    ("own key", LED, "key"),
    ("own key", FOREIGN, "none"),
    ("writing key", LED, "writing key"),
    ("foreign key", LED, "none"),
    ("admin key", LED, "organisation"),
)
MAY: dict[Standing, frozenset[Need]] = {
    "nobody": frozenset(),
    "none": frozenset(),
    "viewer": frozenset({"read"}),
    "editor": frozenset({"read", "write", "edit", "decide"}),
    "admin": frozenset({"read", "write", "edit", "decide", "manage"}),
    "organisation": frozenset({"read", "write", "edit", "decide", "manage", "organisation"}),
    "key": frozenset({"read", "write"}),
    "writing key": frozenset({"read", "write", "edit"}),
}
ALLOWED, FORBIDDEN, NOT_FOUND, SIGN_IN, NOT_ALLOWED = "allowed", 403, 404, "sign in", 405
NEEDS = frozenset(get_args(Need))
NO_CHOICE = 422
SOMEWHERE = {
    "member": frozenset(
        {"mixed", "outsider", "viewer", "editor", "admin", "own key", "writing key", "foreign key", "admin key"}
    ),
    "writer": frozenset({"mixed", "outsider", "editor", "admin"}),
    "manager": frozenset({"mixed", "outsider", "admin"}),
}
"""Who may write or manage in any team, so that a page about no team in particular is for them."""


def expected(need: str, who: str, standing: Standing) -> str | int:
    """What somebody of that standing is answered: allowed, sign in, or a status."""
    if need.endswith("?"):
        answer = expected(need[:-1], who, standing)
        return NO_CHOICE if answer in {FORBIDDEN, NOT_FOUND} else answer
    if need == "public":
        return ALLOWED
    if standing == "nobody":
        return SIGN_IN
    if need == "-":
        return NOT_ALLOWED
    if need == "own":
        return ALLOWED if who == "mixed" else NOT_FOUND
    if need in SOMEWHERE:
        return ALLOWED if who in SOMEWHERE[need] else FORBIDDEN
    if need == "anyone" or need in MAY[standing]:
        return ALLOWED
    return NOT_FOUND if standing == "none" and need != "organisation" else FORBIDDEN
