"""A server on loopback that signs people in for an app: OAuth 2.1 as the protocol of apps has it.

It keeps what a real one keeps, and is as strict: each code works once, for its own client, address
and verifier; a refresh token works once, and used twice it ends everything that came of it.
"""

import base64
import hashlib
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

CANARY = "canary-9d41"


@dataclass
class Grant:
    """What one person agreed to, and what is worth something of it."""

    client: str
    scope: str
    resource: str
    access: set[str] = field(default_factory=set)
    refresh: str = ""
    over: bool = False


class SignInServer:
    """The server; a context manager. `said` overrides what it says of itself (None leaves a part
    out), `asked` holds each request as (method, path, its fields), `life` is what tokens last.

    `agrees`: what the person answers there. `trouble`: its token endpoint answers with this status.
    `slow`: seconds that it takes over a token.
    """

    def __init__(self, *, path: str = "") -> None:
        self.agrees = True
        self.rotates = True
        self.life: object = 3600
        self.refresh_life: object = None
        self.trouble = 0
        self.slow = 0.0
        self.method = "none"
        self.says_issuer = True
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.clients: dict[str, dict[str, Any]] = {}
        self.grants: list[Grant] = []
        self.reused = 0
        self._codes: dict[str, dict[str, Any]] = {}
        self._number = 0
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"place": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.issuer = f"http://{self.host}{path}"
        self.said: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, as a server that has gone away."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def takes(self, authorization: str) -> bool:
        """Whether an app lets a request with this header in."""
        kind, _, token = authorization.partition(" ")
        live = {token for grant in self.grants if not grant.over for token in grant.access}
        return kind == "Bearer" and token in live

    def end_access(self) -> None:
        """No access token that was given so far works any more."""
        for grant in self.grants:
            grant.access.clear()

    def take_back(self) -> None:
        """The person takes back all that they agreed to."""
        for grant in self.grants:
            grant.over = True

    def asked_at(self, path: str) -> list[dict[str, str]]:
        return [fields for _, there, fields in list(self.asked) if there == path]

    def about(self) -> dict[str, Any]:
        """What it says of itself."""
        here = f"http://{self.host}"
        whole = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{here}/authorize?tenant=a%20b",
            "token_endpoint": f"{here}/token",
            "registration_endpoint": f"{here}/register",
            "revocation_endpoint": f"{here}/revoke",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": [self.method],
            "authorization_response_iss_parameter_supported": self.says_issuer,
        } | self.said
        return {name: value for name, value in whole.items() if value is not None}

    def new(self, what: str) -> str:
        with self._lock:
            self._number += 1
            return f"{what}-{CANARY}-{self._number}"

    def authorize(self, query: dict[str, str]) -> str:
        """Where the person's browser is sent back to."""
        client = self.clients[query["client_id"]]
        assert query["redirect_uri"] in client["redirect_uris"]
        assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
        assert len(query["code_challenge"]) == 43 and query["tenant"] == "a b"
        back = {"state": query["state"]}
        if self.says_issuer:
            back["iss"] = self.issuer
        if self.agrees:
            back["code"] = self.new("code")
            self._codes[back["code"]] = query
        else:
            back |= {"error": "access_denied", "error_description": "<b>They said no</b>"}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    def register(self, wanted: dict[str, Any]) -> dict[str, Any]:
        name = self.new("client")
        secret = {"client_secret": self.new("sec ret/+").replace(" ", "%")}
        kept = wanted | {"client_id": name, **(secret if self.method != "none" else {})}
        self.clients[name] = kept
        return kept

    def token(self, fields: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        time.sleep(self.slow)
        if self.trouble:
            return self.trouble, {}
        client = self._client(fields, authorization)
        if client is None:
            return 401, {"error": "invalid_client", "error_description": CANARY}
        with self._lock:
            grant = self._granted(fields, client)
        if grant is None:
            return 400, {"error": "invalid_grant", "error_description": CANARY}
        access = self.new("access")
        grant.access.add(access)
        answer: dict[str, Any] = {"access_token": access, "token_type": "bearer"}
        if self.rotates or not grant.refresh:
            grant.refresh = answer["refresh_token"] = self.new("refresh")
        for name, value in (
            ("expires_in", self.life), ("refresh_token_expires_in", self.refresh_life)
        ):  # fmt: skip
            if value is not None:
                answer[name] = value
        return 200, answer

    def revoke(self, fields: dict[str, str], authorization: str) -> int:
        if self._client(fields, authorization) is None:
            return 401
        for grant in self.grants:
            if fields["token"] in grant.access | {grant.refresh}:
                grant.over = True
        return 200

    def _client(self, fields: dict[str, str], authorization: str) -> str | None:
        name, secret = fields.get("client_id", ""), fields.get("client_secret", "")
        if authorization:
            both = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            name, secret = map(unquote, both.split(":"))
        known = self.clients.get(name)
        return name if known and known.get("client_secret", "") == secret else None

    def _granted(self, fields: dict[str, str], client: str) -> Grant | None:
        if fields["grant_type"] == "authorization_code":
            asked = self._codes.pop(fields["code"], None)
            verifier = hashlib.sha256(fields["code_verifier"].encode()).digest()
            if asked is None or (
                asked["client_id"], asked["redirect_uri"], asked["resource"],
                asked["code_challenge"].encode() + b"=",
            ) != (
                client, fields["redirect_uri"], fields["resource"],
                base64.urlsafe_b64encode(verifier),
            ):  # fmt: skip
                return None
            grant = Grant(client, asked.get("scope", ""), asked["resource"])
            self.grants.append(grant)
            return grant
        for grant in self.grants:
            if grant.client == client and grant.refresh == fields["refresh_token"]:
                return None if grant.over else grant
        # One that was used before: whoever has it isn't whom it was given to.
        self.reused += 1
        for grant in self.grants:
            grant.over = grant.over or grant.client == client
        return None


class _Handler(BaseHTTPRequestHandler):
    place: SignInServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.place.asked.append(("GET", parts.path, query))
        path = urlsplit(self.place.issuer).path
        if parts.path == f"/.well-known/oauth-authorization-server{path}":
            self._answer(200, self.place.about())
        elif parts.path == "/authorize":
            self.send_response(302)
            self.send_header("Location", self.place.authorize(query))
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = json.loads(body) if self.path == "/register" else dict(parse_qsl(body))
        self.place.asked.append(("POST", self.path, sent))
        authorization = self.headers.get("Authorization", "")
        match self.path:
            case "/register":
                self._answer(201, self.place.register(sent))
            case "/token":
                self._answer(*self.place.token(sent, authorization))
            case "/revoke":
                self._answer(self.place.revoke(sent, authorization), {})
            case _:
                self._answer(404, {})

    def _answer(self, status: int, said: dict[str, Any]) -> None:
        whole = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        self.wfile.write(whole)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests look at `asked`."""
