"""The server of the app: on this computer alone, with a secret in its address."""

from __future__ import annotations

import ipaddress
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from exactsindy._atomic import scratch_folder
from exactsindy._optional import optional
from exactsindy.app.files import MOST_BYTES
from exactsindy.app.guard import Guard
from exactsindy.errors import DataError

#: The address that only programs on this computer reach.
LOOPBACK = "127.0.0.1"
# Bytes of a request beside the file in it.
_ENVELOPE = 1_000_000
# Seconds that the server waits for a browser to come back (a computer that slept), before it forgets its page.
_AWAY = 600.0
_PURPOSE = "The app"


def serve(
    *, host: str = LOOPBACK, port: int = 0, open_browser: bool = True, tell: Callable[[str], None] = print
) -> None:
    """Serve the app until Ctrl-C.

    Parameters
    ----------
    host
        The address to listen at. Anything but the default lets other computers in that know the token.
    port
        The port; 0 for any that is free.
    open_browser
        Whether to open the page in the browser of this computer.
    tell
        Called with sentences for people: the address, warnings.

    Raises
    ------
    MissingDependency
        If the package of the user interface is not installed.
    DataError
        If the address cannot be listened at.
    """
    optional("nicegui", "app", _PURPOSE)
    uvicorn = optional("uvicorn", "app", _PURPOSE)
    listening = listening_socket(host, port)
    port = int(listening.getsockname()[1])
    token = secrets.token_urlsafe(24)
    address = f"http://{_bracketed(host)}:{port}/?token={token}"
    with scratch_folder() as folder:
        guard = Guard(_application(folder), token, hosts(host, port), port, MOST_BYTES + _ENVELOPE)
        config = uvicorn.Config(guard, log_level="error", ws_max_size=2**24, timeout_graceful_shutdown=1)
        listening.listen()  # a browser that is faster than the server waits
        if not is_loopback(host):
            tell(f"Warning: {host} can be reached by other computers. Whoever has the address below can use the app.")
        tell(f"The app runs at {address}\nEverything stays on this computer. Ctrl-C ends it.")
        if open_browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        try:
            with _ended_like_ctrl_c():
                uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            pass
        finally:
            from exactsindy.app.views import close_sessions

            close_sessions()


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let a request to end the process remove the data as Ctrl-C does; the server raises signals again at its end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _application(folder: Path) -> Any:
    """Return the application behind the guard; the UI library loads here, and not before."""
    fastapi = optional("fastapi", "app", _PURPOSE)
    ui = optional("nicegui", "app", _PURPOSE).ui
    from exactsindy.app.views import register

    register(folder)
    application = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        application,
        title="exactsindy",
        favicon="📈",
        reconnect_timeout=_AWAY,
        tailwind=False,
        show_welcome_message=False,
        cache_control_directives="private, max-age=86400",
    )
    return application


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address; raise DataError if that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        cure = "Choose another --port, or leave it out for one that is free."
        raise DataError(f"--host {host} --port {port}: the app cannot listen there ({error}). {cure}") from error
    return listening


def is_loopback(host: str) -> bool:
    """Return True if only this computer reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def hosts(host: str, port: int) -> tuple[str, ...]:
    """Return the values of the header Host that are answered; empty for any, where every address is listened at."""
    if host in ("0.0.0.0", "::", ""):
        return ()
    names = {_bracketed(host), LOOPBACK, "localhost"} if is_loopback(host) else {host}
    return tuple(sorted(f"{name}:{port}" for name in names))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
