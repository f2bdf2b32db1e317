"""Settings from the environment: what is read, and what is said where it can't be."""

import pytest

from foundation import env
from foundation.env import MailServer, SettingError


@pytest.mark.parametrize(
    ("url", "server"),
    [
        (
            "smtp://ada:a%2Fb%40c@mail.example.org",
            MailServer("mail.example.org", 587, "ada", "a/b@c", tls=False, starttls=True),
        ),
        (
            "smtps://mail.example.org:2465/",
            MailServer("mail.example.org", 2465, "", "", tls=True, starttls=False),
        ),
        (
            "smtp+plain://[::1]",
            MailServer("::1", 25, "", "", tls=False, starttls=False),
        ),
    ],
)
def test_a_mail_server_is_read(
    monkeypatch: pytest.MonkeyPatch, url: str, server: MailServer
) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    assert env.mail_server("EMAIL_URL") == server


@pytest.mark.parametrize(
    "url",
    ["mail.example.org", "http://mail.example.org", "smtp://", "smtp://a:99999", "smtp://a/b"],
)
def test_what_is_no_mail_server_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(SettingError, match=r"EMAIL_URL can't be read\. Write it as smtp:"):
        env.mail_server("EMAIL_URL")


def test_no_mail_server_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMAIL_URL", raising=False)
    with pytest.raises(SettingError, match="EMAIL_URL isn't set"):
        env.mail_server("EMAIL_URL")


def test_networks_are_read_and_what_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUSTED_PROXIES", raising=False)
    assert env.networks("TRUSTED_PROXIES") == []
    monkeypatch.setenv("TRUSTED_PROXIES", "10.0.0.5, 172.16.0.0/12,::1")
    assert env.networks("TRUSTED_PROXIES") == ["10.0.0.5", "172.16.0.0/12", "::1"]
    for wrong in ("*", "proxy.example", "10.0.0.5/8"):
        monkeypatch.setenv("TRUSTED_PROXIES", wrong)
        with pytest.raises(SettingError, match=r"TRUSTED_PROXIES names .* Write addresses"):
            env.networks("TRUSTED_PROXIES")
