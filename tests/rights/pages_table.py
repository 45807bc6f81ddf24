"""The pages: for each route what GET and what POST need, and what is posted where it is allowed.

“=” in the column of POST: the page takes no form, and answers as to GET.
"""

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from tests.archives import packed
from tests.rights.needs import NEEDS
from tests.rights.world import OTHER_RULE, PROFILE, PUBLIC_URL, Owned, World

TABLE = """
                                                                        GET           POST
metrics                                                                 public        -
accounts/login/                                                         public        public
accounts/logout/                                                        account       account
accounts/inactive/                                                      public        -
accounts/reauthenticate/                                                account       account
accounts/password/change/                                               account       account
accounts/password/set/                                                  account       account
accounts/2fa/                                                           account       account
accounts/2fa/authenticate/                                              account       account
accounts/2fa/reauthenticate/                                            account       account
accounts/2fa/totp/activate/                                             account       account
accounts/2fa/totp/deactivate/                                           account       account
accounts/2fa/recovery-codes/                                            account       account
accounts/2fa/recovery-codes/generate/                                   account       account
accounts/2fa/recovery-codes/download/                                   account       account
accounts/settings/                                                      account       account
accounts/sessions/                                                      account       account
accounts/sessions/end-others/                                           account       account
accounts/sessions/<uuid:id_>/end/                                       account       account

                                                                        anyone        =
organisation/                                                           anyone        =
organisation/new/                                                       organisation  organisation
organisation/files/<slug:key>/                                          anyone        organisation
organisation/files/<slug:key>/settings/                                 organisation  organisation
organisation/files/<slug:key>/delete/                                   organisation  organisation
organisation/files/<slug:key>/history/                                  anyone        =
organisation/files/<slug:key>/history/compare/                          anyone        =
organisation/files/<slug:key>/history/<int:number>/                     anyone        =
organisation/files/<slug:key>/history/<int:number>/restore/             -             organisation
organisation/files/<slug:key>/preview/                                  organisation  organisation
teams/                                                                  anyone        =
teams/new/                                                              organisation  organisation
teams/<slug:slug>/                                                      read          =
teams/<slug:slug>/settings/                                             manage        manage
teams/<slug:slug>/delete/                                               manage        manage
teams/<slug:slug>/members/                                              manage        manage
teams/<slug:slug>/members/<uuid:user_id>/role/                          -             manage
teams/<slug:slug>/members/<uuid:user_id>/remove/                        manage        manage
teams/<slug:slug>/keys/                                                 manage        =
teams/<slug:slug>/keys/<uuid:key_id>/grant/                             -             manage
teams/<slug:slug>/keys/<uuid:key_id>/withdraw/                          -             manage
teams/<slug:slug>/files/<team_file_key:key>/                            read          edit
teams/<slug:slug>/files/<team_file_key:key>/history/                    read          =
teams/<slug:slug>/files/<team_file_key:key>/history/compare/            read          =
teams/<slug:slug>/files/<team_file_key:key>/history/<int:number>/       read          =
teams/<slug:slug>/files/<team_file_key:key>/history/<int:number>/restore/   -         edit
teams/<slug:slug>/files/<team_file_key:key>/preview/                      edit          edit
teams/<slug:slug>/export/                                               read          =
teams/<slug:slug>/export/download/                                      read          =
teams/<slug:slug>/memories/                                             read          =
teams/<slug:slug>/memories/new/                                         write         write
teams/<slug:slug>/memories/selected/                                    -             write
teams/<slug:slug>/memories/merge/                                       write         write
teams/<slug:slug>/retention/                                            manage        manage
teams/<slug:slug>/trends/                                               read          =

keys/                                                                   organisation  organisation
keys/<uuid:key_id>/revoke/                                              organisation  organisation
keys/<uuid:key_id>/limits/                                              organisation  organisation
limits/                                                                 anyone        =
teams/<slug:slug>/limits/                                               manage        manage
agents/<slug:slug>/limits/                                              manage        manage
agents/<slug:slug>/keys/<uuid:key_id>/limits/                           manage        manage
people/<uuid:id_>/limits/                                               organisation  organisation
people/                                                                 organisation  organisation
people/<uuid:id_>/                                                      organisation  organisation
people/<uuid:id_>/password/                                             -             organisation
people/<uuid:id_>/invitation/                                           organisation  =
people/<uuid:id_>/sign-out/                                             -             organisation
people/<uuid:id_>/second-factor/                                        organisation  organisation

agents/                                                                 anyone        =
agents/new/                                                             organisation  organisation
agents/<slug:slug>/                                                     read          =
agents/<slug:slug>/settings/                                            manage        manage
agents/<slug:slug>/delete/                                              manage        manage
agents/<slug:slug>/keys/                                                manage        manage
agents/<slug:slug>/keys/<uuid:key_id>/revoke/                           manage        manage
agents/<slug:slug>/files/<agent_file_key:key>/                          read          edit
agents/<slug:slug>/files/<agent_file_key:key>/history/                  read          =
agents/<slug:slug>/files/<agent_file_key:key>/history/compare/          read          =
agents/<slug:slug>/files/<agent_file_key:key>/history/<int:number>/     read          =
agents/<slug:slug>/files/<agent_file_key:key>/history/<int:number>/restore/ -         edit
agents/<slug:slug>/files/<agent_file_key:key>/preview/                    edit          edit
agents/<slug:slug>/logs/                                                read          =
agents/<slug:slug>/logs/<date:date>/                                    read          =
agents/<slug:slug>/logs/<date:date>/edit/                               write         write
agents/<slug:slug>/logs/<date:date>/history/                            read          =
agents/<slug:slug>/logs/<date:date>/history/compare/                    read          =
agents/<slug:slug>/logs/<date:date>/history/<int:number>/               read          =
agents/<slug:slug>/logs/<date:date>/history/<int:number>/restore/       -             write
agents/<slug:slug>/logs/<date:date>/preview/                              write         write
agents/<slug:slug>/export/                                              read          =
agents/<slug:slug>/export/download/                                     read          =
agents/<slug:slug>/memories/                                            read          =
agents/<slug:slug>/memories/new/                                        write         write
agents/<slug:slug>/memories/selected/                                   -             write
agents/<slug:slug>/memories/merge/                                      write         write
agents/<slug:slug>/as-of/                                               read          -
agents/<slug:slug>/trends/                                              read          =
agents/<slug:slug>/events/                                              read          =
agents/<slug:slug>/events/<uuid:event_id>/                              read          =
agents/<slug:slug>/sessions/                                            read          =
agents/<slug:slug>/sessions/<uuid:session_id>/                          read          =
agents/<slug:slug>/graph/                                               read          =
agents/<slug:slug>/entities/                                            read          =
agents/<slug:slug>/entities/new/                                        write         write
agents/<slug:slug>/entities/<uuid:thing_id>/                            read          =
agents/<slug:slug>/entities/<uuid:thing_id>/edit/                       write         write
agents/<slug:slug>/entities/<uuid:thing_id>/delete/                     write         write
agents/<slug:slug>/entities/<uuid:thing_id>/relations/new/              write         write
agents/<slug:slug>/relations/<uuid:thing_id>/edit/                      write         write
agents/<slug:slug>/relations/<uuid:thing_id>/delete/                    write         write
agents/<slug:slug>/patterns/                                            read          =
agents/<slug:slug>/patterns/new/                                        write         write
agents/<slug:slug>/patterns/<uuid:thing_id>/                            read          =
agents/<slug:slug>/patterns/<uuid:thing_id>/edit/                       write         write
agents/<slug:slug>/patterns/<uuid:thing_id>/delete/                     write         write
agents/<slug:slug>/threads/                                             read          =
agents/<slug:slug>/threads/new/                                         write         write
agents/<slug:slug>/threads/<uuid:thing_id>/                             read          =
agents/<slug:slug>/threads/<uuid:thing_id>/edit/                        write         write
agents/<slug:slug>/threads/<uuid:thing_id>/delete/                      write         write
agents/<slug:slug>/threads/<uuid:thing_id>/switch/                      -             write
agents/<slug:slug>/tools/                                               read          =
agents/<slug:slug>/tools/new/                                           write         write
agents/<slug:slug>/tools/<uuid:thing_id>/                               read          =
agents/<slug:slug>/tools/<uuid:thing_id>/edit/                          write         write
agents/<slug:slug>/tools/<uuid:thing_id>/delete/                        write         write
agents/<slug:slug>/documents/                                           read          =
agents/<slug:slug>/documents/new/                                       write         write
agents/<slug:slug>/documents/<uuid:thing_id>/                           read          =
agents/<slug:slug>/documents/<uuid:thing_id>/edit/                      write         write
agents/<slug:slug>/documents/<uuid:thing_id>/delete/                    write         write
agents/<slug:slug>/tasks/                                               read          =
agents/<slug:slug>/tasks/push/                                          write         write
agents/<slug:slug>/tasks/pop/                                           write         write

memories/<uuid:id_>/                                                    read          =
memories/<uuid:id_>/edit/                                               write         write
memories/<uuid:id_>/pin/                                                -             write
memories/<uuid:id_>/retire/                                             write         write
memories/<uuid:id_>/bring-back/                                         -             write
memories/<uuid:id_>/separate/                                           -             write
memories/<uuid:id_>/versions/                                           read          =
memories/<uuid:id_>/versions/<int:number>/                              read          =
memories/<uuid:id_>/versions/<int:number>/restore/                      -             write

preview/                                                                anyone        read?
size/<slug:key>/                                                        -             anyone
contexts/                                                               anyone        =
contexts/compare/                                                       anyone        =
contexts/download/                                                      anyone        anyone
contexts/lists/<uuid:id_>/                                              own           =
contexts/lists/<uuid:id_>/file/                                         own           =
contexts/<uuid:id_>/                                                    read          =
contexts/<uuid:id_>/replay/                                             -             read
contexts/<uuid:id_>/text/                                               read          =
contexts/<uuid:id_>/why-not/                                            read          =
contexts/<uuid:id_>/items/                                              read          =
contexts/<uuid:id_>/exact/                                              read          =
contexts/<uuid:id_>/rules-and-sources/                                  read          =
contexts/<uuid:id_>/json/                                               read          =
contexts/<uuid:id_>/json/file/                                          read          =
contexts/selected/                                                      -             anyone
contexts/<uuid:id_>/feedback/                                           -             write
contexts/<uuid:id_>/flag/                                               -             write
contexts/<uuid:id_>/bundle/                                             read          =
contexts/<uuid:id_>/rerun/                                              read          =
contexts/<uuid:id_>/what-if/                                            read          read
storage/                                                                anyone        =
storage/<slug:content_type>/                                            organisation  organisation
storage/reports/<uuid:id_>/                                             organisation  =
sensitivity/<slug:kind>/<uuid:id_>/                                     read          write
storage/reports/<uuid:id_>/undo/                                        -             organisation
teams/<slug:slug>/storage/                                              read          =
teams/<slug:slug>/storage/<slug:content_type>/                          manage        manage
retention/                                                              organisation  organisation
retention/retry/                                                        -             organisation
contexts/<uuid:id_>/recall-test/                                        -             edit
drafts/<uuid:id_>/recall-tests/                                         own           =
recall-tests/                                                           anyone        =
recall-tests/new/                                                       writer        edit?
recall-tests/guard/                                                     -             edit
recall-tests/<uuid:id_>/                                                read          =
recall-tests/<uuid:id_>/edit/                                           edit          edit
recall-tests/<uuid:id_>/run/                                            -             read
recall-tests/<uuid:id_>/archive/                                        -             edit
recall-tests/<uuid:id_>/delete/                                         edit          edit
profiles/<slug:name>/edit/recall-tests/                                 -             organisation
rules/new/recall-tests/                                                 -             edit?
rules/<slug:name>/edit/recall-tests/                                    -             edit
proposals/                                                              anyone        =
proposals/<uuid:id_>/                                                   read          =
proposals/<uuid:id_>/decide/                                            -             manage
proposals/<uuid:id_>/delete/                                            manage        manage

profiles/                                                               anyone        =
profiles/new/                                                           organisation  organisation
profiles/check/                                                         -             anyone
profiles/<slug:name>/                                                   anyone        =
profiles/<slug:name>/edit/                                              organisation  organisation
profiles/<slug:name>/delete/                                            organisation  organisation
profiles/<slug:name>/learned-weights/                                   anyone        =
profiles/<slug:name>/learned-weights/learn/                             -             organisation
profiles/<slug:name>/learned-weights/switch/                            -             organisation
profiles/<slug:name>/tuning/switch/                                     -             organisation
profiles/<slug:name>/tuning/reset/                                      -             organisation
profiles/<slug:name>/history/                                           anyone        =
profiles/<slug:name>/history/compare/                                   anyone        =
profiles/<slug:name>/history/<int:number>/                              anyone        =
profiles/<slug:name>/history/<int:number>/restore/                      -             organisation
rules/                                                                  anyone        =
rules/new/                                                              writer        edit?
rules/new/backtest/                                                          -             edit?
rules/check/                                                            -             anyone
rules/<slug:name>/                                                      read          =
rules/<slug:name>/edit/                                                 edit          edit
rules/<slug:name>/edit/backtest/                                             -             edit
rules/<slug:name>/backtest/                                                  -             read
rules/<slug:name>/switch/                                               -             edit
rules/<slug:name>/delete/                                               edit          edit
rules/<slug:name>/history/                                              read          =
rules/<slug:name>/history/compare/                                      read          =
rules/<slug:name>/history/<int:number>/                                 read          =
rules/<slug:name>/history/<int:number>/restore/                         -             edit
external-sources/                                                       anyone        =
external-sources/new/                                                   organisation  organisation
external-sources/<slug:name>/                                           anyone        =
external-sources/<slug:name>/edit/                                      organisation  organisation
external-sources/<slug:name>/query/                                       -             organisation
external-sources/<slug:name>/switch/                                    -             organisation
external-sources/<slug:name>/delete/                                    organisation  organisation
first-steps/hide/                                                       -             anyone
search/                                                                 anyone        =
activity/                                                               anyone        =
activity/log.csv                                                        anyone        =
readings/                                                               anyone        =
readings/reason/                                                        anyone        =
readings/log.csv                                                        anyone        =
subjects/                                                               organisation  organisation
subjects/new/                                                           organisation  organisation
subjects/<uuid:id_>/                                                    organisation  =
subjects/<uuid:id_>/edit/                                               organisation  organisation
subjects/<uuid:id_>/scan/                                               -             organisation
subjects/<uuid:id_>/mentions/                                           -             organisation
subjects/<uuid:id_>/restriction/                                        organisation  organisation
subjects/<uuid:id_>/correct/                                            organisation  organisation
subjects/<uuid:id_>/corrections/<uuid:correction_id>/                   organisation  =
subjects/<uuid:id_>/corrections/<uuid:correction_id>/undo/              -             organisation
subjects/<uuid:id_>/files/                                              organisation  organisation
subjects/<uuid:id_>/files/<uuid:file_id>/                               organisation  =
subjects/<uuid:id_>/delete/                                             organisation  organisation
subjects/<uuid:id_>/erase/                                              organisation  organisation
subjects/<uuid:id_>/hold/                                               organisation  organisation
agents/<slug:slug>/hold/                                                organisation  organisation
teams/<slug:slug>/hold/                                                 organisation  organisation
erasures/                                                               organisation  =
erasures/<uuid:id_>/                                                    organisation  =
erasures/<uuid:id_>/report.json                                         organisation  =
trends/                                                                 anyone        =
trends/files-over-limit.csv                                             anyone        =
alerts/                                                                 anyone        =
alerts/selected/                                                        -             anyone
alerts/<uuid:id_>/acknowledge/                                                  -             edit
alerts/<uuid:id_>/resolve/                                               -             edit
alerts/<uuid:id_>/reopen/                                              -             edit
conflicts/                                                              anyone        =
conflicts/selected/                                                     -             anyone
conflicts/<uuid:id_>/                                                   read          =
conflicts/<uuid:id_>/resolve/                                           -             write
conflicts/<uuid:id_>/undo/                                              -             write
webhooks/                                                               manager       =
webhooks/new/                                                           manager       manage?
webhooks/<uuid:id_>/                                                    manage        =
webhooks/<uuid:id_>/edit/                                               manage        manage
webhooks/<uuid:id_>/secret/                                             manage        =
webhooks/<uuid:id_>/secret/change/                                      -             manage
webhooks/<uuid:id_>/test/                                               -             manage
webhooks/<uuid:id_>/messages/<uuid:delivery>/resend/                      -             manage
webhooks/<uuid:id_>/switch/                                             -             manage
webhooks/<uuid:id_>/delete/                                             manage        manage

export/                                                                 organisation  =
export/download/                                                        organisation  =
import/                                                                 anyone        member
import/<uuid:id_>/                                                      own           =
import/<uuid:id_>/apply/                                                -             own
jobs/                                                                   anyone        =
jobs/<uuid:id_>/                                                        read          =
jobs/<uuid:id_>/retry/                                                  -             write
notifications/                                                          anyone        =
notifications/read/                                                     -             anyone
notifications/<uuid:id_>/                                               own           -
drafts/                                                                 anyone        =
drafts/<uuid:id_>/                                                      own           =
drafts/<uuid:id_>/forget/                                               own           own
"""


