"""Typed readers of the environment. Each fails with a sentence that names the variable."""

import os
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import unquote, urlsplit

from psycopg.conninfo import conninfo_to_dict

_MISSING = object()


class SettingError(ValueError):
    """A setting is missing or can't be read; the message says which and what to set."""


def text(name: str, default: str | object | None = _MISSING) -> str:
    """The variable as text. Without a default a missing or empty one raises SettingError."""
    value = os.environ.get(name, "")
    if value:
        return value
    if isinstance(default, str):
        return default
    raise SettingError(f"{name} isn't set. Set it before starting.")


def optional(name: str) -> str | None:
    """The variable as text; None when it is missing or empty."""
    return os.environ.get(name) or None


def flag(name: str, default: bool = False) -> bool:
    """A yes or no: 1, true, yes, on, 0, false, no, off, in any case."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise SettingError(f"{name} is {value!r}. Write yes or no.")


def integer(name: str, default: int) -> int:
    """A whole number."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        return int(value)
    except ValueError as error:
        raise SettingError(f"{name} is {value!r}. Write a whole number.") from error


def seconds(name: str, default: float) -> float:
    """A duration in seconds, more than none."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        number = float(value)
    except ValueError as error:
        raise SettingError(f"{name} is {value!r}. Write a number of seconds.") from error
    if not 0 < number < float("inf"):
        raise SettingError(f"{name} is {value!r}. Write a number of seconds above 0.")
    return number


def path(name: str, default: Path) -> Path:
    """A folder or file, absolute."""
    return Path(os.environ.get(name) or default).expanduser().absolute()


def listed(name: str, default: list[str]) -> list[str]:
    """Words separated by commas."""
    value = os.environ.get(name, "")
    return [word.strip() for word in value.split(",") if word.strip()] or default


def networks(name: str) -> list[str]:
    """Addresses or networks separated by commas; none when it isn't set.

    Raises SettingError: a word that is neither would never match anybody.
    """
    words = listed(name, [])
    for word in words:
        try:
            ip_network(word)
        except ValueError as error:
            raise SettingError(
                f"{name} names {word!r}. Write addresses or networks, such as 10.0.0.5 or "
                "172.16.0.0/12, separated by commas."
            ) from error
    return words


def choice(name: str, default: str, among: set[str]) -> str:
    """One word of a few."""
    value = os.environ.get(name, "") or default
    if value not in among:
        raise SettingError(f"{name} is {value!r}. Choose one of: {', '.join(sorted(among))}.")
    return value


@dataclass(frozen=True)
class MailServer:
    """A mail server. `tls` from the first byte, `starttls` after a greeting; neither is plain."""

    host: str
    port: int
    user: str
    password: str
    tls: bool
    starttls: bool


def mail_server(name: str) -> MailServer:
    """An address like `smtp://user:password@mail.example.org:587`.

    `smtp` begins TLS after the greeting, `smtps` at once, `smtp+plain` never. A port that is left
    out is 587, 465 or 25; user and password may be left out, and are percent-encoded. Missing
    raises SettingError, as does what can't be read.
    """
    value = text(name)
    how = f"{name} can't be read. Write it as smtp://user:password@mail.example.org:587."
    ports = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SettingError(how) from error
    if parts.scheme not in ports or not host or parts.path not in {"", "/"}:
        raise SettingError(how)
    return MailServer(
        host,
        port or ports[parts.scheme],
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        tls=parts.scheme == "smtps",
        starttls=parts.scheme == "smtp",
    )


def database(url: str) -> dict[str, object]:
    """Django's settings for one PostgreSQL address (`postgresql://…` or `host=… dbname=…`).

    Raises SettingError when the address can't be read.
    """
    try:
        parts = conninfo_to_dict(url)
    except Exception as error:
        raise SettingError(
            "DATABASE_URL can't be read. Write it as postgresql://user:password@host:5432/name."
        ) from error
    names = {
        "dbname": "NAME",
        "user": "USER",
        "password": "PASSWORD",
        "host": "HOST",
        "port": "PORT",
    }
    known: dict[str, object] = {names[k]: str(v) for k, v in parts.items() if k in names}
    rest = {k: v for k, v in parts.items() if k not in names}
    # Without a threshold nothing is ever prepared, not even on demand (foundation.statements).
    options = {"prepare_threshold": 5, **rest}
    return {"ENGINE": "django.db.backends.postgresql", **known, "OPTIONS": options}
