"""Every page of the URL conf, made once from a seeded workspace, for tests that look at all.

A new address needs an entry here: in `PAGES` what shows it, in `ACTS` when it is only posted to,
in `NO_PAGE` with the reason when nobody sees it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings as site
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import Role, User, Workspace
from foundation import clock
from foundation.crypto import encrypt
from machines.access import provider_for
from machines.lifecycle import MachineState
from routines_app.agents.turn import StepKind
from routines_app.configure.content import content_of
from routines_app.configure.workspace import furnish
from routines_app.models import ModelKey, Notice, Routine
from routines_app.rules.status import RunStatus
from tests.factories import (
    make_machine,
    make_member,
    make_person,
    make_routine,
    make_run,
    make_step,
    make_workspace,
)

HARBOUR = "/w/harbour/"
KEY = UUID(int=7)
KEPT = b"# Memory\n\nRead four sheets. Nothing moved since Monday.\n"


@dataclass(frozen=True)
class Shown:
    """One look at an address: where, as whom, and what was posted when it is a form sent back."""

    path: str
    as_owner: bool = True
    posted: tuple[tuple[str, str], ...] | None = None


def of(*paths: str) -> list[Shown]:
    """Pages of the workspace."""
    return [Shown(HARBOUR + path) for path in paths]


def out(*paths: str) -> list[Shown]:
    """Pages for somebody who isn't signed in."""
    return [Shown(path, as_owner=False) for path in paths]


def me(*paths: str) -> list[Shown]:
    """Pages of the person, outside any workspace."""
    return [Shown(path) for path in paths]


WRONG = (("then", "save"), ("kind", "weekdays"), ("time", "noon-ish"), ("cap", "cheap"))

PAGES: dict[str, list[Shown]] = {
    "help": [*me("/help/"), *out("/help/")],
    "kit": me("/kit/"),
    "me": [*me("/me/"), Shown("/me/", posted=(("name", ""), ("zone", "Mars/Olympus")))],
    "routines": [*of("routines/"), Shown("/w/empty/routines/")],
    "routine_new": [*of("routines/new/"), Shown(HARBOUR + "routines/new/", posted=WRONG)],
    "routine": of("routines/brief/", "routines/never/", "routines/stuck/"),
    "routine_edit": of("routines/brief/edit/", "routines/cron/edit/"),
    "routine_versions": of("routines/brief/versions/"),
    "routine_delete": of("routines/brief/delete/"),
    "run": of(*(f"routines/brief/runs/{number}/" for number in range(1, 8))),
    "machines": of("machines/"),
    "machine": of("machines/harbour-1/", "machines/cold-1/"),
    "machine_stop": of("machines/harbour-1/stop/"),
    "machine_delete": of("machines/cold-1/delete/"),
    "file_root": of("files/harbour-1/", "files/cold-1/"),
    "file": of(
        "files/harbour-1/routines/brief/state.md",
        "files/harbour-1/routines/brief/state.md?delete",
    ),
    "agents": of("agents/"),
    "models": of("agents/models/"),
    "model_price": [Shown(f"{HARBOUR}agents/models/{KEY}/price/", posted=(("input_price", "x"),))],
    "model_remove": of(f"agents/models/{KEY}/remove/"),
    "people": of("people/"),
    "more": of("more/"),
    "bell": [*of("bell/"), Shown("/w/empty/bell/")],
    "settings": of("settings/"),
    "stop_all": of("settings/stop/"),
    "account_login": [
        *out("/accounts/login/"),
        Shown("/accounts/login/", False, (("login", "nobody"), ("password", ""))),
    ],
    "account_signup": out("/accounts/signup/"),
    "account_logout": me("/accounts/logout/"),
    "account_reauthenticate": me("/accounts/reauthenticate/"),
    "account_change_password": me("/accounts/password/change/"),
    "account_reset_password": out("/accounts/password/reset/"),
    "account_reset_password_done": out("/accounts/password/reset/done/"),
    "account_reset_password_from_key": out("/accounts/password/reset/key/0-nothing/"),
    "account_reset_password_from_key_done": out("/accounts/password/reset/key/done/"),
    "mfa_index": me("/accounts/2fa/"),
    "mfa_view_recovery_codes": me("/accounts/2fa/recovery-codes/"),
    "mfa_generate_recovery_codes": me("/accounts/2fa/recovery-codes/generate/"),
    "mfa_list_webauthn": me("/accounts/2fa/webauthn/"),
    "mfa_add_webauthn": me("/accounts/2fa/webauthn/add/"),
    "mfa_remove_webauthn": me("/accounts/2fa/webauthn/keys/{passkey}/remove/"),
    "mfa_edit_webauthn": me("/accounts/2fa/webauthn/keys/{passkey}/edit/"),
}
ACTS = {
    "workspace_new",
    "starter_run",
    "schedule_preview",
    "run_now",
    "routine_turn_on",
    "routine_turn_off",
    "run_stop",
    "machine_new",
    "machine_start",
    "machine_restore",
    "model_add",
    "bell_read",
    "pause",
    "resume",
}
NO_PAGE = {
    "health": "words for a program",
    "ready": "words for a program",
    "home": "leads to a page",
    "workspace": "leads to the routines",
    "files": "leads to a machine's files",
    "model_test": "a part of the models' page",
    "mfa_login_webauthn": "words for a script",
    "mfa_download_recovery_codes": "a file",
    "mfa_authenticate": "asked between two steps of signing in",
    "mfa_reauthenticate": "asked in place of a password",
    "mfa_reauthenticate_webauthn": "asked in place of a password",
    "account_inactive": "nobody is made inactive",
    "account_email": "addresses aren't changed here",
    "account_email_verification_sent": "off where sign-up needs no letter",
    "account_confirm_email": "off where sign-up needs no letter",
    "account_set_password": "everybody has a password",
    "account_request_reauthentication_code": "off",
    "account_confirm_reauthentication_code": "off",
    "account_confirm_login_code": "off",
}
BEFORE_A_PASSKEY = ("kit", "mfa_add_webauthn")  # adding a second one reads the first's bytes
ERRORS = [Shown("/nothing/"), Shown("/nothing/", as_owner=False)]


