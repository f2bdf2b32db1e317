"""The demo's workspaces: which they are, how they are made and how they are taken away again."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from django.conf import settings

from accounts.models import Membership, Role, User, Workspace
from billing.models import Account, Hold, LedgerEntry
from billing.pricing import seed_price_table
from foundation.crypto import encrypt
from machines.access import provider_named
from machines.models import Machine
from machines.providers.base import NotFound, Ref
from routines_app.admission.machine_care import stored_at
from routines_app.agents.oauth_offer import Offer
from routines_app.agents.oauth_tokens import Client, Tokens
from routines_app.configure.app_tokens import Held, signed_in
from routines_app.configure.workspace import furnish
from routines_app.management.demo.cast import DESK, HIRES, MACHINES, WEEKS, Hire
from routines_app.management.demo.hand import Hand
from routines_app.models import (
    Agent,
    AgentVersion,
    AppSignIn,
    Connector,
    ConnectorState,
    Fire,
    ModelKey,
    Routine,
    Run,
)
from routines_app.rules.allowed import AllowedApp, allowed_json, in_order
from routines_app.rules.roster import Tier, tools_of

OURS = UUID("0d2b6f0e-52e1-4c1b-9f0c-2f6a7a0c1833")
"""Each demo workspace's own key comes of this and its slug: so a workspace is known as ours."""

GUEST = ("guest@demo.example", "Guest")
COLLEAGUE = ("ada@demo.example", "Ada Byron")
ZONE = "Europe/London"


@dataclass(frozen=True)
class NotOurs:
    """There is a workspace at this address that the demo didn't make."""

    slug: str


@dataclass(frozen=True)
class Place:
    """Which workspace the demo is in."""

    slug: str
    name: str

    @property
    def key(self) -> UUID:
        """What marks it as the demo's own."""
        return uuid5(OURS, self.slug)

    def find(self) -> Workspace | NotOurs | None:
        """The demo's workspace; None when there is none at this address."""
        found = Workspace.objects.filter(slug=self.slug).first()
        if found is not None and found.key != self.key:
            return NotOurs(self.slug)
        return found


FULL = Place("demo", "Weir Library")
EMPTY = Place("demo-empty", "Empty demo")


def found(place: Place, guest: User, hand: Hand, born: datetime) -> Workspace:
    """The workspace with its account, roster and first machine, made at `born`."""
    hand.to(born)
    seed_price_table(born)
    workspace = Workspace.objects.create(
        key=place.key, name=place.name, slug=place.slug, zone=guest.zone
    )
    Membership.objects.create(workspace=workspace, user=guest, role=Role.OWNER)
    furnish(workspace, guest)
    return workspace


def people(email: str | None, password: str) -> tuple[User, User]:
    """Who signs in (`email`: somebody who is here already) and their colleague, who can't.

    Raises User.DoesNotExist when nobody has that email.
    """
    colleague = User.objects.filter(email=COLLEAGUE[0]).first()
    if colleague is None:
        colleague = User.objects.create_user(*COLLEAGUE[:1], name=COLLEAGUE[1], zone=ZONE)
    if email is not None:
        return User.objects.get(email=email.strip().lower()), colleague
    guest = User.objects.filter(email=GUEST[0]).first()
    if guest is None:
        return User.objects.create_user(GUEST[0], password, name=GUEST[1], zone=ZONE), colleague
    guest.set_password(password)
    guest.save(update_fields=["password"])
    return guest, colleague


