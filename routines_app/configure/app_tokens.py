"""The tokens of an app that is signed in to with OAuth: kept, renewed, taken back.

A refresh token is often worth nothing once it was used, so a renewal holds the row's lock until
the new one is committed: whoever comes second waits, and uses what the first one got.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import connections, transaction

from accounts.models import User, Workspace
from foundation import clock
from foundation.crypto import CannotDecrypt, decrypt, encrypt
from routines_app.agents.app_wire import AppTrouble
from routines_app.agents.oauth_offer import Offer
from routines_app.agents.oauth_tokens import Client, NotGiven, Tokens, renew, revoke
from routines_app.models import AppSignIn, Connector, ConnectorState

log = structlog.get_logger()

AHEAD = timedelta(seconds=60)  # a token is renewed so long before it ends, or a quarter of its life
MEMORY = timedelta(seconds=30)  # so long a turn uses a token without asking whether it still may
AGAIN = "Its sign-in has ended, or was taken back."
NOBODY = "Nobody has signed in to it yet."
UNREADABLE = "Its sign-in can’t be read. Sign in to it again."


@dataclass(frozen=True)
class Held:
    """The tokens of an app, with the server that gave them and as whom we asked it."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    offer: Offer
    client: Client

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Held:
        kept = json.loads(text)
        offer, client = Offer.of(kept["offer"]), Client(**kept["client"])
        return cls(kept["access"], kept["refresh"], offer, client)


def seal(workspace: Workspace, text: str) -> bytes:
    """A secret as a row keeps it."""
    return encrypt(settings.ENCRYPTION_KEY, str(workspace.key), text)


def unseal(workspace: Workspace, sealed: bytes | memoryview) -> str:
    """The secret again. Raises CannotDecrypt."""
    return decrypt(settings.ENCRYPTION_KEY, str(workspace.key), bytes(sealed))


def hold(row: AppSignIn, held: Held, tokens: Tokens, now: datetime) -> None:
    """Put tokens on the row, and when they end; the caller saves it."""
    row.held = seal(row.connector.workspace, held.as_json())
    life = None if tokens.life is None else timedelta(seconds=tokens.life)
    row.expires_at = None if life is None else now + life
    row.renew_at = None if life is None else now + life - min(AHEAD, life / 4)
    if not held.refresh:
        row.ends_at = row.expires_at  # nothing renews it, so it ends with the token
    elif tokens.refresh_life is not None:
        row.ends_at = now + timedelta(seconds=tokens.refresh_life)
    elif tokens.refresh:
        row.ends_at = None


class KeptTokens:
    """Where a turn's session with an app gets its token: from the row, in a thread beside the
    event loop, and for a moment from memory: an app that is disconnected is soon out of reach of
    the turns that go on."""

    def __init__(self, connector_id: int) -> None:
        self._connector_id = connector_id
        self._access = ""
        self._until = clock.now()

    async def token(self) -> str | AppTrouble:
        if self._access and clock.now() < self._until:
            return self._access
        return await self._ask(lambda: usable_token(self._connector_id))

    async def instead_of(self, turned_away: str) -> str | AppTrouble:
        return await self._ask(lambda: usable_token(self._connector_id, instead_of=turned_away))

    async def _ask(self, work: Callable[[], Usable | AppTrouble]) -> str | AppTrouble:
        found = await asyncio.to_thread(_and_hang_up, work)
        if isinstance(found, AppTrouble):
            self._access = ""
            return found
        asked_again = clock.now() + MEMORY
        self._access = found.access
        self._until = min(found.renew_at or asked_again, asked_again)
        return found.access


@dataclass(frozen=True)
class Usable:
    """A token to sign in with. `renew_at` None: nobody knows how long."""

    access: str = field(repr=False)
    renew_at: datetime | None


def usable_token(connector_id: int, *, instead_of: str = "") -> Usable | AppTrouble:
    """An app's token, renewed first when it's time, or when the app turned `instead_of` away.

    A server that can't be reached is no refusal: a token that still holds is used meanwhile. A
    renewal that is refused ends the sign-in, and the app's row says so at once.
    """
    with transaction.atomic():
        row = (
            AppSignIn.objects.select_for_update(of=("self",))
            .select_related("connector__workspace")
            .filter(connector_id=connector_id, connector__removed_at__isnull=True)
            .first()
        )
        if row is None or not row.held:
            never = row is None or row.signed_in_at is None
            return AppTrouble(NOBODY if never else AGAIN, refused=True)
        try:
            held = Held.of(unseal(row.connector.workspace, row.held))
        except CannotDecrypt:
            return AppTrouble(UNREADABLE, refused=True)
        now = clock.now()
        due = row.renew_at is not None and row.renew_at <= now
        if held.access != instead_of and not due:
            return Usable(held.access, row.renew_at)
        return _renewed(row, held, now, wanted=held.access == instead_of)


