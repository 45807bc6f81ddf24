"""REST: for each route and method what it needs, and the body that is sent where it is allowed."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.archives import packed
from tests.memories.agent_items import BODIES as NEW
from tests.memories.agent_items import PATCHES
from tests.rights.needs import NEEDS
from tests.rights.world import OTHER_RULE, PROFILE, PUBLIC_URL, Owned, World

FILES = """
files                                           GET read
files/<slug:key>                                GET read        PUT edit
files/<slug:key>/versions                       GET read
files/<slug:key>/versions/<int:version>         GET read
files/<slug:key>/versions/<int:version>/compare GET read
memories                                        GET read        POST write
memories/batch                                  POST write
memories/search                                 GET read
memories/merge                                  POST write
memories/<uuid:id_>                             GET read        PATCH write     DELETE write
memories/<uuid:id_>/versions                    GET read
memories/<uuid:id_>/uses                        GET read
export                                          GET read
"""
"""Of a team as of an agent."""
KEPT = """
{noun}                                          GET read        POST write
{noun}/batch                                    POST write
{noun}/<uuid:id_>                               GET read        PATCH write     DELETE write
"""
"""Of each kind of things that an agent keeps."""
AGENTS = """
agents                                          GET anyone      POST organisation
agents/<slug:slug>                              GET read        PATCH manage    DELETE manage
agents/<slug:slug>/daily-logs                   GET read
agents/<slug:slug>/daily-logs/<slug:date>       GET read        POST write      PUT write       DELETE write
agents/<slug:slug>/daily-logs/<slug:date>/versions                              GET read
agents/<slug:slug>/daily-logs/<slug:date>/versions/<int:version>                GET read
agents/<slug:slug>/daily-logs/<slug:date>/versions/<int:version>/compare        GET read
agents/<slug:slug>/keys                         GET manage      POST manage
agents/<slug:slug>/keys/<uuid:id_>              GET manage      DELETE manage
agents/<slug:slug>/documents/<uuid:id_>/chunks  GET read
agents/<slug:slug>/graph                        GET read
agents/<slug:slug>/task-stack                   GET read
agents/<slug:slug>/task-stack/push              POST write
agents/<slug:slug>/task-stack/pop               POST write
agents/<slug:slug>/as-of                        GET read
"""
TEAMS = """
teams                                           GET anyone      POST organisation
teams/<slug:slug>                               GET read        PATCH manage    DELETE manage
teams/<slug:slug>/members                       GET manage
teams/<slug:slug>/members/<str:username>        GET manage        PUT manage      DELETE manage
teams/<slug:slug>/keys                          GET manage
teams/<slug:slug>/keys/<uuid:id_>               GET manage      PUT manage      DELETE manage
teams/<slug:slug>/retention                     GET read        PUT manage      DELETE manage
"""
OTHERS = """
organisation/files                              GET anyone      POST organisation
organisation/files/<slug:key>                   GET anyone      PUT organisation PATCH organisation DELETE organisation
organisation/files/<slug:key>/versions          GET anyone
organisation/files/<slug:key>/versions/<int:version>         GET anyone
organisation/files/<slug:key>/versions/<int:version>/compare GET anyone
schema                                          GET public
docs                                            GET public
keys                                            GET organisation POST organisation
keys/<uuid:id_>                                 GET organisation DELETE organisation
keys/<uuid:key_id>/limits                       GET organisation PUT organisation
limits                                          GET anyone
teams/<slug:slug>/limits                        GET manage      PUT manage
agents/<slug:slug>/limits                       GET manage      PUT manage
agents/<slug:slug>/keys/<uuid:key_id>/limits    GET manage      PUT manage
people/<uuid:id_>/limits                        GET organisation PUT organisation
tokens                                          POST anyone
compress                                        POST anyone
assemblies                                      GET anyone      POST read
memory/assemble                                 POST read
schemas/<str:name>                              GET public
assemblies/compare                              GET read
assemblies/<uuid:id_>                           GET read
assemblies/<uuid:id_>/decisions                 GET read
assemblies/<uuid:id_>/replay                    POST read
assemblies/<uuid:id_>/append                    POST write
assemblies/<uuid:id_>/feedback                  GET read        POST write
assemblies/<uuid:id_>/why-not                   GET read
assemblies/<uuid:id_>/as-of                     GET read
assemblies/<uuid:id_>/rerun                     GET read
assemblies/<uuid:id_>/what-if                   POST read
assemblies/<uuid:id_>/flag                      GET read        PUT write       DELETE write
assemblies/<uuid:id_>/bundle                    GET read
draft-previews                                  POST read
proposals                                       GET anyone      POST write
proposals/<uuid:id_>                            GET read        DELETE manage
proposals/<uuid:id_>/decision                   POST manage
proposals/<uuid:id_>/rerun                        POST read
assemblies/<uuid:id_>/recall-test               POST edit
recall-tests                                    GET anyone      POST edit
recall-tests/trial                              POST edit
recall-tests/guards                             GET anyone      POST edit
recall-tests/guards/<uuid:id_>                  GET read        DELETE edit
recall-tests/<uuid:id_>                         GET read        PUT edit        DELETE edit
recall-tests/<uuid:id_>/run                     POST read
recall-tests/<uuid:id_>/results                 GET read
retention                                       GET anyone PUT organisation DELETE organisation
profiles                                        GET anyone      POST organisation
profiles/check                                  POST anyone
profiles/<slug:name>                            GET anyone      PUT organisation DELETE organisation
profiles/<slug:name>/learned-weights            GET anyone      POST organisation
profiles/<slug:name>/learned-weights/switch     POST organisation
profiles/<slug:name>/tuning                     GET anyone      PUT organisation DELETE organisation
profiles/<slug:name>/versions                   GET anyone
profiles/<slug:name>/versions/<int:version>     GET anyone
rules                                           GET anyone      POST edit
rules/check                                     POST anyone
rules/backtest                                       POST edit
rules/recall-tests                                       POST edit
rules/<slug:name>                               GET read        PUT edit        DELETE edit
rules/<slug:name>/versions                      GET read
rules/<slug:name>/versions/<int:version>        GET read
external-sources                                GET anyone      POST organisation
external-sources/<slug:name>                    GET anyone      PATCH organisation DELETE organisation
external-sources/<slug:name>/query                POST organisation
kv-policies                                     GET anyone
kv-policies/<slug:content_type>                 GET anyone      PUT organisation
kv-policies/<slug:content_type>/preview         POST organisation
teams/<slug:slug>/kv-policies                   GET read
teams/<slug:slug>/kv-policies/<slug:content_type>               GET read        PUT manage
teams/<slug:slug>/kv-policies/<slug:content_type>/preview       POST manage
kv-policies/<slug:content_type>/versions        GET anyone
teams/<slug:slug>/kv-policies/<slug:content_type>/versions      GET read
lifecycle-reports                               GET organisation
lifecycle-reports/<uuid:id_>/undo               POST organisation
activities                                      GET anyone
readings                                        GET anyone
subjects                                        GET organisation  POST organisation
subjects/search                                 POST organisation
subjects/<uuid:id_>                             GET organisation  PUT organisation  DELETE organisation
subjects/<uuid:id_>/versions                    GET organisation
subjects/<uuid:id_>/mentions                    GET organisation  POST organisation
subjects/<uuid:id_>/scan                        POST organisation
subjects/<uuid:id_>/restriction                 POST organisation
subjects/<uuid:id_>/correction-plan             POST organisation
subjects/<uuid:id_>/corrections                 GET organisation  POST organisation
subjects/<uuid:id_>/corrections/<uuid:correction_id>        GET organisation
subjects/<uuid:id_>/corrections/<uuid:correction_id>/undo   POST organisation
subjects/<uuid:id_>/erasure-plan                GET organisation
erasures                                        GET organisation  POST organisation
erasures/<uuid:id_>                             GET organisation
legal-holds                                     GET organisation  POST organisation
legal-holds/<uuid:id_>                          GET organisation  DELETE organisation
subjects/<uuid:id_>/files                       POST organisation
subjects/<uuid:id_>/files/<uuid:file_id>        GET organisation
subjects/<uuid:id_>/files/<uuid:file_id>/content    GET organisation
trends                                          GET anyone
conflicts                                       GET anyone
conflicts/<uuid:id_>                            GET read
conflicts/<uuid:id_>/resolve                    POST decide
conflicts/<uuid:id_>/undo                       POST decide
alerts                                          GET anyone
alerts/<uuid:id_>                               GET read
alerts/<uuid:id_>/acknowledge                           POST edit
alerts/<uuid:id_>/resolve                        POST edit
alerts/<uuid:id_>/reopen                       POST edit
webhooks                                        GET anyone      POST manage
webhooks/<uuid:id_>                             GET manage      PATCH manage    DELETE manage
webhooks/<uuid:id_>/secret                      GET manage      POST manage
webhooks/<uuid:id_>/test                        POST manage
webhooks/<uuid:id_>/deliveries                  GET manage
webhooks/<uuid:id_>/deliveries/<uuid:delivery>/resend POST manage
export                                          GET organisation
import                                          POST member
import/<uuid:id_>                               GET own
import/<uuid:id_>/apply                         POST own
jobs                                            GET anyone
jobs/<uuid:id_>                                 GET read
jobs/<uuid:id_>/retry                           POST write
"""

Body = Callable[[Owned, World], Any]
RECALL_TEST = {"name": "New", "expectations": [{"kind": "include", "text": "tea"}]}
MEMORY = {"kind": "fact", "text": "New"}
SUBJECT = {"name": "Zora Quell", "kind": "customer"}
WRONG = {"kind": "name", "wrong": "Nobody Inparticular", "right": "Nobody at All"}
ERASURE = {"reason": "They asked for it.", "expected_mentions": 0}
SOMETHING = "00000000-0000-0000-0000-000000000009"
LIMITS = {
    "requests_under_way": 9, "requests_per_minute": None, "text_bytes_per_day": None, "record_bytes_per_day": None,
}  # fmt: skip


def _plain(body: Any) -> Body:
    return lambda _owned, _world: body


def _merge(kind: str) -> Body:
    def body(owned: Owned, _world: World) -> Any:
        seen = [{"id": str(owned.ids[f"{kind}/{name}"]), "version": 1} for name in ("one", "other")]
        return {"keep": seen[0]["id"], "memories": seen}

    return body


def _context(**others: Any) -> Body:
    return lambda owned, _world: {"agent": owned.agent.slug, "team": owned.team.slug, **others}


# What is sent; where nothing stands, an empty object.
BODIES: dict[tuple[str, str], Body] = {
    ("agents", "POST"): lambda owned, _world: {"slug": "fresh", "name": "Fresh", "teams": [owned.team.slug]},
    ("agents/<slug:slug>", "PATCH"): _plain({"name": "New"}),
    ("kv-policies/<slug:content_type>", "PUT"): _plain({"policy": None}),
    ("kv-policies/<slug:content_type>/preview", "POST"): _plain({"policy": {}}),
    ("teams/<slug:slug>/kv-policies/<slug:content_type>", "PUT"): _plain({"policy": None}),
    ("teams/<slug:slug>/kv-policies/<slug:content_type>/preview", "POST"): _plain({"policy": {}}),
    ("agents/<slug:slug>/daily-logs/<slug:date>", "POST"): _plain({"text": "New"}),
    ("agents/<slug:slug>/daily-logs/<slug:date>", "PUT"): _plain({"content": "New"}),
    ("agents/<slug:slug>/task-stack/push", "POST"): _plain({"goal": "New"}),
    ("agents/<slug:slug>/task-stack/pop", "POST"): _plain({"result": "Done"}),
    ("agents/<slug:slug>/keys", "POST"): _plain({"name": "New"}),
    ("keys", "POST"): _plain({"name": "New"}),
    ("organisation/files", "POST"): _plain({"key": "fresh", "title": "Fresh"}),
    ("organisation/files/<slug:key>", "PUT"): _plain({"content": "New"}),
    ("organisation/files/<slug:key>", "PATCH"): _plain({"title": "Renamed"}),
    ("teams", "POST"): _plain({"slug": "fresh", "name": "Fresh"}),
    ("teams/<slug:slug>", "PATCH"): _plain({"name": "New"}),
    ("teams/<slug:slug>/members/<str:username>", "PUT"): _plain({"role": "editor"}),
    ("teams/<slug:slug>/retention", "PUT"): _plain({"days": 30}),
    ("tokens", "POST"): _plain({"content": "Tea"}),
    ("compress", "POST"): _plain({"content": "Tea. Cake.", "max_tokens": 3}),
    ("assemblies", "POST"): _context(topic="tea"),
    ("memory/assemble", "POST"): _context(request_id="one", intent="tea"),
    ("assemblies/<uuid:id_>/append", "POST"): _plain({"event": {"type": "message", "content": {"text": "Tea"}}}),
    ("assemblies/<uuid:id_>/what-if", "POST"): _plain({"max_tokens": 300}),
    ("assemblies/<uuid:id_>/feedback", "POST"): _plain({"satisfaction": 0.9}),
    # The version does not exist, so those who may switch are told that; the room's own tests switch.
    ("profiles/<slug:name>/learned-weights/switch", "POST"): _plain({"version": 1, "is_on": True}),
    ("profiles/<slug:name>/tuning", "PUT"): _plain({"is_on": True}),
    ("assemblies/<uuid:id_>/flag", "PUT"): _plain({"note": "Look"}),
    ("conflicts/<uuid:id_>/resolve", "POST"): _plain({"choice": "both"}),
    ("subjects", "POST"): _plain(SUBJECT),
    ("subjects/search", "POST"): _plain({"query": "Zora Quell"}),
    ("subjects/<uuid:id_>", "PUT"): _plain(SUBJECT),
    ("subjects/<uuid:id_>/mentions", "POST"): _plain({"mentions": [SOMETHING], "status": "linked"}),
    ("subjects/<uuid:id_>/correction-plan", "POST"): _plain(WRONG),
    ("subjects/<uuid:id_>/corrections", "POST"): _plain({**WRONG, "reason": "Misspelt."}),
    ("subjects/<uuid:id_>/corrections/<uuid:correction_id>/undo", "POST"): lambda _owned, world: {
        "things": [str(world.ids["corrected"])]
    },
    ("subjects/<uuid:id_>/restriction", "POST"): _plain({"restricted": True}),
    ("erasures", "POST"): lambda _owned, world: {"subject": str(world.ids["subjects"]), **ERASURE},
    ("legal-holds", "POST"): _plain({"kind": "subject", "target": SOMETHING, "reason": "A lawsuit."}),
    ("draft-previews", "POST"): _context(files={"GOALS": "New"}),
    ("proposals", "POST"): lambda owned, _world: {
        "assembly_id": str(owned.ids["assemblies"]), "overrides": {"max_tokens": 300},
    },
    ("proposals/<uuid:id_>/decision", "POST"): _plain({"status": "accepted"}),
    ("assemblies/<uuid:id_>/recall-test", "POST"): _plain({}),
    ("recall-tests", "POST"): lambda owned, _world: {"team": owned.team.slug, **RECALL_TEST},
    ("recall-tests/trial", "POST"): lambda owned, _world: {
        "team": owned.team.slug, "file": "GOALS", "content": "New",
    },
    ("recall-tests/guards", "POST"): lambda owned, _world: {"team": owned.team.slug, "file": "GOALS"},
    ("recall-tests/<uuid:id_>", "PUT"): _plain(RECALL_TEST),
    ("retention", "PUT"): _plain({"days": 30}),
    ("profiles", "POST"): _plain({"name": "fresh", "content": PROFILE.replace("name: house", "name: fresh")}),
    ("profiles/check", "POST"): _plain({"content": PROFILE}),
    ("profiles/<slug:name>", "PUT"): _plain({"content": f"{PROFILE}\n\n"}),
    ("rules", "POST"): lambda owned, _world: {"name": "fresh", "content": OTHER_RULE, "team": owned.team.slug},
    ("rules/check", "POST"): _plain({"content": OTHER_RULE}),
    ("rules/recall-tests", "POST"): lambda owned, _world: {"content": OTHER_RULE, "team": owned.team.slug},
    ("rules/backtest", "POST"): lambda owned, _world: {"content": OTHER_RULE, "team": owned.team.slug},
    ("rules/<slug:name>", "PUT"): _plain({"content": f"{OTHER_RULE}\n"}),
    ("external-sources", "POST"): _plain({"name": "fresh", "label": "Fresh", "url": PUBLIC_URL}),
    ("external-sources/<slug:name>", "PATCH"): _plain({"label": "New"}),
    ("external-sources/<slug:name>/query", "POST"): _plain({"query": "tea"}),
    ("webhooks", "POST"): lambda owned, _world: {
        "team": owned.team.slug, "label": "New", "url": PUBLIC_URL, "events": ["alert.opened"],
    },
    ("webhooks/<uuid:id_>", "PATCH"): _plain({"label": "New"}),
    ("import", "POST"): lambda owned, _world: packed({f"teams/{owned.team.slug}/GOALS.md": "Taken over"}),
}  # fmt: skip
for limited in ("teams/<slug:slug>", "agents/<slug:slug>", "agents/<slug:slug>/keys/<uuid:key_id>",
                "keys/<uuid:key_id>", "people/<uuid:id_>"):  # fmt: skip
    BODIES[f"{limited}/limits", "PUT"] = _plain(LIMITS)
for owners, kind in (("agents/<slug:slug>", "agents"), ("teams/<slug:slug>", "teams")):
    BODIES |= {
        (f"{owners}/files/<slug:key>", "PUT"): _plain({"content": "New"}),
        (f"{owners}/memories", "POST"): _plain(MEMORY),
        (f"{owners}/memories/batch", "POST"): _plain({"items": [MEMORY]}),
        (f"{owners}/memories/merge", "POST"): _merge(kind),
        (f"{owners}/memories/<uuid:id_>", "PATCH"): _plain({"text": "New"}),
    }


def _of_kept(noun: str) -> Body:
    """A new thing; relations hang on an entity that is there."""

    def body(owned: Owned, _world: World) -> Any:
        ends = {"source": str(owned.ids["entities"]), "target": str(owned.ids["entities"])}
        return {**NEW[noun], **(ends if noun == "relations" else {})}

    return body


def _batch(body: Body) -> Body:
    return lambda owned, world: {"items": [body(owned, world)]}


for noun in NEW:
    BODIES |= {
        (f"agents/<slug:slug>/{noun}", "POST"): _of_kept(noun),
        (f"agents/<slug:slug>/{noun}/batch", "POST"): _batch(_of_kept(noun)),
        (f"agents/<slug:slug>/{noun}/<uuid:id_>", "PATCH"): _plain(PATCHES[noun]),
    }

QUERIES: Mapping[str, Callable[[Owned], str]] = {
    "agents/<slug:slug>/memories/search": lambda _owned: "q=tea",
    "teams/<slug:slug>/memories/search": lambda _owned: "q=tea",
    "agents/<slug:slug>/as-of": lambda owned: f"team={owned.team.slug}&at={owned.ids['moment']}",
    "assemblies/compare": lambda owned: f"before={owned.ids['assemblies']}&after={owned.ids['other context']}",
    "assemblies/<uuid:id_>/as-of": lambda owned: f"at={owned.ids['moment']}",
    "assemblies/<uuid:id_>/why-not": lambda _owned: "q=tea",
    "schema": lambda _owned: "format=json",
}


VERSIONS = {"kv-policies": 0, "files": 2, "daily-logs": 2, "memories": 2, "profiles": 2, "rules": 2}
"""Of the things that are not at their first version."""


def rows() -> dict[str, dict[str, str]]:
    """The table: for each route the need of each method."""
    text = AGENTS + TEAMS + OTHERS
    for owners in ("agents/<slug:slug>", "teams/<slug:slug>"):
        text += "".join(f"{owners}/{line}\n" for line in FILES.splitlines() if line)
    for noun in NEW:
        text += "".join(f"agents/<slug:slug>/{line}\n" for line in KEPT.format(noun=noun).splitlines() if line)
    found = {}
    for line in filter(str.strip, text.splitlines()):
        route, *needs = line.split()
        found[route] = dict(zip(needs[::2], needs[1::2], strict=True))
        if unknown := {need.rstrip("?") for need in found[route].values()} - NEEDS:
            raise ValueError(f"{line}: {unknown}")
    return found
