"""A real S3 API on loopback (moto's), that fails when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from obstore.store import S3Store
from werkzeug.serving import make_server

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Fault = Callable[[Environ, StartResponse, "S3Server"], Iterable[bytes] | None]
"""Answers a request in the server's place, or returns None to let it answer."""

CLIENT = {"allow_http": True, "connect_timeout": "1s", "read_timeout": "1s", "timeout": "20s"}


class S3Server:
    """Serves one bucket, ``models``. Set :attr:`fault` to make it fail."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.requests: list[str] = []
        self.stopping = threading.Event()
        self.application = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def store(self, **options: Any) -> S3Store:
        """A store on the bucket."""
        from datetime import timedelta

        return S3Store(
            "models",
            prefix="team",
            endpoint=self.url,
            region="us-east-1",
            access_key_id="key",
            secret_access_key="secret",
            client_options={**CLIENT, **options},
            retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=2)},
        )

    def _serve(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        self.requests.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        answer = self.fault(environ, start_response, self) if self.fault else None
        return self.application(environ, start_response) if answer is None else answer

    @contextmanager
    def running(self) -> Iterator[S3Server]:
        """Serve in a thread during the block."""
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def _error(start_response: StartResponse, status: str, code: str) -> list[bytes]:
    start_response(status, [("Content-Type", "application/xml")])
    return [f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()]


def internal_error(environ: Environ, start_response: StartResponse, _: S3Server) -> list[bytes]:
    """Every request fails with a 500."""
    return _error(start_response, "500 Internal Server Error", "InternalError")


def expired(environ: Environ, start_response: StartResponse, _: S3Server) -> list[bytes]:
    """The credentials were valid once."""
    return _error(start_response, "400 Bad Request", "ExpiredToken")


def forbidden(environ: Environ, start_response: StartResponse, _: S3Server) -> list[bytes]:
    """The credentials are valid, but not for this."""
    return _error(start_response, "403 Forbidden", "AccessDenied")


def stall(environ: Environ, start_response: StartResponse, server: S3Server) -> list[bytes]:
    """The connection is made, and nothing comes."""
    server.stopping.wait(30)
    return internal_error(environ, start_response, server)


def on_blobs(change: Callable[[bytes, S3Server], Iterable[bytes]]) -> Fault:
    """Change the bodies of blobs that are downloaded."""

    def fault(
        environ: Environ, start_response: StartResponse, server: S3Server
    ) -> Iterable[bytes] | None:
        if environ["REQUEST_METHOD"] != "GET" or "/blobs/" not in environ["PATH_INFO"]:
            return None
        body = b"".join(server.application(environ, start_response))
        return change(body, server)

    return fault


def _truncate(body: bytes, _: S3Server) -> Iterable[bytes]:
    yield body[: len(body) // 2]
    raise ConnectionAbortedError("the connection breaks")


def _flip(body: bytes, _: S3Server) -> Iterable[bytes]:
    return [bytes([body[0] ^ 1]) + body[1:]]


def _pause(body: bytes, server: S3Server) -> Iterable[bytes]:
    yield body[: len(body) // 2]
    server.stopping.wait(30)


def _drip(body: bytes, server: S3Server) -> Iterable[bytes]:
    for start in range(0, len(body), 400):
        yield body[start : start + 400]
        server.stopping.wait(0.1)


truncated_body = on_blobs(_truncate)
wrong_digest = on_blobs(_flip)
stalled_body = on_blobs(_pause)
dripping_body = on_blobs(_drip)
