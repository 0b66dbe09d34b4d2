"""The web app on a free port, in a thread of the tests."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from rookery.interface.web.app import make_app
from rookery.interface.web.site import Site

START_SECONDS = 60.0


@contextmanager
def serving(*folders: Path) -> Iterator[str]:
    """Serve runs and folders of runs; yield the address."""
    app = make_app(Site(folders=folders))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        until = time.monotonic() + START_SECONDS
        while not server.started:
            assert thread.is_alive() and time.monotonic() < until
            time.sleep(0.02)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(START_SECONDS)
