"""TLS checks the name of the host, though the connection goes to its address."""

import datetime
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from assembly.engine.codes import SourceCode
from assembly.sources.external.questions import ExternalAnswer, ExternalQuery
from config.http.outbound import client
from tests.assembly.conftest import NOW
from tests.assembly.sources.external.test_private_addresses import resolving
from tests.http_endpoints import GOOD, Endpoint, Handler, giving, told_of

pytestmark = pytest.mark.usefixtures("local")

HOST = "search.example.org"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A key and a certificate for HOST, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(plain + made.public_bytes(Encoding.PEM))
    return file


@contextmanager
def serving_tls(certificate: Path) -> Iterator[tuple[Endpoint, list[str | None]]]:
    """A good endpoint over TLS, and the names that its callers asked for."""
    endpoint, names = Endpoint(giving(GOOD)), list[str | None]()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    server = _Server(("127.0.0.1", 0), type("Bound", (Handler,), {"endpoint": endpoint}))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    endpoint.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint, names
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust us hangs up: that is what these tests are about."""


def told_by(host: str, port: int) -> ExternalAnswer:
    asking = ExternalQuery("tickets", NOW, url=f"https://{host}:{port}/ask", limit=5, timeout_ms=5_000)
    return told_of([asking], seconds=5.0)[0]


@pytest.fixture
def _trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(client, "tls_context", lambda: context)


@pytest.mark.usefixtures("_trusted")
def test_the_name_is_asked_for_and_checked(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.1"])
    with serving_tls(certificate) as (endpoint, names):
        assert told_by(HOST, endpoint.port).code is None
        assert told_by(f"{HOST}.", endpoint.port).code is None, "a full name with its dot"
        elsewhere = told_by("other.example.org", endpoint.port)
        by_address = told_by("127.0.0.1", endpoint.port)
    assert set(names) == {HOST, "other.example.org", None}
    for told in (elsewhere, by_address):
        assert (told.code, told.fault) == (
            SourceCode.SOURCE_FAILED, "Its certificate is not valid for its host, or its issuer is unknown.",
        )  # fmt: skip
    assert len(endpoint.seen) == 2


def test_nobody_vouches_for_itself(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.1"])
    with serving_tls(certificate) as (endpoint, _names):
        told = told_by(HOST, endpoint.port)
    assert (told.code, endpoint.seen) == (SourceCode.SOURCE_FAILED, [])
