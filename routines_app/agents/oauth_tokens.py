"""What is said to a server that signs in: who we are, an answer for tokens, tokens for newer ones.

Nothing of what it answers is told in its own words; its codes of refusal are.
"""

import secrets
from dataclasses import dataclass, field
from typing import Any, TypeGuard
from urllib.parse import quote

from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7009.parameters import prepare_revoke_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from routines_app.agents.oauth_ask import NoReply, Reply, ask, host_of
from routines_app.agents.oauth_offer import METHODS, OFFLINE, Offer

LONGEST = 8_000  # characters of a token, a client's id or its secret
LONGEST_LIFE = 10 * 365 * 86_400  # seconds; what is said to last longer is taken to last so long
_REFUSALS = frozenset(
    {
        "access_denied",
        "invalid_client",
        "invalid_grant",
        "invalid_request",
        "invalid_scope",
        "invalid_target",
        "unauthorized_client",
        "unsupported_grant_type",
    }
)
_NOT_KNOWN = frozenset({"invalid_client", "unauthorized_client"})


@dataclass(frozen=True)
class Client:
    """As whom we ask at a server. `method` is how we say so, one of METHODS."""

    id: str
    secret: str = field(default="", repr=False)
    method: str = "none"


@dataclass(frozen=True)
class Tokens:
    """What a server handed over. `refresh` "": it can't be renewed. Lives are in seconds from now,
    None when it didn't say."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    life: int | None = None
    refresh_life: int | None = None


@dataclass(frozen=True)
class NotGiven:
    """Nothing was handed over, in a sentence why. `refused`: the server said no, and would again.
    `client_unknown`: it doesn't know us any more, or not by this secret."""

    sentence: str
    refused: bool = False
    client_unknown: bool = False


def register(offer: Offer, back_to: str, *, nearby: bool) -> Client | NotGiven:
    """Have the server know us (RFC 7591), with the address to which it sends people back."""
    method = offer.methods[0]
    wanted: dict[str, object] = {
        "client_name": "Routines",
        "redirect_uris": [back_to],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "web" if back_to.startswith("https:") else "native",
    }
    if offer.scopes:
        wanted["scope"] = offer.scopes
    found = ask(offer.registers, nearby=nearby, body=wanted)
    host = host_of(offer.registers)
    if isinstance(found, NoReply):
        return NotGiven(found.sentence)
    if found.status not in (200, 201):
        return NotGiven(
            f"{host} didn’t register Routines by itself (HTTP status {found.status}).",
            refused=found.status < 500 and found.status != 429,
        )
    name, secret = found.said.get("client_id"), found.said.get("client_secret") or ""
    given = found.said.get("token_endpoint_auth_method") or method
    fits = (not secret or _may_be_sent(secret)) and (secret or given == "none")
    if not _may_be_sent(name) or not fits or given not in METHODS:
        return NotGiven(f"{host} registered Routines in a way that can’t be used.", refused=True)
    return Client(name, secret, given)


def client_of(offer: Offer, name: str, secret: str) -> Client:
    """A client that a person had registered there by hand."""
    if not secret:
        return Client(name)
    known = [method for method in reversed(METHODS) if method in offer.methods]
    return Client(name, secret, next((each for each in known if each != "none"), METHODS[-1]))


def new_verifier() -> str:
    """The secret whose digest is sent ahead (PKCE), of 64 characters."""
    return secrets.token_urlsafe(48)


def leave_for(offer: Offer, client: Client, *, back_to: str, state: str, verifier: str) -> str:
    """The address to which a person's browser is sent."""
    address: str = prepare_grant_uri(
        offer.authorizes,
        client.id,
        "code",
        redirect_uri=back_to,
        scope=offer.scopes or None,
        state=state,
        code_challenge=create_s256_code_challenge(verifier),
        code_challenge_method="S256",
        resource=offer.resource,
        # A server that gives this asks the person each time (OpenID Connect, section 11).
        prompt="consent" if OFFLINE in offer.scopes.split() else None,
    )
    return address


def exchange(
    offer: Offer, client: Client, code: str, *, back_to: str, verifier: str, nearby: bool
) -> Tokens | NotGiven:
    """Tokens for the answer that a person brought back."""
    form = prepare_token_request(
        "authorization_code",
        redirect_uri=back_to,
        code=code,
        code_verifier=verifier,
        resource=offer.resource,
    )
    return _given(_post(offer.tokens, client, form, nearby), host_of(offer.tokens))


def renew(offer: Offer, client: Client, refresh: str, *, nearby: bool) -> Tokens | NotGiven:
    """Newer tokens for a refresh token, which may be worth nothing afterwards."""
    form = prepare_token_request("refresh_token", refresh_token=refresh, resource=offer.resource)
    return _given(_post(offer.tokens, client, form, nearby), host_of(offer.tokens))


def revoke(offer: Offer, client: Client, token: str, kind: str, *, nearby: bool) -> bool:
    """Tell the server that a token is to be worth nothing (RFC 7009); whether it took that.
    `kind`: "refresh_token" or "access_token"."""
    form, _ = prepare_revoke_token_request(token, kind)
    found = _post(offer.revokes, client, form, nearby)
    return isinstance(found, Reply) and found.status == 200


def _post(url: str, client: Client, form: str, nearby: bool) -> Reply | NoReply:
    basic = client.method == "client_secret_basic"
    # The library leaves out that for Basic both are to be encoded first (RFC 6749, 2.3.1).
    name = quote(client.id, safe="") if basic else client.id
    secret = quote(client.secret, safe="") if basic else client.secret
    auth = ClientAuth(name, secret, client.method)
    _, headers, body = auth.prepare("POST", url, {}, form)
    return ask(url, nearby=nearby, form=body, headers=headers)


def _given(found: Reply | NoReply, host: str) -> Tokens | NotGiven:
    if isinstance(found, NoReply):
        return NotGiven(found.sentence)
    if found.status != 200:
        code = found.said.get("error")
        refused = found.status in (400, 401, 403) and code in _REFUSALS
        return NotGiven(
            f"{host} refused it ({code})."
            if refused
            else f"{host} answered with HTTP status {found.status}.",
            refused=refused,
            client_unknown=refused and code in _NOT_KNOWN,
        )
    access, refresh = found.said.get("access_token"), found.said.get("refresh_token") or ""
    kind = found.said.get("token_type")
    usable = (not refresh or _may_be_sent(refresh)) and str(kind).lower() == "bearer"
    if not _may_be_sent(access) or not usable:
        return NotGiven(f"{host} handed over nothing that can be used.")
    return Tokens(access, refresh, _life(found.said, "expires_in"), _refresh_life(found.said))


def _refresh_life(said: dict[str, Any]) -> int | None:
    """How long a refresh token lasts. No specification names it, so servers do."""
    for name in ("refresh_token_expires_in", "refresh_expires_in"):
        if (life := _life(said, name)) is not None:
            return life
    return None


def _life(said: dict[str, Any], name: str) -> int | None:
    """A number of seconds above 0, which some servers write as text; 0 is how some say never."""
    value = said.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    return int(min(value, LONGEST_LIFE)) or 1


def _may_be_sent(value: object) -> TypeGuard[str]:
    """Whether it can stand in a header or a form: visible ASCII without spaces."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= LONGEST
        and all("!" <= letter <= "~" for letter in value)
    )
