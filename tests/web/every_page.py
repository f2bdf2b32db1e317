"""Every page of the URL conf, made once from a seeded workspace, for tests that look at all.

A new address needs an entry here: in `PAGES` what shows it, in `ACTS` when it is only posted to,
in `NO_PAGE` with the reason when nobody sees it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver

from tests.web.scene import KEY, VIEWER, an_invitation, harbour_with_everything, with_passkey

HARBOUR = "/w/harbour/"


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
    "run_stop": of("routines/brief/runs/7/stop/"),
    "machines": of("machines/"),
    "machine": of("machines/harbour-1/", "machines/cold-1/"),
    "machine_stop": of("machines/harbour-1/stop/"),
    "machine_delete": of("machines/cold-1/delete/"),
    "file_root": of("files/harbour-1/", "files/cold-1/"),
    "file": of(
        "files/harbour-1/routines/brief/state.md",
        "files/harbour-1/routines/brief/state.md?delete",
        "files/harbour-1/routines/brief/state.md?edition=1",
    ),
    "agents": of("agents/"),
    "agent": [
        *of("agents/researcher/", "agents/script/"),
        Shown(f"{HARBOUR}agents/writer/", posted=(("version", "1"), ("purpose", ""))),
    ],
    "agent_new": of("agents/new/", "agents/new/?like=writer"),
    "agent_version": of("agents/researcher/versions/1/"),
    "agent_delete": of("agents/writer/delete/"),
    "models": of("agents/models/"),
    "model_key": [
        *of(f"agents/models/{KEY}/key/"),
        Shown(f"{HARBOUR}agents/models/{KEY}/key/", posted=(("secret", ""),)),
    ],
    "model_price": [Shown(f"{HARBOUR}agents/models/{KEY}/price/", posted=(("input_price", "x"),))],
    "model_remove": of(f"agents/models/{KEY}/remove/"),
    "apps": of("agents/apps/"),
    "app_tools": of(f"agents/apps/{KEY}/tools/"),
    "app_sign_in": of(f"agents/apps/{KEY}/sign-in/?came=declined"),
    "app_signed_in": me("/agents/apps/signed-in/?state=of-nobody"),
    "app_remove": of(f"agents/apps/{KEY}/remove/"),
    "people": of("people/"),
    "people_remove": of("people/remove/?person={member}"),
    "invitation": [
        Shown("/invitations/{invitation}/", as_owner=False),
    ],
    "deleted": of("deleted/"),
    "deleted_routine": of("deleted/gone/"),
    "plan": of("plan/"),
    "plan_ledger": of("plan/ledger/"),
    "plan_choose": of("plan/choose/"),
    "more": of("more/"),
    "bell": [*of("bell/"), Shown("/w/empty/bell/")],
    "settings": of("settings/"),
    "hand_over": of("settings/hand-over/"),
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
    "usersessions_list": me("/accounts/sessions/"),
    "mfa_index": me("/accounts/2fa/"),
    "mfa_view_recovery_codes": me("/accounts/2fa/recovery-codes/"),
    "mfa_generate_recovery_codes": me("/accounts/2fa/recovery-codes/generate/"),
    "mfa_list_webauthn": me("/accounts/2fa/webauthn/"),
    "mfa_add_webauthn": me("/accounts/2fa/webauthn/add/"),
    "mfa_remove_webauthn": me("/accounts/2fa/webauthn/keys/{passkey}/remove/"),
    "mfa_edit_webauthn": me("/accounts/2fa/webauthn/keys/{passkey}/edit/"),
}
ACTS = {
    "sign_out_there",
    "workspace_new",
    "starter_run",
    "schedule_preview",
    "run_now",
    "routine_turn_on",
    "routine_turn_off",
    "conversation_anew",
    "run_tell_again",
    "run_check_back",
    "check_try",
    "machine_new",
    "machine_start",
    "machine_restore",
    "model_add",
    "model_words",
    "app_add",
    "agent_back",
    "bell_read",
    "bell_unread",
    "people_invite",
    "people_role",
    "people_again",
    "people_take_back",
    "pause",
    "resume",
}
NO_PAGE = {
    "health": "words for a program",
    "ready": "words for a program",
    "home": "leads to a page",
    "workspace": "leads to the routines",
    "files": "leads to a machine's files",
    "app_test": "a part of the apps' page",
    "model_test": "a part of the models' page",
    "check_tried": "a part of the form",
    "run_body": "plain text",
    "run_step": "plain text",
    "plan_csv": "a file",
    "plan_ledger_csv": "a file",
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
    """What an address answered. `path` has a query where one address was looked at in two ways."""

    path: str
    policy: str
    html: str


def render_all() -> list[Rendered]:
    """Every page as it is answered now; asserts that each is one."""
    owner = harbour_with_everything()
    browser = Client()
    browser.post("/accounts/login/", {"login": owner.email, "password": "correct horse"})
    browser.post("/accounts/reauthenticate/", {"password": "correct horse"})
    marks: dict[str, object] = {
        "member": VIEWER.replace("@", "%40"),
        "invitation": an_invitation(owner),
        "passkey": 0,
    }
    with override_settings(DEBUG=True):
        early = [rendered(browser, PAGES[name][0]) for name in BEFORE_A_PASSKEY]
    marks["passkey"] = with_passkey(owner)
    looks = [each for name in PAGES if name not in BEFORE_A_PASSKEY for each in PAGES[name]]
    return early + [
        rendered(browser if each.as_owner else Client(), each, **marks) for each in looks + ERRORS
    ]


def rendered(browser: Client, shown: Shown, **marks: object) -> Rendered:
    """What this look at an address shows; `marks` fill the paths that depend on rows."""
    path = shown.path.format(**marks)
    answer = browser.get(path) if shown.posted is None else browser.post(path, dict(shown.posted))
    expected = (200, 422) if shown not in ERRORS else (404,)
    assert answer.status_code in expected, (path, answer.status_code, answer.headers)
    told_apart = [
        *(["sent-back"] if shown.posted is not None else []),
        *([] if shown.as_owner else ["signed-out"]),
    ]
    return Rendered(
        path + ("&" if "?" in path else "?") + "&".join(told_apart) if told_apart else path,
        answer.headers.get("Content-Security-Policy", ""),
        answer.content.decode(),
    )
