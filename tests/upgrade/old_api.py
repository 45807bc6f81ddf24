"""A client of the old REST API, and the servers of others that the old installation calls."""

import contextlib
import http.server
import json
import sys
import time
import urllib.error
import urllib.request
from typing import Any


class OtherServers(http.server.BaseHTTPRequestHandler):
    """This handler answers as an external source, as a summariser and as the address of a webhook."""

    def do_POST(self) -> None:
        """Answer in the form that belongs to the path."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer: Any = {}
        if self.path == "/late":
            time.sleep(1)
        elif self.path == "/ask":
            text = "The eastern quay is closed until the lamps are lit."
            answer = {"results": [{"id": "q1", "text": text, "kind": "notice", "score": 0.8, "tags": ["quay"]}]}
        elif self.path.endswith("/chat/completions"):
            line = body["messages"][-1]["content"].split("\n")[1][:80]
            answer = {"choices": [{"message": {"content": f"In short: {line}"}, "finish_reason": "stop"}]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):  # whoever waited for the late one has gone
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


class OldApi:
    """A client of the old REST API. An answer that is an error ends the script."""

    def __init__(self, port: int, key: str) -> None:
        self.root, self.key = f"http://127.0.0.1:{port}/api/v1/", key

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[Any, str]:
        """Send a request and return the answer's document and ETag."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = "application/zip" if isinstance(body, bytes) else "application/json"
        request = urllib.request.Request(  # noqa: S310 - an address of our own
            self.root + path,
            data=body if body is None or isinstance(body, bytes) else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": kind, **named},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                status, etag, content = answer.status, answer.headers.get("ETag", ""), answer.read()
        except urllib.error.HTTPError as error:
            status, etag, content = error.code, "", error.read()
        if status >= 400:
            sys.exit(f"{method} {path} answered {status}: {content.decode()[:2000]}")
        return (json.loads(content) if content[:1] in (b"{", b"[") else content), etag

    def get(self, path: str) -> Any:
        """Return the document at this address."""
        return self.send("GET", path)[0]

    def post(self, path: str, body: Any = None) -> Any:
        """Post to this address and return the answer's document."""
        return self.send("POST", path, {} if body is None else body)[0]

    def change(self, path: str, body: Any, method: str = "PUT") -> Any:
        """Save a version after the newest one."""
        return self.send(method, path, body, If_Match=self.send("GET", path)[1])[0]

    def delete(self, path: str) -> None:
        """Delete the newest version."""
        self.send("DELETE", path, If_Match=self.send("GET", path)[1])
