"""A workspace in which something of everything is, for tests that look at whole pages."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings as site

from accounts.invite import Invited, invite
from accounts.models import Role, User, Workspace
from foundation import clock
from foundation.crypto import encrypt
from machines.access import provider_for
from machines.lifecycle import MachineState
from routines_app.agents.oauth_offer import Offer
from routines_app.agents.oauth_tokens import Client, Tokens
from routines_app.agents.turn import StepKind
from routines_app.configure.app_sign_in import keep_offer
from routines_app.configure.app_tokens import Held, signed_in
from routines_app.configure.content import content_of
from routines_app.configure.workspace import furnish
from routines_app.models import (
    AgentVersion,
    AppSignIn,
    Conversation,
    FolderChange,
    ModelKey,
    Notice,
    Routine,
)
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import FileChange
from routines_app.runner.keep_changes import change_rows
from tests.factories import (
    make_app,
    make_machine,
    make_member,
    make_person,
    make_routine,
    make_run,
    make_step,
    make_workspace,
)

KEY = UUID(int=7)
VIEWER = "byron@example.org"
KEPT = b"# Memory\n\nRead four sheets. Nothing moved since Monday.\n"


def harbour_with_everything() -> User:
    """The owner of a workspace "harbour", in which something of everything is."""
    owner = make_person(email="ada@example.org", zone="Europe/London")
    harbour = make_workspace(owner, name="Harbour", slug="harbour")
    furnish(harbour, owner)
    furnish(make_workspace(owner, name="Empty", slug="empty"), owner)
    make_member(harbour, Role.VIEWER, email=VIEWER)
    _machines(harbour)
    _routines(harbour)
    ModelKey.objects.create(
        key=KEY, workspace=harbour, provider="openai", model="gpt-5-mini", last_four="4f2a",
        sealed=encrypt(site.ENCRYPTION_KEY, str(harbour.key), "sk-nothing"), own_input=250_000,
        own_output=2_000_000,
    )  # fmt: skip
    helpdesk = make_app(
        harbour, key=KEY, state="refused", trouble="It refused the sign-in.", added_by=owner,
        header_names=["Authorization"], called_at=clock.now(),
    )  # fmt: skip
    # Where it's signed in to nobody is registered by itself, so the page asks for a client.
    auth = "https://sign-in.example.org"
    keep_offer(helpdesk, Offer(auth, f"{auth}/go", f"{auth}/token", auth, scopes="read write"))
    ending = AppSignIn(connector=make_app(harbour, "Catalogue"), offer={})
    there = Offer(auth, auth, auth, auth)
    tokens = Tokens("access", "refresh", refresh_life=5 * 86_400)
    signed_in(ending, owner, Held("access", "refresh", there, Client("me")), tokens, clock.now())
    Routine.objects.filter(slug="brief", workspace=harbour).update(
        apps=[{"app": "helpdesk", "required": True, "tools": ["find_ticket", "x"]}]
    )
    AgentVersion.objects.filter(agent__workspace=harbour, agent__slug="researcher").update(
        apps=[{"app": "gone", "tools": ["x"]}, {"app": "helpdesk", "tools": ["find_ticket", "x"]}]
    )
    return owner


def an_invitation(owner: User) -> str:
    """The secret of the link of an invitation to the workspace."""
    made = invite(
        owner.memberships.get(workspace__slug="harbour"), "new@example.org", "member", clock.now()
    )
    assert isinstance(made, Invited)
    return made.secret


def with_passkey(owner: User) -> int:
    """Give the owner, who has signed in by password, a passkey and recovery codes; its id."""
    RecoveryCodes.activate(owner)
    passkey = Authenticator.objects.create(
        user=owner, type=Authenticator.Type.WEBAUTHN, data={"name": "Laptop", "credential": {}}
    )
    return int(passkey.pk)


def _machines(harbour: Workspace) -> None:
    now = clock.now()
    harbour.machines.all().delete()
    awake = make_machine(harbour, state=MachineState.AWAKE, state_since=now - timedelta(minutes=4))
    provider, ref = provider_for(awake)
    provider.write_file(ref, "routines/brief/state.md", KEPT)
    provider.write_file(ref, "notes.txt", b"kept\n")
    make_machine(
        harbour, "cold-1", state=MachineState.ARCHIVED, state_since=now - timedelta(days=9),
        archive={"sha256": "00", "size": 7_400_000_000, "since": now.isoformat()},
    )  # fmt: skip


CHANGES = (
    FileChange("a" * 250 + "/b\nc.txt", "new", None, 900_000, why="too_large"),
    FileChange("notes.md", "changed", 12, 20, 1, 1, "@@ -1,2 +1,2 @@\n one\n-two\n+" + "x" * 900),
    FileChange("~/tide-tables/quay.csv", "gone", 7, None, 0, 1, "@@ -1,1 +0,0 @@\n-day,low"),
    FileChange("state.md", "changed", 9, 27, 2, 0, why="memory"),
)


def _routines(harbour: Workspace) -> None:
    now = clock.now()
    machine = harbour.machines.get(name="harbour-1")

    def routine(name: str, **fields: object) -> Routine:
        return make_routine(
            harbour, name=name, slug=name.lower(), machine=machine,
            next_fire_at=now + timedelta(hours=3), **fields,
        )  # fmt: skip

    brief = routine("Brief", check_command="git diff --quiet", version=2)
    for number, cap in ((1, 250_000), (2, brief.cap)):
        kept = replace(content_of(brief), cap=cap).as_json()
        brief.versions.create(number=number, content=kept, changed_by=brief.owner)
    statuses = [
        RunStatus.DONE_CHANGED,
        RunStatus.DONE_UNCHANGED,
        RunStatus.NOTHING_TO_DO,
        RunStatus.SKIP_OVERLAP,
        RunStatus.STOP_COST,
        RunStatus.FAIL_CHECK_MISSING,
        RunStatus.RUNNING,
    ]
    for place, status in enumerate(statuses):
        at = now - timedelta(hours=7 - place)
        run = make_run(
            brief, status, at=at, spent=140_000,
            facts={"reason": "it was shut", "exit_code": 127, "files_changed": 2_000},
            headline="Four sheets are up to date.", body="## Result\n\n- one\n- two\n",
            snapshot={"cap": 500_000, "agent": "Script"}, state_before="# Memory\n",
            state_after="# Memory\n\nRead four sheets.\n",
        )  # fmt: skip
        make_step(run, StepKind.SAID, content="I read the four sheets.", at=at)
        make_step(run, StepKind.RAN, "make test", content="ok\n", at=at)
        if status.final:
            FolderChange.objects.bulk_create(change_rows(run.pk, brief.pk, CHANGES))
        if status.failed:
            Notice.objects.create(workspace=harbour, routine=brief, run=run, needs_someone=True)
    kept = Conversation.objects.create(routine=brief, anew_at=now, anew_by=brief.owner)
    kept.turns.create(run=brief.runs.earliest("number"), number=1, talk="{}", size=9_000, reread=9)
    Routine.objects.filter(pk=brief.pk).update(conversation="continued")
    routine("Never")
    make_run(routine("Gone", enabled=False, deleted_at=now, off_by=brief.owner), at=now)
    stuck = routine("Stuck", enabled=False, off_reason="failures", off_at=now)
    for hour in range(5):
        make_run(stuck, RunStatus.FAIL_SCRIPT, at=now - timedelta(hours=hour + 1))
    routine("Cron", schedule_kind="cron", schedule_values={"expressions": ["0 9 13 * 5"]},
            expressions=["0 9 13 * 5"])  # fmt: skip
