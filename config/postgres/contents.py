"""What every cluster holds: the two roles, and the database with pgvector."""

import logging

import psycopg
from psycopg import sql

from config.postgres.folder import ADMIN, DATABASE, ROLES, DataFolder

Session = psycopg.Connection[tuple[object, ...]]

logger = logging.getLogger(__name__)


def sign_in(folder: DataFolder, user: str, database: str) -> Session:
    """A session with the password in `secrets`. Raises psycopg.OperationalError."""
    return psycopg.connect(folder.conninfo(user, database, password=folder.password(user)), autocommit=True)


def is_refused(error: psycopg.OperationalError, user: str) -> bool:
    """Whether the sign-in failed for its password."""
    return f'password authentication failed for user "{user}"' in str(error)


def complete_contents(admin: Session, folder: DataFolder) -> None:
    """Create what is missing of the roles and the database. Raises psycopg.OperationalError."""
    for user in ROLES.values():
        _complete_role(admin, folder, user)
    _complete_database(admin, folder)


def _complete_role(admin: Session, folder: DataFolder, user: str) -> None:
    """Create the role when it is missing, and give it the password in `secrets` when it has another."""
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
        sign_in(folder, user, "postgres").close()
    except psycopg.OperationalError as error:
        if is_refused(error, user):
            return False
        raise
    return True


def _complete_database(admin: Session, folder: DataFolder) -> None:
    """Create the database when it is missing; it gets pgvector, as every later one, from template1."""
    if admin.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is not None:
        return
    with sign_in(folder, ADMIN, "template1") as template:
        template.execute("CREATE EXTENSION IF NOT EXISTS vector")
    owner = sql.Identifier(ROLES["owner"])
    admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), owner))
    logger.info("created database %s", DATABASE)
