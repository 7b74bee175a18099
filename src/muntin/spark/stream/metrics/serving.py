"""An endpoint over HTTP that Prometheus reads."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from muntin.errors import QueryError
from muntin.spark.stream.metrics.exposition import CONTENT_TYPE

PATH = "/metrics"
CONNECTIONS = 16
"""Connections that are served at once; others are closed."""
SECONDS = 5.0
"""How long a connection may last."""

log = logging.getLogger(__name__)


class Endpoint:
    """A server of one text, in threads that end with the program."""

    def __init__(self, host: str, port: int, text: Callable[[], str]) -> None:
        class Handler(_Handler):
            body = staticmethod(text)

        try:
            self._server = _Server((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise QueryError(
                f"no endpoint can listen at {host}:{port}: {error}. Use another port, or port=0 for one that is free."
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="muntin metrics", daemon=True)
        self._thread.start()
        written = f"[{host}]" if ":" in host else host
        self.url = f"http://{written}:{self._server.server_address[1]}{PATH}"

    def close(self) -> None:
        """Serve no longer, and close all connections."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """A server with few connections at once, none of which lasts long."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._started: dict[Any, float] = {}
        super().__init__(address, handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether there is room for a connection; it is closed otherwise."""
        return len(self._started) < CONNECTIONS

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its own thread."""
        self._started[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._started.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """End connections that last too long; the server calls this twice a second."""
        self._end(before=time.monotonic() - SECONDS)

    def server_close(self) -> None:
        """Listen no longer, and end all connections."""
        super().server_close()
        self._end(before=float("inf"))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log an error; a client that goes away is none."""
        level = logging.DEBUG if isinstance(sys.exception(), OSError) else logging.ERROR
        log.log(level, "a request for metrics failed", exc_info=True)

    def _end(self, before: float) -> None:
        """End connections that have started before a moment: what their threads wait for will not come."""
        for request, started in list(self._started.items()):
            if started <= before:
                with suppress(OSError):  # it has just ended
                    request.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    body: Callable[[], str]

    def do_GET(self) -> None:
        """Give the metrics; anything else is not here."""
        if not self._is_for_us():
            self.send_error(403, "metrics are for this machine; use 127.0.0.1 or localhost")
            return
        if self.path.partition("?")[0] not in (PATH, "/"):
            self.send_error(404, f"metrics are at {PATH}")
            return
        text = self.body().encode()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def do_HEAD(self) -> None:
        """Give the headers alone."""
        self.do_GET()

    def _is_for_us(self) -> bool:
        """Whether a request to a server on loopback names it so: a name of a web page could lead here, too."""
        host = self.headers.get("Host")
        return host is None or not _is_loopback(self.server.socket.getsockname()[0]) or _is_loopback(host)

    def end_headers(self) -> None:
        """Let no browser guess what an answer is."""
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def version_string(self) -> str:
        """Name the server, without versions."""
        return "muntin"

    def log_message(self, format: str, *args: Any) -> None:
        """Log no requests: they come every few seconds."""


def _is_loopback(host: str) -> bool:
    """Whether a host, perhaps with a port, is this machine.

    >>> [_is_loopback(host) for host in ("localhost:9464", "127.0.0.1", "[::1]:80", "example.com", "[")]
    [True, True, True, False, False]
    """
    with suppress(ValueError):
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    return False
