"""Where an app may be signed in to with OAuth, as its server and that sign-in's server tell.

The app names who signs in for it (RFC 9728), and that server describes itself (RFC 8414, OpenID).
Both are believed only as far as they speak of themselves.
"""

from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from authlib.common.urls import add_params_to_uri

from foundation.addresses import Refused, lies_nearby
from routines_app.agents.oauth_ask import NoReply, Reply, ask, host_of, judge_secret

MOST_SERVERS = 3  # of those that an app names, that are asked
LONGEST_SCOPES = 1_000  # characters
OFFLINE = "offline_access"
METHODS = ("none", "client_secret_post", "client_secret_basic")
"""How a client says at a server who it is, the ones that we know, what we like best first."""


@dataclass(frozen=True)
class Offer:
    """How an app may be signed in to.

    `resource` is what the app calls itself there. `scopes` is what is asked for, separated by
    spaces. `registers`, `revokes`: addresses, "" when there's none. `methods` are how a client may
    say who it is. `names_itself`: each answer says which server gave it.
    """

    issuer: str
    authorizes: str
    tokens: str
    resource: str
    registers: str = ""
    revokes: str = ""
    scopes: str = ""
    methods: tuple[str, ...] = ("client_secret_basic",)
    names_itself: bool = False

    @property
    def host(self) -> str:
        """Where a person is sent, as they read it."""
        return host_of(self.authorizes)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"methods": list(self.methods)}

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "Offer":
        return cls(**kept | {"methods": tuple(kept["methods"])})


@dataclass(frozen=True)
class NoOffer:
    """It can't be signed in to so. `sentence` says why, "" when it never said that it could.
    `passing`: it may be otherwise soon, so what was known before still holds."""

    sentence: str = ""
    passing: bool = False


def discover(address: str, challenge: str, *, nearby: bool) -> Offer | NoOffer:
    """Ask an app that turned us away, and whoever signs in for it. `challenge` is what it said
    then (WWW-Authenticate). It blocks for as long as these take."""
    judged = judge_secret(address, nearby=nearby)
    if isinstance(judged, Refused):
        return NoOffer(judged.sentence)
    # What is out on the internet has nothing asked of this computer or its private network.
    nearby = nearby and lies_nearby(judged)
    about = _about_app(address, challenge, nearby)
    if isinstance(about, NoOffer):
        return about
    resource, issuers, scopes = about
    first: NoOffer | None = None
    for issuer in issuers[:MOST_SERVERS]:
        found = _about_server(issuer, address, nearby)
        if isinstance(found, NoOffer):
            first = first or found
            continue
        offer = _offer(found, issuer or found["issuer"], resource, nearby)
        if isinstance(offer, NoOffer):
            first = first or offer
            continue
        return _asking_for(offer, _in_challenge(challenge, "scope") or scopes, found)
    return first or NoOffer()


def wider(offer: Offer, challenge: str) -> Offer | None:
    """The offer with what an app says it needs beside what was given to it; None when it says
    nothing of that."""
    if _in_challenge(challenge, "error") != "insufficient_scope":
        return None
    wanted = _each_scope(_in_challenge(challenge, "scope"))
    scopes = " ".join(dict.fromkeys(offer.scopes.split() + wanted))
    if not wanted or len(scopes) > LONGEST_SCOPES:
        return None
    return Offer.of(offer.as_json() | {"scopes": scopes})


def _about_app(address: str, challenge: str, nearby: bool) -> tuple[str, list[str], str] | NoOffer:
    """What an app calls itself, who signs in for it, and what it asks for.

    Where it says nothing, its own server may sign in for it, as the protocol's first edition had
    it; that one is named "".
    """
    from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
    from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

    named = _in_challenge(challenge, "resource_metadata")
    for url in build_protected_resource_metadata_discovery_urls(named or None, address):
        found = ask(url, nearby=nearby)
        if isinstance(found, NoReply):
            return NoOffer(found.sentence, passing=True)
        if _is_broken(found):
            return NoOffer(f"{host_of(url)} answered with HTTP status {found.status}.", True)
        issuers, resource = found.said.get("authorization_servers"), found.said.get("resource")
        if found.status != 200 or not isinstance(resource, str):
            continue
        ours = resource_url_from_server_url(address)
        if not _is_plain(resource) or not check_resource_allowed(ours, resource):
            return NoOffer(
                "It names itself another address than this one, so its word isn’t taken."
            )
        if not isinstance(issuers, list) or not issuers or not all(map(_is_text, issuers)):
            return NoOffer("It doesn’t say who signs in for it.")
        return resource, issuers, _listed(found.said.get("scopes_supported"))
    return resource_url_from_server_url(address), [""], ""


