"""Addresses that may be called, and those that may not. Nothing here connects anywhere."""

import socket
from typing import Any

import pytest

from foundation.addresses import Refused, ResolvedAddress, check_address

NEVER = [
    "0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "100.100.100.200", "192.0.0.192",
    "168.63.129.16", "192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "192.88.99.1",
    "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "fe80::1", "fe80::1%2", "fec0::1", "ff02::1", "fd00:ec2::254", "fd20:ce::254",
    "100::1", "2001:db8::1", "3fff::1", "5f00::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "64:ff9b:1::a9fe:a9fe", "::127.0.0.1", "::ffff:169.254.169.254", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b::a00:1",
    "2002:a9fe:a9fe::1", "2002:7f00:1::", "2002:c0a8:101::1", "4000::1",
]  # fmt: skip
NEARBY = [
    "127.0.0.1", "127.255.0.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.20",
    "100.64.0.7", "::1", "fc00::1", "fd12:3456::7",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "192.0.1.1", "2606:4700::1111",
    "2001:4860:4860::8888", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8",
]  # fmt: skip


def to(*addresses: str) -> Any:
    """A look-up that answers with these."""

    def resolve(host: str, port: int) -> list[Any]:
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, 1, 6, "", (each, port))
            for each in addresses
        ]

    return resolve


def judge(*addresses: str, allow_loopback: bool = False) -> ResolvedAddress | Refused:
    return check_address(
        "https://models.example.org/v1", allow_loopback=allow_loopback, resolve=to(*addresses)
    )


@pytest.mark.parametrize("allow_loopback", [True, False])
@pytest.mark.parametrize("address", NEVER)
def test_what_no_server_has_is_refused_everywhere(address: str, allow_loopback: bool) -> None:
    answer = judge(address, allow_loopback=allow_loopback)
    assert isinstance(answer, Refused)
    assert answer.sentence.startswith("models.example.org ")


@pytest.mark.parametrize("address", NEARBY)
def test_the_own_network_is_called_only_where_one_owner_runs_it(address: str) -> None:
    assert isinstance(judge(address), Refused)
    assert isinstance(judge(address, allow_loopback=True), ResolvedAddress)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_called(address: str) -> None:
    answer = judge(address)
    assert isinstance(answer, ResolvedAddress)
    assert answer.addresses == (address,)


def test_one_bad_address_among_good_ones_is_enough() -> None:
    assert isinstance(judge("8.8.8.8", "127.0.0.1"), Refused)
    assert isinstance(judge("2606:4700::1111", "::1"), Refused)


@pytest.mark.parametrize(
    "url",
    [
        "", "models.example.org", "//models.example.org/v1", "ftp://models.example.org/",
        "file:///etc/passwd", "gopher://models.example.org/", "javascript:alert(1)",
        "http://", "https:///v1", "http://models.example.org:0/", "http://models.example.org:99999/",
        "http://models.example.org:x/", "http://[::1/", "https://models.example.org\\@evil.example/",
        "https://models.example.org/ v1", "https://models.example.org/\nv1",
        "https://models.example.org/\tv1", "https://mödels.example.org/",
        "https://models.example.org/" + "a" * 2000,
    ],
)  # fmt: skip
def test_what_is_no_whole_address_is_refused_before_a_look_up(url: str) -> None:
    def never(host: str, port: int) -> list[Any]:
        raise AssertionError("looked up")

    answer = check_address(url, allow_loopback=True, resolve=never)
    assert isinstance(answer, Refused)
    assert "whole address" in answer.sentence


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://me:secret@models.example.org/v1", "name and password"),
        ("https://me@models.example.org/v1", "name and password"),
        ("https://models.example.org/v1?to=x", "follows ?"),
        ("https://models.example.org/v1#x", "follows ?"),
    ],
)
def test_what_an_address_may_not_carry(url: str, words: str) -> None:
    answer = check_address(url, allow_loopback=False, resolve=to("8.8.8.8"))
    assert isinstance(answer, Refused)
    assert words in answer.sentence
    assert "secret" not in answer.sentence


def test_a_name_that_nobody_has_says_so() -> None:
    def unknown(host: str, port: int) -> list[Any]:
        raise socket.gaierror(-2, "Name or service not known")

    answer = check_address("https://nowhere.example/v1", allow_loopback=True, resolve=unknown)
    assert answer == Refused("nowhere.example can’t be found. Check how it is written.")


@pytest.mark.parametrize(
    "url", ["http://2130706433/", "http://127.1/", "http://0x7f.0.0.1/", "http://[::ffff:7f00:1]/"]
)
def test_other_spellings_of_the_loopback_are_seen_through(url: str) -> None:
    assert isinstance(check_address(url, allow_loopback=False), Refused)


def test_the_port_is_the_schemes_own_unless_written() -> None:
    plain = check_address("http://127.0.0.1/v1", allow_loopback=True)
    written = check_address("http://127.0.0.1:11434/v1", allow_loopback=True)
    assert isinstance(plain, ResolvedAddress) and plain.port == 80
    assert isinstance(written, ResolvedAddress) and written.port == 11434
    assert written.addresses == ("127.0.0.1",)
