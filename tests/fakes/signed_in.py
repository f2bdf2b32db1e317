"""An app that somebody has signed in to, as its row has it afterwards."""

from foundation import clock
from routines_app.agents.oauth_offer import Offer
from routines_app.agents.oauth_tokens import Client, Tokens
from routines_app.configure.app_tokens import Held, keep_client, signed_in
from routines_app.models import AppSignIn, Connector
from tests.factories import owner_of
from tests.fakes.sign_in_server import Grant, SignInServer


def offer_at(server: SignInServer, resource: str) -> Offer:
    """What discovery finds at this server."""
    said = server.about()
    return Offer(
        issuer=server.issuer,
        authorizes=said["authorization_endpoint"],
        tokens=said["token_endpoint"],
        resource=resource,
        registers=said["registration_endpoint"],
        revokes=said["revocation_endpoint"],
        scopes="tickets:read",
        methods=(server.method,),
        names_itself=True,
    )


def sign_in_to(app: Connector, server: SignInServer, *, refresh: str | None = None) -> Connector:
    """Have its owner signed in at this server with an hour's token; `refresh` "": without one."""
    offer = offer_at(server, app.address)
    client = Client(server.register({"redirect_uris": []})["client_id"])
    given = Grant(client.id, offer.scopes, app.address, {server.new("access")})
    given.refresh = server.new("refresh") if refresh is None else refresh
    server.grants.append(given)
    row, _ = AppSignIn.objects.update_or_create(connector=app, defaults={"offer": offer.as_json()})
    keep_client(row, offer, client, "http://localhost:8000/agents/apps/signed-in/")
    tokens = Tokens(*given.access, given.refresh, 3600)
    held = Held(tokens.access, tokens.refresh, offer, client)
    signed_in(row, owner_of(app.workspace), held, tokens, clock.now())
    return Connector.objects.select_related("workspace", "sign_in").get(pk=app.pk)