Body = Callable[[Owned, World], Mapping[str, Any]]


def _version(number: int = 1, **others: Any) -> Body:
    return lambda _owned, _world: {"version": number, **others}


def _plain(**facts: Any) -> Body:
    return lambda _owned, _world: facts


def _of_agent(owned: Owned, _world: World) -> Mapping[str, Any]:
    """The settings of an agent that stays where it is."""
    return {"version": 1, "name": "Renamed", "timezone": "UTC", "teams": owned.team.id}


def _merge(owned: Owned, _world: World, kind: str) -> Mapping[str, Any]:
    one, other = owned.ids[f"{kind}/one"], owned.ids[f"{kind}/other"]
    return {"keep": one, "text": "", "seen": f"{one}@1 {other}@1"}


# What is posted; where nothing stands, an empty form.
BODIES: Mapping[str, Body] = {
    "readings/reason/": _plain(reason="Ticket 7"),
    "organisation/new/": _plain(title="New"),
    "sensitivity/<slug:kind>/<uuid:id_>/": _plain(sensitivity=1, note=""),
    "organisation/files/<slug:key>/": _version(2, content="New", deed="preview"),
    "organisation/files/<slug:key>/settings/": _version(2, title="Renamed"),
    "organisation/files/<slug:key>/delete/": _plain(typed="house-style"),
    "organisation/files/<slug:key>/history/<int:number>/restore/": _version(2, note=""),
    "organisation/files/<slug:key>/preview/": _version(2, content="New"),
    "teams/new/": _plain(name="New"),
    "teams/<slug:slug>/settings/": _version(name="Renamed", secret_handling="refuse", reading_reasons="never"),
    "teams/<slug:slug>/delete/": lambda owned, _world: {"typed": owned.team.slug},
    "teams/<slug:slug>/members/": lambda owned, _world: {"username": owned.member.username, "role": "viewer"},
    "teams/<slug:slug>/members/<uuid:user_id>/role/": _plain(role="editor"),
    "teams/<slug:slug>/files/<team_file_key:key>/": _version(2, content="New", deed="preview"),
    "teams/<slug:slug>/files/<team_file_key:key>/history/<int:number>/restore/": _version(2, note=""),
    "teams/<slug:slug>/files/<team_file_key:key>/preview/": _version(2, content="New"),
    "teams/<slug:slug>/memories/new/": _version(0, text="New", kind="fact", salience=0.5, credibility=0.5),
    "teams/<slug:slug>/memories/merge/": lambda owned, world: _merge(owned, world, "teams"),
    "teams/<slug:slug>/memories/selected/": lambda owned, _world: {
        "action": "export", "pick": f"{owned.ids['teams/one']}:1",
    },
    "agents/<slug:slug>/memories/selected/": lambda owned, _world: {
        "action": "export", "pick": f"{owned.ids['agents/one']}:1",
    },
    "contexts/selected/": lambda owned, _world: {"action": "export", "pick": str(owned.ids["contexts"])},
    "teams/<slug:slug>/retention/": _version(rule="days", days=30),
    "keys/": _plain(name="New"),
    "people/": _plain(name="New", username="new"),
    "people/<uuid:id_>/": _plain(name="Renamed", is_active="on"),
    "agents/new/": _plain(name="New", timezone="UTC"),
    "agents/<slug:slug>/settings/": _of_agent,
    "agents/<slug:slug>/delete/": lambda owned, _world: {"typed": owned.agent.slug},
    "agents/<slug:slug>/keys/": _plain(name="New"),
    "agents/<slug:slug>/files/<agent_file_key:key>/": _version(2, content="New", deed="preview"),
    "agents/<slug:slug>/files/<agent_file_key:key>/history/<int:number>/restore/": _version(2, note=""),
    "agents/<slug:slug>/files/<agent_file_key:key>/preview/": _version(2, content="New"),
    "agents/<slug:slug>/logs/<date:date>/edit/": _version(2, content="New", deed="preview"),
    "agents/<slug:slug>/logs/<date:date>/history/<int:number>/restore/": _version(2, note=""),
    "agents/<slug:slug>/logs/<date:date>/preview/": _version(2, content="New"),
    "agents/<slug:slug>/memories/new/": _version(0, text="New", kind="fact", salience=0.5, credibility=0.5),
    "agents/<slug:slug>/memories/merge/": lambda owned, world: _merge(owned, world, "agents"),
    "agents/<slug:slug>/entities/new/": _version(0, name="New", type="person", salience=0.5),
    "agents/<slug:slug>/entities/<uuid:thing_id>/edit/": _version(name="New", type="person", salience=0.5),
    "agents/<slug:slug>/entities/<uuid:thing_id>/relations/new/": lambda owned, _world: {
        "version": 0, "type": "likes", "weight": 0.5, "target": f"{owned.secret} entities (Person)",
    },
    "agents/<slug:slug>/relations/<uuid:thing_id>/edit/": _version(type="likes", weight=0.5),
    "agents/<slug:slug>/patterns/new/": _version(0, name="New", guidance="Ask.", applications=0, successes=0),
    "agents/<slug:slug>/patterns/<uuid:thing_id>/edit/": _version(
        name="New", guidance="Ask.", applications=0, successes=0
    ),
    "agents/<slug:slug>/threads/new/": _version(0, title="New", status="active"),
    "agents/<slug:slug>/threads/<uuid:thing_id>/edit/": _version(title="New", status="active"),
    "agents/<slug:slug>/threads/<uuid:thing_id>/switch/": _version(),
    "agents/<slug:slug>/tools/new/": _version(0, name="new"),
    "agents/<slug:slug>/tools/<uuid:thing_id>/edit/": _version(name="new"),
    "agents/<slug:slug>/documents/new/": _version(0, path="new.md", content="New"),
    "agents/<slug:slug>/documents/<uuid:thing_id>/edit/": _version(path="new.md", content="New"),
    "agents/<slug:slug>/tasks/push/": _plain(goal="New"),
    "agents/<slug:slug>/tasks/pop/": lambda owned, _world: {"frame": owned.ids["tasks"], "result": "Done"},
    "memories/<uuid:id_>/edit/": _version(2, text="New", kind="fact", salience=0.5, credibility=0.5),
    "memories/<uuid:id_>/pin/": _version(2),
    "memories/<uuid:id_>/retire/": _version(2, reason="Gone"),
    "memories/<uuid:id_>/bring-back/": _version(2),
    "memories/<uuid:id_>/separate/": lambda owned, _world: {"version": owned.ids["teams/merged version"]},
    "memories/<uuid:id_>/versions/<int:number>/restore/": _version(2),
    "preview/": lambda owned, _world: {"agent": owned.agent.slug, "team": owned.team.slug, "topic": "tea"},
    "size/<slug:key>/": _plain(content="New"),
    "contexts/download/": _plain(format="csv"),
    "contexts/<uuid:id_>/feedback/": _plain(satisfaction="0.75", note="Good"),
    "contexts/<uuid:id_>/flag/": _plain(keep="on"),
    "contexts/<uuid:id_>/what-if/": _plain(max_tokens=300, topic="tea"),
    "retention/": _version(rule="days", days=30),
    "recall-tests/new/": lambda owned, _world: {"team": owned.team.slug, "name": "New", "include": "tea", "version": 0},
    "recall-tests/guard/": lambda owned, _world: {"about": owned.team.files.get(file_key="GOALS").about, "on": ""},
    "recall-tests/<uuid:id_>/edit/": _version(name="Renamed"),
    "profiles/<slug:name>/edit/recall-tests/": _version(2, content=PROFILE),
    "rules/new/recall-tests/": lambda owned, _world: {"owner": f"team:{owned.team.slug}", "content": OTHER_RULE},
    "rules/<slug:name>/edit/recall-tests/": _version(2, content=OTHER_RULE),
    "conflicts/<uuid:id_>/resolve/": _plain(choice="both"),
    "subjects/": _plain(q="Nobody"),
    "subjects/new/": _version(0, name="Zora Quell", kind="customer"),
    "subjects/<uuid:id_>/edit/": _version(name="Zora Quell", kind="customer"),
    "subjects/<uuid:id_>/mentions/": _plain(action="link"),
    "subjects/<uuid:id_>/correct/": _plain(
        kind="name", wrong="Nobody Inparticular", right="Nobody at All", reason="Misspelt.", action="apply"
    ),
    "subjects/<uuid:id_>/restriction/": _plain(restricted="yes"),
    "subjects/<uuid:id_>/erase/": _plain(reason="They asked for it.", confirmed="0"),
    "subjects/<uuid:id_>/hold/": _plain(reason="A lawsuit."),
    "agents/<slug:slug>/hold/": _plain(reason="A lawsuit."),
    "teams/<slug:slug>/hold/": _plain(reason="A lawsuit."),
    "proposals/<uuid:id_>/decide/": _plain(accept=""),
    "profiles/new/": _plain(name="fresh", content=PROFILE.replace("name: house", "name: fresh")),
    "profiles/check/": _plain(content=PROFILE),
    "profiles/<slug:name>/edit/": _version(2, content=f"{PROFILE}\n\n"),
    "profiles/<slug:name>/history/<int:number>/restore/": _version(2, note=""),
    "rules/new/": lambda owned, _world: {"name": "fresh", "owner": f"team:{owned.team.slug}", "content": OTHER_RULE},
    "rules/new/backtest/": lambda owned, _world: {"owner": f"team:{owned.team.slug}", "content": OTHER_RULE},
    "rules/check/": _plain(content=OTHER_RULE),
    "rules/<slug:name>/edit/backtest/": _version(2, content=f"{OTHER_RULE}\n"),
    "rules/<slug:name>/edit/": _version(2, content=f"{OTHER_RULE}\n"),
    "rules/<slug:name>/switch/": _version(2),
    "rules/<slug:name>/history/<int:number>/restore/": _version(2, note=""),
    "external-sources/new/": _plain(name="fresh", label="New", url=PUBLIC_URL, limit=5, timeout_ms=500),
    "external-sources/<slug:name>/edit/": _version(label="New", url=PUBLIC_URL, limit=5, timeout_ms=500),
    "external-sources/<slug:name>/query/": _plain(query="tea"),
    "external-sources/<slug:name>/switch/": _version(),
    "webhooks/new/": lambda owned, _world: {
        "label": "New", "url": PUBLIC_URL, "events": "alert.opened", "team": owned.team.slug,
    },
    "webhooks/<uuid:id_>/edit/": _version(label="New", url=PUBLIC_URL, events="alert.opened"),
    "webhooks/<uuid:id_>/secret/change/": _version(),
    "webhooks/<uuid:id_>/switch/": _version(),
    "import/": lambda owned, _world: {"archive": _archive(owned)},
    "drafts/<uuid:id_>/forget/": lambda _owned, world: {"revision": world.ids["draft revision"]},
}  # fmt: skip

