"""The guard, asked directly: no server and no UI library is needed."""

import asyncio
import socket
import subprocess
import sys

import pytest

from exactsindy.app.guard import Guard
from exactsindy.app.serving import hosts, is_loopback, listening_socket, serve
from exactsindy.errors import DataError, MissingDependency

TOKEN = "secret"
HOST = "127.0.0.1:8000"


def ask(kind="http", path="/", query="", headers=(), body=b"", hosts=(HOST,), most=100):
    """Return the messages that a request gets, and what the application behind read of its body."""
    sent, read = [], []

    async def behind(scope, receive, send):
        message = await receive()
        read.append(message)
        if kind == "websocket":
            await send({"type": "websocket.accept"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"the page"})

    async def receive():
        return {"type": "http.request" if kind == "http" else "websocket.connect", "body": body}

    async def send(message):
        sent.append(message)

    encoded = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": kind, "path": path, "query_string": query.encode(), "headers": encoded}
    asyncio.run(Guard(behind, TOKEN, hosts, 8000, most)(scope, receive, send))
    return sent, read


COOKIE = ("cookie", f"other=1; exactsindy_8000={TOKEN}")


def test_the_token_opens_the_page_and_becomes_a_cookie():
    (start, _), _ = ask(query=f"token={TOKEN}", headers=[("host", HOST)])
    headers = dict(start["headers"])
    assert start["status"] == 200
    assert headers[b"set-cookie"] == b"exactsindy_8000=secret; Path=/; HttpOnly; SameSite=Strict"
    assert b"default-src 'self'" in headers[b"content-security-policy"]
    (start, _), _ = ask(path="/file.js", headers=[("host", HOST), COOKIE])
    assert start["status"] == 200
    assert b"set-cookie" not in dict(start["headers"])


@pytest.mark.parametrize(
    "status, request_",
    [
        (403, {"headers": [("host", HOST)]}),
        (403, {"query": "token=wrong", "headers": [("host", HOST)]}),
        (403, {"path": "/_nicegui/x", "query": f"token={TOKEN}", "headers": [("host", HOST)]}),
        (403, {"headers": [("host", HOST), ("cookie", "exactsindy_8000=wrong")]}),
        (403, {"headers": [("host", HOST), ("cookie", f"exactsindy_9999={TOKEN}")]}),
        (421, {"query": f"token={TOKEN}", "headers": [("host", "evil.example:8000")]}),
        (421, {"query": f"token={TOKEN}"}),
        (403, {"headers": [("host", HOST), COOKIE, ("origin", "http://evil.example")]}),
        (403, {"headers": [("host", HOST), COOKIE, ("origin", "null")]}),
        (413, {"headers": [("host", HOST), COOKIE, ("content-length", "101")]}),
        (413, {"headers": [("host", HOST), COOKIE, ("content-length", "-5")]}),
    ],
)
def test_others_are_refused_before_the_application_hears_of_it(status, request_):
    (start, body), read = ask(**request_)
    assert start["status"] == status
    assert body["body"]
    assert read == []


def test_web_sockets_pass_the_same_guard():
    (message,), read = ask("websocket", "/_nicegui_ws/", headers=[("host", HOST)])
    assert message["type"] == "websocket.close"
    assert read == []
    foreign = [("host", HOST), COOKIE, ("origin", "http://evil.example")]
    assert ask("websocket", headers=foreign)[0][0]["type"] == "websocket.close"
    own = [("host", HOST), COOKIE, ("origin", f"http://{HOST}")]
    assert ask("websocket", headers=own)[0] == [{"type": "websocket.accept"}]


def test_a_body_that_says_nothing_of_its_size_is_counted():
    _, read = ask(headers=[("host", HOST), COOKIE], body=b"x" * 101)
    assert read == [{"type": "http.disconnect"}]


def test_hosts_that_are_answered():
    assert hosts("127.0.0.1", 80) == ("127.0.0.1:80", "localhost:80")
    assert hosts("192.168.0.7", 80) == ("192.168.0.7:80",)
    assert hosts("0.0.0.0", 80) == ()
    assert [is_loopback(h) for h in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    with pytest.raises(MissingDependency, match=r"^The app needs the package nicegui: pip install exactsindy\[app\]$"):
        serve(open_browser=False)


def test_a_port_that_is_taken_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(DataError, match=r"the app cannot listen there .* Choose another --port"):
            listening_socket("127.0.0.1", taken.getsockname()[1])


def test_the_command_line_loads_nothing_of_the_app():
    code = "import sys, exactsindy.cli; print([m for m in sys.modules if 'nicegui' in m or 'exactsindy.app' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[]"
