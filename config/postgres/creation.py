"""This module creates a cluster with its two roles and the database with pgvector, and repairs a lost password."""

import logging
import os
import re
import shutil
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from config.postgres.data_folder import ADMIN, DATABASE, ROLES, DataFolder, write_durably
from config.postgres.failures import failure, refusal
from config.postgres.programs import MAJOR_VERSION, Programs, ServerLog

Session = psycopg.Connection[tuple[object, ...]]

logger = logging.getLogger(__name__)


def connect(folder: DataFolder, user: str, database: str) -> Session:
    """Return a session with the password in `secrets`. Raises psycopg.OperationalError."""
    return psycopg.connect(folder.conninfo(user, database, password=folder.password(user)), autocommit=True)


def is_refused(error: psycopg.OperationalError, user: str) -> bool:
    """Return whether signing in failed because of the password."""
    return f'password authentication failed for user "{user}"' in str(error)


def complete_contents(admin: Session, folder: DataFolder) -> None:
    """Create missing roles and the database. Raises psycopg.OperationalError."""
    for user in ROLES.values():
        _complete_role(admin, folder, user)
    _complete_database(admin, folder)


def _complete_role(admin: Session, folder: DataFolder, user: str) -> None:
    """Create the role if it is missing, and set the password in `secrets` if it has another."""
    name = sql.Identifier(user)
    if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [user]).fetchone() is None:
        rights = sql.SQL("CREATEDB" if user == ROLES["owner"] else "NOCREATEDB")
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEROLE {}").format(name, rights))
        logger.info("created role %s", user)
    elif _password_fits(folder, user):
        return
    # Hashed here: the password itself would stand in the server's log if the statement failed.
    hashed = admin.pgconn.encrypt_password(folder.password(user).encode(), user.encode(), b"scram-sha-256")
    admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, sql.Literal(hashed.decode())))


def _password_fits(folder: DataFolder, user: str) -> bool:
    try:
        connect(folder, user, "postgres").close()
    except psycopg.OperationalError as error:
        if is_refused(error, user):
            return False
        raise
    return True


def _complete_database(admin: Session, folder: DataFolder) -> None:
    """Create the database if it is missing; like every later one, it gets pgvector from template1."""
    if admin.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is not None:
        return
    with connect(folder, ADMIN, "template1") as template:
        template.execute("CREATE EXTENSION IF NOT EXISTS vector")
    owner = sql.Identifier(ROLES["owner"])
    admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), owner))
    logger.info("created database %s", DATABASE)


def create_cluster(folder: DataFolder, programs: Programs) -> None:
    """Create the cluster if it is missing. Raises EmbeddedPostgresError, OSError."""
    for unfinished in folder.path.glob("postgres.new-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    if (folder.cluster / "PG_VERSION").exists():
        _check_version(folder)
        return
    if folder.cluster.is_dir() and any(folder.cluster.iterdir()):
        raise refusal(folder, f"{folder.cluster} is not a PostgreSQL cluster", "Move it away, or set DOSSIER_DATA_DIR")
    _create_atomically(folder, programs)
    logger.info("created the cluster")


def _create_atomically(folder: DataFolder, programs: Programs) -> None:
    """Run initdb in a temporary folder and move the result into place, so that there is never an incomplete cluster."""
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
            f"{folder.cluster} was created by PostgreSQL {version}, this is {MAJOR_VERSION}",
            ("Export the data with the Dossier that created it, and import it into a new DOSSIER_DATA_DIR"),
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
        recent_errors = re.findall(r"(?:error|FATAL|PANIC):\s*(.+)", output)
        raise failure(folder, "PostgreSQL's data folder cannot be created", recent_errors or output.splitlines()[-1:])


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def reset_admin_password(folder: DataFolder, programs: Programs, log: ServerLog) -> None:
    """Set the administrator's password to the one in `secrets`, through standard input; the server must not run.

    Raises EmbeddedPostgresError.
    """
    single = programs.single_user(log)
    single.communicate(f"ALTER ROLE {ADMIN} PASSWORD '{folder.password(ADMIN)}'\n".encode())
    if single.returncode:
        raise failure(folder, "The administrator's password cannot be set", log.recent_errors())