def names(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    """The name of every address beneath these patterns."""
    for entry in patterns:
        if isinstance(entry, URLResolver):
            yield from names(entry.url_patterns)
        else:
            assert entry.name is not None, f"{entry.pattern} has no name"
            yield entry.name


EVERY_NAME = set(names(get_resolver().url_patterns))


@dataclass(frozen=True)
class Rendered:
    """What an address answered: a page, with the headers that matter to a browser."""

    path: str
    status: int
    policy: str
    html: str


def furnished() -> User:
    """The owner of a workspace "harbour", in which something of everything is."""
    owner = make_person(email="ada@example.org", zone="Europe/London")
    harbour = make_workspace(owner, name="Harbour", slug="harbour")
    furnish(harbour, owner)
    furnish(make_workspace(owner, name="Empty", slug="empty"), owner)
    make_member(harbour, Role.VIEWER, email="byron@example.org")
    _machines(harbour)
    _routines(harbour)
    ModelKey.objects.create(
        key=KEY, workspace=harbour, provider="openai", model="gpt-5-mini", last_four="4f2a",
        sealed=encrypt(site.ENCRYPTION_KEY, str(harbour.key), "sk-nothing"), own_input=250_000,
        own_output=2_000_000,
    )  # fmt: skip
    return owner


def _with_passkey(owner: User) -> int:
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
            brief, status, at=at, spent=140_000, facts={"reason": "it was shut", "exit_code": 127},
            headline="Four sheets are up to date.", body="## Result\n\n- one\n- two\n",
            snapshot={"cap": 500_000, "agent": "Script"}, state_before="# Memory\n",
            state_after="# Memory\n\nRead four sheets.\n",
        )  # fmt: skip
        make_step(run, StepKind.SAID, content="I read the four sheets.", at=at)
        make_step(run, StepKind.RAN, "make test", content="ok\n", at=at)
        if status.failed:
            Notice.objects.create(workspace=harbour, routine=brief, run=run, needs_someone=True)
    routine("Never")
    stuck = routine("Stuck", enabled=False, off_reason="failures", off_at=now)
    for hour in range(5):
        make_run(stuck, RunStatus.FAIL_SCRIPT, at=now - timedelta(hours=hour + 1))
    routine("Cron", schedule_kind="cron", schedule_values={"expressions": ["0 9 13 * 5"]},
            expressions=["0 9 13 * 5"])  # fmt: skip


def render_all() -> list[Rendered]:
    """Every page as it is answered now; asserts that each is one."""
    owner = furnished()
    signed_in = Client()
    signed_in.post("/accounts/login/", {"login": owner.email, "password": "correct horse"})
    signed_in.post("/accounts/reauthenticate/", {"password": "correct horse"})
    with override_settings(DEBUG=True):
        early = [_rendered(signed_in, PAGES[name][0]) for name in BEFORE_A_PASSKEY]
    passkey = _with_passkey(owner)
    looks = [each for name in PAGES if name not in BEFORE_A_PASSKEY for each in PAGES[name]]
    return early + [
        _rendered(signed_in if each.as_owner else Client(), each, passkey)
        for each in looks + ERRORS
    ]


def _rendered(browser: Client, shown: Shown, passkey: int = 0) -> Rendered:
    path = shown.path.format(passkey=passkey)
    answer = browser.get(path) if shown.posted is None else browser.post(path, dict(shown.posted))
    expected = (200, 422) if shown not in ERRORS else (404,)
    assert answer.status_code in expected, (path, answer.status_code, answer.headers)
    return Rendered(
        path + (" sent back" if shown.posted else "") + ("" if shown.as_owner else " signed out"),
        answer.status_code,
        answer.headers.get("Content-Security-Policy", ""),
        answer.content.decode(),
    )