def _about_server(issuer: str, address: str, nearby: bool) -> dict[str, Any] | NoOffer:
    """What a server that signs in says of itself. `issuer` "": the app's own server, perhaps."""
    from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls

    if issuer:
        judged = judge_secret(issuer, nearby=nearby)
        if isinstance(judged, Refused):
            return NoOffer(judged.sentence)
    parts = urlsplit(address)
    expected = (
        {issuer} if issuer else {f"{parts.scheme}://{parts.netloc}{end}" for end in ("", "/")}
    )
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer or None, address):
        found = ask(url, nearby=nearby)
        if isinstance(found, NoReply):
            return NoOffer(found.sentence, passing=True)
        if _is_broken(found):
            return NoOffer(f"{host_of(url)} answered with HTTP status {found.status}.", True)
        if found.status != 200 or not found.said:
            continue
        if found.said.get("issuer") not in expected:
            return NoOffer(f"{host_of(url)} names itself otherwise, so its word isn’t taken.")
        return found.said
    return NoOffer(f"{host_of(issuer)} doesn’t say how one signs in there." if issuer else "")


def _offer(said: dict[str, Any], issuer: str, resource: str, nearby: bool) -> Offer | NoOffer:
    host = host_of(issuer)
    if "S256" not in _texts(said.get("code_challenge_methods_supported")):
        return NoOffer(
            f"{host} doesn’t say that it keeps a sign-in safe on its way (PKCE with S256)."
        )
    for name, flow in (
        ("response_types_supported", "code"),
        ("grant_types_supported", "authorization_code"),
    ):
        if said.get(name) is not None and flow not in _texts(said[name]):
            return NoOffer(f"{host} doesn’t let anybody sign in by their browser.")
    methods = tuple(
        method
        for method in METHODS
        if method in _texts(said.get("token_endpoint_auth_methods_supported", [METHODS[-1]]))
    )
    if not methods:
        return NoOffer(f"{host} takes no way of saying who asks that is known here.")
    found: dict[str, str] = {}
    for name, needed in (
        ("authorization_endpoint", True),
        ("token_endpoint", True),
        ("registration_endpoint", False),
        ("revocation_endpoint", False),
    ):
        url = said.get(name)
        if url is None and not needed:
            found[name] = ""
            continue
        wrong = _wrong_with(url, nearby)
        if wrong:
            return NoOffer(f"{host} can’t be used: {wrong}")
        found[name] = str(url)
    return Offer(
        issuer=issuer,
        authorizes=found["authorization_endpoint"],
        tokens=found["token_endpoint"],
        resource=resource,
        registers=found["registration_endpoint"],
        revokes=found["revocation_endpoint"],
        methods=methods,
        names_itself=said.get("authorization_response_iss_parameter_supported") is True,
    )


def _wrong_with(url: object, nearby: bool) -> str:
    """Why one of its addresses can't be used, as the end of a sentence; "" when it can."""
    if not isinstance(url, str):
        return "it doesn’t say where one signs in."
    judged = judge_secret(url, nearby=nearby)
    if isinstance(judged, Refused):
        return judged.sentence
    try:
        add_params_to_uri(url, [("state", "a")])
    except ValueError:
        return "one of its addresses can’t be read."
    return ""


def _asking_for(offer: Offer, scopes: str, said: dict[str, Any]) -> Offer:
    """The offer with what is asked for; and to be signed in while nobody is there, where that is
    something to ask for."""
    wanted = _each_scope(scopes)
    if wanted and OFFLINE in _texts(said.get("scopes_supported")):
        wanted.append(OFFLINE)
    asked = " ".join(dict.fromkeys(wanted))
    return Offer.of(offer.as_json() | {"scopes": asked if len(asked) <= LONGEST_SCOPES else ""})


def _in_challenge(challenge: str, name: str) -> str:
    """What a challenge says by this name; "" when it doesn't."""
    import httpx2
    from mcp.client.auth.utils import extract_field_from_www_auth

    if not challenge:
        return ""
    answer = httpx2.Response(401, headers={"WWW-Authenticate": challenge})
    return extract_field_from_www_auth(answer, name) or ""


def _is_broken(reply: Reply) -> bool:
    return reply.status >= 500 or reply.status == 429


def _each_scope(scopes: str) -> list[str]:
    return [scope for scope in scopes.split() if _is_plain(scope)]


def _is_plain(text: str) -> bool:
    """Whether it is visible ASCII alone, as addresses and scopes are."""
    return all("!" <= letter <= "~" for letter in text)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _listed(value: object) -> str:
    return " ".join(_texts(value))