# What stands behind the address, where a page is about more than what its address names.
QUERIES: Mapping[str, Callable[[Owned], str]] = {
    "teams/<slug:slug>/memories/merge/": lambda owned: (
        f"memory={owned.ids['teams/one']}&memory={owned.ids['teams/other']}"
    ),
    "agents/<slug:slug>/memories/merge/": lambda owned: (
        f"memory={owned.ids['agents/one']}&memory={owned.ids['agents/other']}"
    ),
    "agents/<slug:slug>/as-of/": lambda owned: f"team={owned.team.slug}",
    "contexts/": lambda owned: f"agent={owned.agent.slug}&team={owned.team.slug}",
    "contexts/<uuid:id_>/why-not/": lambda _owned: "q=tea",
    "alerts/": lambda owned: f"agent={owned.agent.slug}&team={owned.team.slug}&state=all",
    "conflicts/": lambda owned: f"agent={owned.agent.slug}&team={owned.team.slug}&status=all",
    "proposals/": lambda _owned: "show=all",
}


def _archive(owned: Owned) -> BytesIO:
    """A zip that would change the team's goals."""
    file = BytesIO(packed({f"teams/{owned.team.slug}/GOALS.md": "Taken over"}))
    file.name = "goals.zip"
    return file


def rows() -> dict[str, dict[str, str]]:
    """The table: for each route the need of each method."""
    found = {}
    for line in filter(str.strip, TABLE.splitlines()[2:]):
        *route, get, post = line.split()
        needs = {"GET": get, "POST": post}
        if unknown := {need.removesuffix("?") for need in needs.values()} - NEEDS - {"="}:
            raise ValueError(f"{line}: {unknown}")
        found["".join(route)] = needs
    return found
