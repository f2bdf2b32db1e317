"""A workspace's apps: connecting one, signing in again, what its tools change, removing it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.models import User, Workspace
from foundation import database_clock
from foundation.addresses import Refused, check_address
from foundation.crypto import CannotDecrypt, decrypt, encrypt
from routines_app.models import Connector, ConnectorState

MOST_HEADERS = 10
LONGEST_HEADERS = 8_000  # characters of all of them
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# What the connection itself says of each request.
_OURS = re.compile(
    r"(?i)(host|connection|content-.*|transfer-encoding|accept(-encoding)?|te|upgrade|expect|mcp-.*)"
)

Problems = dict[str, str]
"""What stands against it: a field's name to a sentence."""


@dataclass(frozen=True)
class NewApp:
    """What the form holds. `headers` is one `Name: value` a line, as it signs in."""

    name: str
    address: str
    headers: str = ""


def present_apps(workspace: Workspace) -> list[Connector]:
    """The apps of a workspace, by name."""
    here = Connector.objects.filter(workspace=workspace, removed_at__isnull=True)
    return list(here.select_related("added_by", "sign_in__signed_in_by").order_by("name", "pk"))


def signed_in_by(workspace: Workspace, person: User) -> list[Connector]:
    """The apps of a workspace that are signed in to as this person, by name."""
    here = Connector.objects.filter(workspace=workspace, removed_at__isnull=True)
    theirs = here.filter(sign_in__signed_in_by=person).exclude(sign_in__held=b"")
    return list(theirs.order_by("name", "pk"))


def add_app(workspace: Workspace, person: User, new: NewApp) -> Connector | Problems:
    """Keep an app, its headers encrypted for this workspace, or say all that stands against it.

    Its tools aren't known until it's asked for them (`ask_for_tools`).
    """
    headers = read_headers(new.headers)
    found = _problems(new)
    if isinstance(headers, str):
        return found | {"headers": headers}
    if found:
        return found
    app = Connector(
        workspace=workspace,
        name=new.name.strip(),
        slug=slug_of(new.name),
        address=new.address.strip(),
        added_by=person,
    )
    _seal(app, headers)
    try:
        with transaction.atomic():
            app.save()
    except IntegrityError as error:
        if "connector_slug_unique" not in str(error):
            raise
        return {"name": "An app is called so already. Choose another name, or disconnect that one."}
    return app


def sign_in_again(app: Connector, headers: str) -> Problems:
    """Replace the headers that an app is signed in with; what stands against them, {} when they
    are kept."""
    read = read_headers(headers)
    if isinstance(read, str):
        return {"headers": read}
    _seal(app, read)
    app.state, app.trouble = ConnectorState.NEW, ""
    app.save(update_fields=["sealed", "header_names", "state", "trouble"])
    return {}


def drop_header(app: Connector, name: str) -> None:
    """Leave out a header that something else sets from now on; the caller saves the row. Headers
    that can't be read any more are all left out."""
    if name.lower() not in [each.lower() for each in app.header_names]:
        return
    try:
        kept = decrypt(settings.ENCRYPTION_KEY, str(app.workspace.key), bytes(app.sealed))
    except CannotDecrypt:
        kept = "[]"
    left = [(each, value) for each, value in json.loads(kept) if each.lower() != name.lower()]
    _seal(app, tuple(left))


def set_changes(app: Connector, changes: Mapping[str, bool]) -> None:
    """Keep what a person says of tools by their names: whether each changes something."""
    with transaction.atomic():
        held = Connector.objects.select_for_update().get(pk=app.pk)
        held.tools = [
            tool | {"changes": changes[tool["name"]], "by_person": True}
            if tool["name"] in changes and changes[tool["name"]] != tool["changes"]
            else tool
            for tool in held.tools
        ]
        held.save(update_fields=["tools"])


def remove_app(app: Connector) -> None:
    """Forget an app and how it was signed in to; its name stays, for what is said of it."""
    Connector.objects.filter(pk=app.pk).update(
        removed_at=database_clock.now(), sealed=b"", header_names=[], tools=[]
    )


def ask_for_tools(app: Connector) -> None:
    """Have a runner ask an app for its tools; the row shows the answer."""
    Connector.objects.filter(pk=app.pk).update(checked_at=None)
    transaction.on_commit(
        lambda: current_app.send_task("routines_app.tasks.ask_connector", [app.pk])
    )


def slug_of(name: str) -> str:
    """What stands before the names of an app's tools: letters, figures and single hyphens.

    >>> slug_of("Help_desk (Acme)"), slug_of("7 Geese"), slug_of("…")
    ('help-desk-acme', 'app-7-geese', '')
    """
    plain = slugify(name.replace("_", " "))[:20].strip("-")
    return plain if not plain or plain[0].isalpha() else f"app-{plain}"[:20].strip("-")


def read_headers(text: str) -> tuple[tuple[str, str], ...] | str:
    """Headers as typed, one a line; or what is wrong with them."""
    if len(text) > LONGEST_HEADERS:
        return "Shorten the headers to 8,000 characters."
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
    if len(lines) > MOST_HEADERS:
        return "Write ten headers or fewer."
    found = []
    for number, line in enumerate(lines, 1):
        name, colon, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not _NAME.fullmatch(name) or not value:
            return f"Write line {number} as a name, a colon and a value: Authorization: Bearer …"
        if not value.isascii() or not value.isprintable():
            return f"Line {number} holds a character that no header may have. Paste it again."
        if _OURS.fullmatch(name):
            return f"Leave out {name}: the connection sets that itself."
        found.append((name, value))
    return tuple(found)


def _problems(new: NewApp) -> Problems:
    found: Problems = {}
    name, address = new.name.strip(), new.address.strip()
    if not name or "\0" in name or not slug_of(name):
        found["name"] = "Give it a name with a letter from a to z in it, such as Helpdesk."
    elif len(name) > 60:
        found["name"] = "Shorten the name to 60 characters."
    judged = check_address(address, allow_loopback=settings.NEARBY_MODELS)
    if isinstance(judged, Refused):
        found["address"] = judged.sentence
    elif len(address) > 500:
        found["address"] = "Write an address of 500 characters or fewer."
    return found


def _seal(app: Connector, headers: tuple[tuple[str, str], ...]) -> None:
    app.header_names = [name for name, _ in headers]
    owner = str(app.workspace.key)
    app.sealed = encrypt(settings.ENCRYPTION_KEY, owner, json.dumps(headers)) if headers else b""
