"""Pages over TLS: the name that was asked for is what the certificate must bear, whatever number
was pinned for it."""

import socket
import ssl
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from foundation import clock
from foundation.addresses import check_address
from routines_app.agents import fetching
from routines_app.agents.fetching import NotFetched, Page, fetch
from tests.fakes.web_pages import WebPage, WebPages

NAME = "pages.example.org"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for NAME alone, signed by itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = clock.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


@pytest.fixture
def port(certificate: Path) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with WebPages({"/": WebPage("<p>Safe.")}) as web:
        yield web.speak_tls(context)


def ask(host: str, port: int) -> Page | NotFetched:
    def resolve(name: str, number: int) -> list[Any]:
        return [(socket.AF_INET, 1, 6, "", ("127.0.0.1", number))]

    return fetch(
        f"https://{host}:{port}/",
        lambda url: check_address(url, allow_loopback=True, resolve=resolve),
        lambda: None,
        lambda page: page,
    )


def test_a_certificate_that_nobody_vouches_for_is_refused(port: int) -> None:
    answer = ask(NAME, port)
    assert isinstance(answer, NotFetched)
    assert "certificate can't be trusted" in answer.sentence


def test_the_name_is_what_the_certificate_must_bear(
    port: int, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(fetching, "trusted", lambda: trusting)
    answer = ask(NAME, port)
    assert isinstance(answer, Page)
    assert answer.body == b"<p>Safe."
    other = ask("other.example.org", port)
    assert isinstance(other, NotFetched)
    assert "certificate can't be trusted" in other.sentence
