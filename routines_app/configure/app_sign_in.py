"""Signing in to an app with OAuth: a person leaves for its sign-in, and comes back with an answer.

Between the two nothing is in memory: what an answer is judged by, and exchanged with, is a row.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from enum import StrEnum

from django.conf import settings
from django.db import transaction

from accounts.access import membership_of
from accounts.models import Role, User
from foundation import clock
from foundation.crypto import CannotDecrypt
from routines_app.agents.oauth_offer import Offer, wider
from routines_app.agents.oauth_tokens import (
    LONGEST,
    Client,
    NotGiven,
    Tokens,
    client_of,
    exchange,
    leave_for,
    new_verifier,
    register,
)
from routines_app.configure.app_tokens import (
    Held,
    keep_client,
    kept_client,
    revoked,
    seal,
    signed_in,
    take_back,
    unseal,
)
from routines_app.configure.connectors import Problems, drop_header
from routines_app.models import AppSignIn, Connector, ConnectorState, SignInAttempt

LASTS = timedelta(minutes=10)  # from leaving to the answer
FORGOTTEN = timedelta(days=1)  # after which nothing of an attempt is kept


class Came(StrEnum):
    """How a person came back without having signed in."""

    DECLINED = "declined"  # they, or the server, said no
    BROKE = "broke"  # the server said that something failed there
    LATE = "late"
    USED = "used"  # this answer was brought before
    MIXED = "mixed"  # the answer isn't of the server that was asked
    REFUSED = "refused"  # the server doesn't take its own answer back
    SILENT = "silent"  # the server couldn't be asked


@dataclass(frozen=True)
class Typed:
    """A client that a person had registered by hand; "" where nothing was typed."""

    client_id: str = ""
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class Answer:
    """What a person brought back in the address: all of it text from outside."""

    state: str
    code: str = field(default="", repr=False)
    error: str = ""
    issuer: str | None = None


@dataclass(frozen=True)
class SignedIn:
    """It's signed in to now."""

    app: Connector


@dataclass(frozen=True)
class NotSignedIn:
    """It isn't, and nothing has changed. `app` None: the answer is nobody's, or not this one's."""

    app: Connector | None = None
    came: Came | None = None


def offer_of(app: Connector) -> Offer | None:
    """Where an app may be signed in to, as last known."""
    row = AppSignIn.objects.filter(connector=app).first()
    return Offer.of(row.offer) if row is not None and row.offer else None


def keep_offer(app: Connector, offer: Offer | None) -> None:
    """Keep where an app may be signed in to; what is held of an earlier sign-in stays."""
    AppSignIn.objects.update_or_create(
        connector=app, defaults={"offer": {} if offer is None else offer.as_json()}
    )


def ask_for_more(app_id: int, challenge: str) -> None:
    """Have the next sign-in ask for what an app said a call needs, beside what it asks for now."""
    row = AppSignIn.objects.filter(connector_id=app_id).first()
    if row is None or not row.offer:
        return
    more = wider(Offer.of(row.offer), challenge)
    if more is not None:
        AppSignIn.objects.filter(pk=row.pk).update(offer=more.as_json())


def knows_client(app: Connector, offer: Offer, back_to: str) -> bool:
    """Whether it's known as whom to ask there."""
    row = AppSignIn.objects.select_related("connector__workspace").get(connector=app)
    return kept_client(row, offer, back_to) is not None


def begin_sign_in(
    app: Connector, person: User, session: str, back_to: str, typed: Typed
) -> str | Problems:
    """The address to send a person's browser to, or what stands against it.

    `session` is the key of the session that they have to come back in.
    """
    row = AppSignIn.objects.select_related("connector__workspace").get(connector=app)
    offer = Offer.of(row.offer)
    client = _client(row, offer, back_to, typed)
    if isinstance(client, dict):
        return client
    state, verifier = secrets.token_urlsafe(32), new_verifier()
    kept = {"offer": offer.as_json(), "client": asdict(client), "verifier": verifier}
    now = clock.now()
    old = SignInAttempt.objects.filter(began_at__lt=now - FORGOTTEN)
    old.filter(connector__workspace_id=app.workspace_id).delete()
    SignInAttempt.objects.create(
        state_digest=_digest(state),
        session_digest=_digest(session),
        connector=app,
        person=person,
        sealed=seal(app.workspace, json.dumps(kept | {"back_to": back_to})),
        began_at=now,
    )
    return leave_for(offer, client, back_to=back_to, state=state, verifier=verifier)


