"""Which pages there are, from the addresses themselves, each with arguments of the demo's."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.exceptions import NoReverseMatch

from routines_app.management.demo import cast
from routines_app.management.demo.place import EMPTY, FULL
from routines_app.models import Agent, Connector, ModelKey, Routine, Run
from routines_app.rules.status import RunStatus
from tests.pictures.shown import Shown

Entries = list[URLPattern | URLResolver]

_OUTSIDE = ("account_", "mfa_", "socialaccount_", "usersessions_")
_PLAIN = ("account_login", "account_signup", "account_reset_password", "account_change_password",
          "mfa_index", "account_email")  # fmt: skip
# Of these, /kit/ is there with DEBUG alone, and the last three need what the demo doesn't have.
_NOT_PAGES = {"health", "ready", "home", "schedule_preview", "account_logout", "kit",
              "invitation", "people_remove", "app_signed_in"}  # fmt: skip


@dataclass
class Found:
    """The pages, and the names of addresses for which no argument was known."""

    pages: list[Shown] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


_MOCKUPS = {
    "routines": "list",
    "routine": "routine",
    "run": "run-done",
    "routine_new": "new",
    "machines": "machines",
    "machine": "machine",
    "agents": "agents",
    "agent": "agent",
    "models": "models",
    "apps": "apps",
    "people": "people",
    "me": "me",
    "more": "more",
    "settings": "settings",
    "bell": "bell",
    "plan": "plan",
    "ledger": "plan-ledger",
    "account_login": "sign-in",
}
_ENDINGS = {
    RunStatus.RUNNING: "run",
    RunStatus.DONE_CHANGED: "run-done",
    RunStatus.STOP_COST: "run-capped",
    RunStatus.FAIL_CHECK_MISSING: "run-failed",
    RunStatus.FAIL_RESTART: "run-interrupted",
    RunStatus.NOTHING_TO_DO: "run-nothing",
    RunStatus.SKIP_COLD: "run-skipped",
}


def every_page() -> Found:
    """Each address that answers to GET in the demo's workspace, and the states of some."""
    found = Found()
    for name, parts in _addresses():
        if name in _NOT_PAGES or (name.startswith(_OUTSIDE) and name not in _PLAIN):
            continue
        arguments = _arguments(name, parts)
        if arguments is None:
            found.unknown.append(name)
            continue
        path = reverse(name, kwargs=arguments)
        signed_out = name in ("account_login", "account_signup", "account_reset_password")
        found.pages.append(Shown(name, path, _MOCKUPS.get(name, ""), signed_out))
    found.pages += [*_runs(), *_routines(), *_machines(), *_others(), *_empty()]
    return found


def _addresses() -> Iterator[tuple[str, set[str]]]:
    """Each named address with its parameters, in the order of the URL conf."""

    def walk(
        entries: list[URLPattern | URLResolver], outer: set[str]
    ) -> Iterator[tuple[str, set[str]]]:
        for entry in entries:
            parts = outer | set(entry.pattern.converters)
            if isinstance(entry, URLResolver):
                yield from walk(entry.url_patterns, parts)
            elif entry.name:
                yield entry.name, parts

    yield from walk(get_resolver().url_patterns, set())


def _arguments(name: str, parts: set[str]) -> dict[str, object] | None:
    """Arguments of the demo's for an address; None when one of its parameters isn't known here."""
    routine = Routine.objects.get(workspace__slug=FULL.slug, name=cast.BRIEFING.name)
    known: dict[str, object] = {
        "workspace_slug": FULL.slug,
        "slug": cast.DESK if name.startswith("machine") else routine.slug,
        "number": routine.run_counter,
        "machine_slug": cast.DESK,
        "path": "opening-hours.csv",
        "key": ModelKey.objects.filter(workspace__slug=FULL.slug).values_list("key", flat=True)[0],
        "agent_slug": "reader",
        "code": "folder",
        "step": 1,
    }
    if name == "deleted_routine":
        known["slug"] = Routine.objects.get(workspace__slug=FULL.slug, name=cast.LAPTOPS.name).slug
    if name.startswith("app_") and "key" in parts:
        known["key"] = Connector.objects.get(workspace__slug=FULL.slug).key
    if name == "agent_version":
        known["number"] = 1
    if name.startswith("agent") and "slug" in parts:
        known["slug"] = Agent.objects.filter(workspace__slug=FULL.slug, slug="reader").get().slug
    if not parts <= known.keys():
        return None
    return {part: known[part] for part in parts}


def _runs() -> Iterator[Shown]:
    """The newest run of each status that the demo has, of routines that are there."""
    runs = Run.objects.filter(workspace__slug=FULL.slug, routine__deleted_at=None)
    for status in RunStatus:
        run = runs.filter(status=status).select_related("routine").order_by("-queued_at").first()
        if run is not None:
            path = reverse("run", args=[FULL.slug, run.routine.slug, run.number])
            yield Shown(f"run-{status}", path, _ENDINGS.get(status, ""), state=True)


def _routines() -> Iterator[Shown]:
    for routine in Routine.objects.present().filter(workspace__slug=FULL.slug).order_by("name"):
        path = reverse("routine", args=[FULL.slug, routine.slug])
        yield Shown(f"routine-{routine.slug}", path, state=True)


def _machines() -> Iterator[Shown]:
    for slug in (cast.STUDY, cast.ANNEX, cast.ATTIC):
        mockup = "machine-cold" if slug == cast.ATTIC else ""
        yield Shown(
            f"machine-{slug}", reverse("machine", args=[FULL.slug, slug]), mockup, state=True
        )


def _others() -> Iterator[Shown]:
    folder = reverse("file", args=[FULL.slug, cast.DESK, "inbox"])
    yield Shown("file-folder", folder, state=True)
    briefing = Routine.objects.get(workspace__slug=FULL.slug, name=cast.BRIEFING.name)
    path = f"routines/{briefing.slug}/state.md"
    memory = reverse("file", args=[FULL.slug, cast.DESK, path])
    yield Shown("file-memory", memory, "files", state=True)
    edition = f"{memory}?edition={briefing.run_counter}"
    yield Shown("file-edition", edition, "files-history", state=True)
    starter = reverse("routine_new", args=[FULL.slug]) + "?from=folder"
    yield Shown("routine_new-from-a-starter", starter, "new", state=True)
    links = Routine.objects.get(workspace__slug=FULL.slug, name=cast.LINKS.name)
    cron = reverse("routine_edit", args=[FULL.slug, links.slug])
    yield Shown("routine_edit-custom-schedule", cron, "new-custom", state=True)
    yield Shown("error-404", f"/w/{FULL.slug}/nothing-here/", "error-404", state=True)


def _empty() -> Iterator[Shown]:
    """What a workspace without any routine shows."""
    for name in ("routines", "routine_new", "machines", "agents", "models", "files", "people",
                 "bell", "more", "settings"):  # fmt: skip
        try:
            path = reverse(name, args=[EMPTY.slug])
        except NoReverseMatch:
            continue
        yield Shown(f"empty-{name}", path, "first-run" if name == "routines" else "", state=True)