def staff(workspace: Workspace, guest: User, colleague: User, hand: Hand, born: datetime) -> None:
    """The colleague, the machines, the agents and a way to a model, as they came."""
    hand.to(born + timedelta(hours=2))
    Membership.objects.create(workspace=workspace, user=colleague, role=Role.ADMIN)
    for slug, spec in MACHINES.items():
        if slug == DESK:
            continue
        Machine.objects.create(
            workspace=workspace, name=slug, slug=slug, provider=settings.MACHINE_PROVIDER,
            spec=spec, created_by=colleague, state_reason=f"{colleague} made it.",
        )  # fmt: skip
    for hire in HIRES:
        agent = Agent.objects.create(
            workspace=workspace, name=hire.name, slug=hire.name.lower(), purpose=hire.purpose,
            version=len(hire.personas), made_by=colleague,
        )  # fmt: skip
        for number, persona in enumerate(hire.personas, 1):
            hand.to(born + timedelta(days=9 * (number - 1), hours=3))
            by = guest if number % 2 else colleague
            limited = hire.apps is not None and number == len(hire.personas)
            note = "Made" if number == 1 else "Other instructions"
            AgentVersion.objects.create(
                agent=agent, number=number, name=hire.name, purpose=hire.purpose, persona=persona,
                tier=Tier.BALANCED, tools=list(tools_of("commands", "read", "write", "search")),
                apps=_allowed(hire) if limited else None, changed_by=by,
                note="May use Catalogue at most; other instructions" if limited else note,
            )  # fmt: skip
    hand.to(born + timedelta(hours=4))
    ModelKey.objects.create(
        workspace=workspace,
        provider="openai-compatible",
        base_url="http://localhost:9/v1",  # leads nowhere: the demo asks no model for anything
        model="house-model",
        own_input=3_000_000,
        own_output=15_000_000,
        sealed=encrypt(settings.ENCRYPTION_KEY, str(workspace.key), "a-key-of-the-demo"),
        last_four="demo",
        added_by=guest,
        test_ok=True,
        test_answer="house-model answered in 0.8s, one request, <$0.01",
        tested_at=born + timedelta(hours=4),
    )
    catalogue = Connector.objects.create(
        workspace=workspace,
        name="Catalogue",
        slug="catalogue",
        address="http://localhost:9/mcp",  # leads nowhere, and no routine uses it
        tools=[
            _tool("find_title", "Find titles by words of theirs.", changes=False),
            _tool("reserve", "Reserve a copy for a reader.", changes=True),
        ],
        state=ConnectorState.CONNECTED,
        checked_at=born + timedelta(hours=5),
        added_by=guest,
    )
    _sign_in(catalogue, guest, born + timedelta(hours=5))


def _sign_in(app: Connector, person: User, at: datetime) -> None:
    """Signed in to for fifty days, which end soon after what the demo shows."""
    offer = Offer(
        issuer="http://localhost:9",
        authorizes="http://localhost:9/authorize",
        tokens="http://localhost:9/token",
        resource=app.address,
        registers="http://localhost:9/register",
        scopes="titles:read titles:reserve",
    )
    tokens = Tokens("worth-nothing", "worth-nothing", refresh_life=50 * 86_400)
    row = AppSignIn(connector=app, offer=offer.as_json())
    signed_in(row, person, Held(tokens.access, tokens.refresh, offer, Client("demo")), tokens, at)


def _allowed(hire: Hire) -> list[dict[str, object]] | None:
    chosen = tuple(AllowedApp(app, tools) for app, tools in hire.apps or ())
    return allowed_json(in_order(chosen))


def _tool(name: str, description: str, *, changes: bool) -> dict[str, object]:
    schema = {"type": "object", "properties": {}}
    return {"name": name, "description": description, "schema": schema, "changes": changes}


def works_now(workspace: Workspace) -> bool:
    """Whether a run that isn't the story's own goes on in it."""
    held = Fire.objects.filter(workspace=workspace, closed_at=None, claim_token__isnull=False)
    return held.exclude(claimed_by="seed_demo").exists()


def take_away(workspace: Workspace) -> None:
    """Remove a demo's workspace with all that is in it, its machines' disks too.

    Raises MachineError when a machine can't be removed.
    """
    for machine in Machine.objects.filter(workspace=workspace):
        if machine.ref:
            with suppress(NotFound):  # in cold storage, or in another process's memory
                provider_named(machine.provider).destroy(Ref(machine.provider, machine.ref))
        stored_at(machine).unlink(missing_ok=True)
    Run.objects.filter(workspace=workspace).delete()
    Fire.objects.filter(workspace=workspace).delete()
    Routine.objects.filter(workspace=workspace).delete()
    LedgerEntry.objects.filter(workspace=workspace).delete()
    Hold.objects.filter(workspace=workspace).delete()
    Account.objects.filter(workspace=workspace).delete()
    workspace.delete()


def born_at(now: datetime) -> datetime:
    """When the demo's workspace began."""
    return now - WEEKS - timedelta(days=1)
