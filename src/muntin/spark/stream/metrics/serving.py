"""An endpoint over HTTP that Prometheus reads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from muntin.errors import QueryError
from muntin.spark.stream.metrics.exposition import CONTENT_TYPE

PATH = "/metrics"


class Endpoint:
    """A server of one text, in threads that end with the program."""

    def __init__(self, host: str, port: int, text: Callable[[], str]) -> None:
        class Handler(_Handler):
            body = staticmethod(text)

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise QueryError(
                f"no endpoint can listen at {host}:{port}: {error}. Use another port, or port=0 for one that is free."
            ) from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="muntin metrics", daemon=True)
        self._thread.start()
        written = f"[{host}]" if ":" in host else host
        self.url = f"http://{written}:{self._server.server_address[1]}{PATH}"

    def close(self) -> None:
        """Serve no longer."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    body: Callable[[], str]

    def do_GET(self) -> None:
        """Give the metrics; anything else is not here."""
        if self.path.partition("?")[0] not in (PATH, "/"):
            self.send_error(404, f"metrics are at {PATH}")
            return
        text = self.body().encode()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Log no requests: they come every few seconds."""
