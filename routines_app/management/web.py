"""The embedded mode's web server: uvicorn in a thread, on sockets that are listening already."""

import socket
import threading

import uvicorn

_GRACE_SECONDS = 3


class WebThread:
    """Serves the site until told to stop."""

    def __init__(self, listeners: list[socket.socket]) -> None:
        self._listeners = listeners
        self._server = uvicorn.Server(
            uvicorn.Config(
                "routines_app.asgi:application",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # routines_app.web.proxies judges them
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        # In a thread that isn't the main one uvicorn leaves the process's signals alone.
        self._thread = threading.Thread(target=self._serve, name="web", daemon=True)

    def start(self) -> None:
        """Begin to answer; comes back at once."""
        self._thread.start()

    def has_started(self) -> bool:
        """Whether requests are being answered."""
        return self._server.started

    def is_serving(self) -> bool:
        """False once it has ended, by `stop` or by a fault."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Accept nothing more and end open requests, within a few seconds."""
        self._server.should_exit = True
        self._thread.join(_GRACE_SECONDS + 2)

    def _serve(self) -> None:
        self._server.run(sockets=self._listeners)