def take_back(row: AppSignIn) -> bool:
    """Tell the server that what it handed over is to be worth nothing; whether it took that.
    True, too, where nothing is held."""
    if not row.held:
        return True
    try:
        held = Held.of(unseal(row.connector.workspace, row.held))
    except CannotDecrypt:
        return False
    return revoked(held)


def revoked(held: Held) -> bool:
    """Have tokens taken back where they came from."""
    if not held.offer.revokes:
        return False
    token, kind = (held.refresh, "refresh_token") if held.refresh else (held.access, "access_token")
    taken = revoke(held.offer, held.client, token, kind, nearby=settings.NEARBY_MODELS)
    if taken and held.refresh:
        # Most servers end both together; one that doesn't is told, and what it says changes nothing
        revoke(held.offer, held.client, held.access, "access_token", nearby=settings.NEARBY_MODELS)
    return taken


def _renewed(row: AppSignIn, held: Held, now: datetime, *, wanted: bool) -> Usable | AppTrouble:
    """A newer token, kept; `wanted`: the one that's held was turned away."""
    ended = wanted or row.expires_at is None or row.expires_at <= now
    if not held.refresh:
        return _over(row) if ended else Usable(held.access, row.expires_at)
    found = renew(held.offer, held.client, held.refresh, nearby=settings.NEARBY_MODELS)
    if isinstance(found, Tokens):
        newer = Held(found.access, found.refresh or held.refresh, held.offer, held.client)
        hold(row, newer, found, now)
        row.save(update_fields=["held", "renew_at", "expires_at", "ends_at"])
        log.info("sign_in_renewed", connector=row.connector_id)
        return Usable(newer.access, row.renew_at)
    log.warning("sign_in_not_renewed", connector=row.connector_id, refused=found.refused)
    if found.refused:
        return _over(row, found)
    if not ended:
        return Usable(held.access, now + AHEAD / 4)
    return AppTrouble(f"Its sign-in couldn’t be renewed. {found.sentence}")


def _over(row: AppSignIn, refusal: NotGiven | None = None) -> AppTrouble:
    """Its sign-in has ended: what is worth nothing any more is forgotten, and the app says so."""
    row.held, row.renew_at, row.expires_at, row.ends_at = b"", None, None, None
    if refusal is not None and refusal.client_unknown:
        row.client = b""
    row.save(update_fields=["held", "client", "renew_at", "expires_at", "ends_at"])
    Connector.objects.filter(pk=row.connector_id).update(
        state=ConnectorState.REFUSED, trouble=AGAIN
    )
    return AppTrouble(AGAIN, refused=True)


def _and_hang_up(work: Callable[[], Usable | AppTrouble]) -> Usable | AppTrouble:
    """Do it in a thread of the event loop's, which keeps no connection to the database."""
    try:
        return work()
    finally:
        connections.close_all()


def kept_client(row: AppSignIn, offer: Offer, back_to: str) -> Client | None:
    """As whom we ask at this offer's server, if that is known: one is good for the server, and
    where it was registered by itself for the address, that it was made for."""
    if not row.client:
        return None
    try:
        kept = json.loads(unseal(row.connector.workspace, row.client))
    except CannotDecrypt:
        return None
    if kept["issuer"] != offer.issuer or kept["back_to"] not in ("", back_to):
        return None
    return Client(**kept["client"])


def keep_client(row: AppSignIn, offer: Offer, client: Client, back_to: str) -> None:
    """Keep as whom we ask there. `back_to` "": a person had it registered."""
    kept = {"issuer": offer.issuer, "back_to": back_to, "client": asdict(client)}
    row.client = seal(row.connector.workspace, json.dumps(kept))
    row.save(update_fields=["client"])


def signed_in(row: AppSignIn, person: User, held: Held, tokens: Tokens, now: datetime) -> None:
    """Keep what a person's sign-in brought; the caller holds the row's lock."""
    hold(row, held, tokens, now)
    row.signed_in_by, row.signed_in_at = person, now
    row.save()