def finish_sign_in(person: User, session: str, answer: Answer) -> SignedIn | NotSignedIn:
    """Take what a person brought back, once. It asks the server, for some seconds at most."""
    attempt = (
        SignInAttempt.objects.select_related("connector__workspace")
        .filter(state_digest=_digest(answer.state), session_digest=_digest(session), person=person)
        .first()
    )
    if attempt is None or attempt.connector.removed_at is not None:
        return NotSignedIn()
    app = attempt.connector
    membership = membership_of(person, app.workspace.slug)
    if membership is None or not membership.may(Role.ADMIN):
        return NotSignedIn()
    now = clock.now()
    taken = SignInAttempt.objects.filter(pk=attempt.pk, used_at__isnull=True).update(
        used_at=now, sealed=b""
    )
    if taken != 1:
        return NotSignedIn(app, Came.USED)
    if attempt.began_at + LASTS <= now:
        return NotSignedIn(app, Came.LATE)
    try:
        kept = json.loads(unseal(app.workspace, attempt.sealed))
    except CannotDecrypt:
        return NotSignedIn(app, Came.LATE)
    offer, client = Offer.of(kept["offer"]), Client(**kept["client"])
    if answer.issuer != offer.issuer and (answer.issuer is not None or offer.names_itself):
        return NotSignedIn(app, Came.MIXED)
    if answer.error or not answer.code:
        return NotSignedIn(app, Came.DECLINED if answer.error == "access_denied" else Came.BROKE)
    found = exchange(
        offer,
        client,
        answer.code,
        back_to=kept["back_to"],
        verifier=kept["verifier"],
        nearby=settings.NEARBY_MODELS,
    )
    if isinstance(found, NotGiven):
        if found.client_unknown:
            AppSignIn.objects.filter(connector=app).update(client=b"")
        return NotSignedIn(app, Came.REFUSED if found.refused else Came.SILENT)
    held = Held(found.access, found.refresh, offer, client)
    if not _keep(app, person, held, found):
        revoked(held)
        return NotSignedIn()
    return SignedIn(app)


def end_sign_in(app: Connector) -> bool:
    """Forget an app's tokens, and have them taken back where they came from; whether that was
    done there, True where there was nothing to take back."""
    with transaction.atomic():
        # A renewal that is under way ends first, so that what is taken back is the newest.
        row = (
            AppSignIn.objects.select_for_update(of=("self",))
            .select_related("connector__workspace")
            .filter(connector=app)
            .first()
        )
        if row is None:
            return True
        # also of one that is over: while somebody counts as signed in, no header is sent
        AppSignIn.objects.filter(pk=row.pk).update(
            held=b"", renew_at=None, expires_at=None, ends_at=None,
            signed_in_by=None, signed_in_at=None,
        )  # fmt: skip
    return take_back(row)


def _keep(app: Connector, person: User, held: Held, tokens: Tokens) -> bool:
    """Keep what was handed over; False when the app was disconnected meanwhile."""
    with transaction.atomic():
        # The sign-in's row first, then the app's, as a renewal takes them that was refused.
        row = (
            AppSignIn.objects.select_for_update(of=("self",))
            .select_related("connector__workspace")
            .get(connector=app)
        )
        there = (
            Connector.objects.select_for_update(of=("self",))
            .select_related("workspace")
            .filter(pk=app.pk, removed_at__isnull=True)
            .first()
        )
        if there is None:
            return False
        signed_in(row, person, held, tokens, clock.now())
        drop_header(there, "Authorization")
        # What it can was listed before: no run has to wait until it's listed once more.
        there.state = ConnectorState.CONNECTED if there.tools else ConnectorState.NEW
        there.trouble = ""
        there.save(update_fields=["sealed", "header_names", "state", "trouble"])
    return True


def _client(row: AppSignIn, offer: Offer, back_to: str, typed: Typed) -> Client | Problems:
    """As whom to ask: as somebody typed, as it was kept, or newly registered."""
    name, secret = typed.client_id.strip(), typed.secret.strip()
    if name or secret:
        problems = _wrong_with(name, secret)
        if problems:
            return problems
        client = client_of(offer, name, secret)
        keep_client(row, offer, client, "")
        return client
    kept = kept_client(row, offer, back_to)
    if kept is not None and not (offer.registers and _never_came_back(row)):
        return kept
    if not offer.registers:
        return {"client_id": f"Write the client id that {offer.host} gave for this address."}
    found = register(offer, back_to, nearby=settings.NEARBY_MODELS)
    if isinstance(found, NotGiven):
        if not found.refused:
            return {"sign_in": f"{found.sentence} Try it again in a moment."}
        return {"client_id": f"{found.sentence} Register it there yourself, and write it here."}
    keep_client(row, offer, found, back_to)
    return found


def _never_came_back(row: AppSignIn) -> bool:
    """Whether whoever left last brought nothing back. A server that has forgotten a client says so
    to the person alone, so from then on it's better to be registered anew."""
    last = SignInAttempt.objects.filter(connector_id=row.connector_id).order_by("-pk").first()
    return last is not None and last.used_at is None


def _wrong_with(name: str, secret: str) -> Problems:
    found = {}
    for key, text, what in (("client_id", name, "client id"), ("client_secret", secret, "secret")):
        if len(text) > LONGEST or not all("!" <= letter <= "~" for letter in text):
            found[key] = f"This holds a character that no {what} has. Paste it again."
    if secret and not name:
        found["client_id"] = "Write the client id that this secret belongs to."
    return found


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
