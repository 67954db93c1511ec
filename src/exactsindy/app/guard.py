"""Who may talk to the app: the browser that was given the address, and nobody else.

Everything, web sockets included, passes here first. A request must name a host that the app answers to (a foreign page
whose name was bound to this computer does not), and carry the token of the address, which a cookie keeps after the
first page. Pages of other origins can neither read nor send. Bodies are counted, and answers say that nothing may be
loaded from elsewhere.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: What a page may load: from this server alone. The UI library compiles its templates in the page, hence the "unsafe".
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True)
class Guard:
    """An ASGI application around another that lets only the owner of the token through.

    Parameters
    ----------
    app
        The application behind it.
    token
        The secret in the address.
    hosts
        Values of the header Host that are answered, with the port; empty for any (an address was asked for that other
        computers reach under names that are not known here).
    port
        The port, which is part of the cookie's name: cookies do not keep ports apart.
    most
        Largest body of a request in bytes.
    """

    app: App
    token: str
    hosts: tuple[str, ...]
    port: int
    most: int

    @property
    def cookie(self) -> str:
        """Return the name of the cookie."""
        return f"exactsindy_{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):  # start and end of the server
            await self.app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, send, *refusal)
            return
        await self.app(scope, self._counted(receive), self._marked(scope, send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return status and sentence if a request is refused."""
        host = headers.get("host", "").lower()
        if self.hosts and host not in self.hosts:
            return 421, "This address is not one that the app answers to. Use the address that it printed."
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] != host:
            return 403, "Requests from other pages are refused."
        if not self._has_token(scope, headers):
            return 403, "The token is missing. Use the whole address that the app printed."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.most:
            return 413, f"At most {self.most // 1_000_000} MB are taken."
        return None

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        shown = [cookies[self.cookie].value] if self.cookie in cookies else []
        shown += self._in_address(scope)
        return any(hmac.compare_digest(value.encode(), self.token.encode()) for value in shown)

    def _in_address(self, scope: Scope) -> list[str]:
        if scope["type"] != "http" or scope["path"] != "/":
            return []
        return parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])

    def _counted(self, receive: Receive) -> Receive:
        """Return the source of a body that ends it when it is larger than allowed."""
        size = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal size
            message = await receive()
            if message["type"] == "http.request":
                size += len(message.get("body", b""))
                if size > self.most:
                    return {"type": "http.disconnect"}
            return message

        return counted

    def _marked(self, scope: Scope, send: Send) -> Send:
        """Return where an answer goes, with the headers that protect the page, and the cookie on the first one."""
        first = bool(self._in_address(scope))

        async def marked(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", []), *_HEADERS]
                if first:
                    value = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
                    headers.append((b"set-cookie", value.encode()))
                message = {**message, "headers": headers}
            await send(message)

        return marked


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})
