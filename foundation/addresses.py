"""The rule for addresses that a person types and that this place then calls.

A hosted installation must never be made to call its own network: neither its loopback services,
nor its neighbours, nor the cloud's metadata address. So a name is resolved here, every address it
has is judged, and the caller connects to one of exactly these addresses (a second look-up could
answer differently) and judges each redirect anew.

On a computer of one owner (`allow_loopback`) the loopback and the private network are allowed:
a model server of one's own, on `http://localhost:11434` or on another computer at home, is a main
use there. What can't be a model server stays refused there too.
"""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Sequence[Any]]

_NEVER_4 = tuple(
    IPv4Network(each)
    for each in (
        "0.0.0.0/8",  # this network: many systems take it for the loopback
        "169.254.0.0/16",  # link-local, with the metadata address of most clouds
        "100.100.100.200/32",  # the metadata address of one more
        "168.63.129.16/32",  # public by its number, yet one cloud's own agent answers there
        "192.0.0.0/24",  # protocol assignments, another metadata address among them
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  # documentation
        "198.18.0.0/15",  # benchmarks
        "192.88.99.0/24",  # the old 6to4 relays
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)  # fmt: skip
_NEARBY_4 = tuple(
    IPv4Network(each)
    for each in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
_NEVER_6 = tuple(
    IPv6Network(each)
    for each in (
        "::/128",
        "fe80::/10", "fec0::/10",  # link-local, and its predecessor
        "fd00:ec2::254/128",  # a cloud's metadata address
        "fd20:ce::254/128",  # and another's
        "ff00::/8",  # multicast
        "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16",  # discard, documentation, SRv6
        "2001::/32",  # Teredo: hides an IPv4 address
        "64:ff9b:1::/48",  # local NAT64: hides one too, nobody knows where
        "::/96",  # IPv4-compatible, long given up (the loopback ::1 is judged before)
    )
)  # fmt: skip
_NEARBY_6 = (IPv6Network("::1/128"), IPv6Network("fc00::/7"))
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True)
class ResolvedAddress:
    """An address that may be called, with what its host resolved to, in the system's order."""

    url: str
    scheme: str
    host: str
    port: int
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """It may not be called; `sentence` says why and what to do."""

    sentence: str


def check_address(
    url: str,
    *,
    allow_loopback: bool,
    allow_query: bool = False,
    resolve: Resolve = socket.getaddrinfo,
) -> ResolvedAddress | Refused:
    """Judge an http or https address. No connection is made; a name is looked up by `resolve`.

    `allow_query`: it's a page's address, which may go on with ? and more, not a server's.
    """
    parts = _parts(url, allow_query)
    if isinstance(parts, Refused):
        return parts
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = resolve(host, port)
    except (OSError, UnicodeError):
        return Refused(f"{host} can’t be found. Check how it is written.")
    addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses:
        return Refused(f"{host} can’t be found. Check how it is written.")
    for text in addresses:
        problem = _problem(ip_address(text), allow_loopback)
        if problem:
            return Refused(f"{host} {problem}")
    return ResolvedAddress(url, parts.scheme, host, port, addresses)


def lies_nearby(found: ResolvedAddress) -> bool:
    """Whether all of its addresses are on this computer or its private network, so that what is
    sent there unencrypted can't be read on the way through the internet."""
    return all(
        any(address in network for network in _NEARBY_4 + _NEARBY_6)
        for address in map(ip_address, found.addresses)
    )


def _parts(url: str, allow_query: bool) -> SplitResult | Refused:
    whole = Refused("Write the whole address, with https:// or http:// in front.")
    # other readers of addresses take a backslash for a slash, and drop control characters
    if not url or len(url) > 2000 or any(not "!" <= c <= "~" or c == "\\" for c in url):
        return whole
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return whole
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return whole
    if parts.username is not None or parts.password is not None:
        return Refused("Leave the name and password out of the address; a key has its own field.")
    if parts.fragment or (parts.query and not allow_query):
        return Refused("Leave out what follows ? or # in the address.")
    return parts


def _problem(address: Address, allow_loopback: bool) -> str:
    """The end of a sentence about this address; "" when it may be called."""
    hidden = _hidden(address)
    if hidden is not None:
        return _problem(hidden, allow_loopback=False)
    nearby, never = (
        (_NEARBY_4, _NEVER_4) if isinstance(address, IPv4Address) else (_NEARBY_6, _NEVER_6)
    )
    close = any(address in network for network in nearby)
    metadata = any(address in network for network in never) and address != IPv6Address("::1")
    if metadata or (not close and _special(address)):
        return "leads to an address that no server on the internet has. Use another address."
    if close and not allow_loopback:
        return "lies inside this place’s own network, which isn’t called. Use a public address."
    return ""


def _special(address: Address) -> bool:
    """What Python knows to be special, which `is_global` alone doesn't cover."""
    return not address.is_global or address.is_multicast or address.is_reserved


def _hidden(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for: mapped, NAT64, or 6to4."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour
