"""Making a cluster, and taking one up whose administrator's password is lost."""

import logging
import os
import re
import shutil
import tempfile
from pathlib import Path

from config.postgres.errors import failure, refusal
from config.postgres.folder import ADMIN, DataFolder, write_durably
from config.postgres.programs import MAJOR_VERSION, Programs
from config.postgres.server_log import ServerLog

logger = logging.getLogger(__name__)


def create_cluster(folder: DataFolder, programs: Programs) -> None:
    """Make the cluster when it is missing. Raises EmbeddedPostgresError, OSError."""
    for unfinished in folder.path.glob("postgres.new-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    if (folder.cluster / "PG_VERSION").exists():
        _check_version(folder)
        return
    if folder.cluster.is_dir() and any(folder.cluster.iterdir()):
        raise refusal(folder, f"{folder.cluster} is not a PostgreSQL cluster", "Move it away, or set DOSSIER_DATA_DIR")
    _create_beside(folder, programs)
    logger.info("created the cluster")


def _create_beside(folder: DataFolder, programs: Programs) -> None:
    """Run initdb beside the cluster's place and move the result there, so that half a one never is."""
    workspace = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=folder.path))
    try:
        _initdb(folder, programs, workspace)
        (workspace / "cluster").rename(folder.cluster)
        _sync(folder.path)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _check_version(folder: DataFolder) -> None:
    version = (folder.cluster / "PG_VERSION").read_text().strip()
    if version != MAJOR_VERSION:
        raise refusal(
            folder,
            f"{folder.cluster} was made by PostgreSQL {version}, this is {MAJOR_VERSION}",
            "Export the data with the Dossier that made it, and import it into a new DOSSIER_DATA_DIR",
        )


def _initdb(folder: DataFolder, programs: Programs, workspace: Path) -> None:
    password = workspace / "password"
    write_durably(password, folder.password(ADMIN))
    programs.account.owns(password)
    programs.account.owns(workspace)
    initdb = programs.initdb(workspace / "cluster", password)
    output = initdb.communicate()[0].decode(errors="replace")
    if initdb.returncode:
        logger.error("initdb failed:\n%s", output)
        complaints = re.findall(r"(?:error|FATAL|PANIC):\s*(.+)", output)
        raise failure(folder, "PostgreSQL's data folder cannot be made", complaints or output.splitlines()[-1:])


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def reset_admin_password(folder: DataFolder, programs: Programs, log: ServerLog) -> None:
    """Set the one in `secrets`, through standard input; the server must not run. Raises EmbeddedPostgresError."""
    single = programs.single_user(log)
    single.communicate(f"ALTER ROLE {ADMIN} PASSWORD '{folder.password(ADMIN)}'\n".encode())
    if single.returncode:
        raise failure(folder, "The administrator's password cannot be set", log.complaints())
