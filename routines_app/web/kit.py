"""The kit: each component in each state, for whoever changes one. Served only with DEBUG."""

from copy import copy
from datetime import datetime
from typing import cast

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from accounts.forms import AboutMe
from accounts.models import Membership
from foundation import clock
from routines_app.configure.content import FieldError
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.access import PersonRequest, WorkspaceRequest, signed_in
from routines_app.web.banner import NOTHING_LOST, Banner
from routines_app.web.form_controls import roster_of
from routines_app.web.form_page import blank_form, form_context
from routines_app.web.history import filter_of, history_of, newest_runs
from routines_app.web.kit_scene import Scene, set_scene
from routines_app.web.list_row import list_rows
from routines_app.web.ribbon import today_of
from routines_app.web.run_context import page_context

PLACES = {
    Shape.DONE: "tall, above the line",
    Shape.QUIET: "half, above the line",
    Shape.STUB: "stub, above the line",
    Shape.RING: "ring, on the line",
    Shape.BLOCK: "block, below the line",
    Shape.POINT: "point, below the line",
    Shape.LIVE: "tall outline, breathing",
    Shape.WAITING: "dotted, blue",
}


@require_safe
@signed_in
def kit(request: PersonRequest) -> HttpResponse:
    """The page. Its rows come from a scene that is made for it and rolled back."""
    if not settings.DEBUG:
        raise Http404("the kit is for development")
    now = clock.now()
    with transaction.atomic():
        scene = set_scene(now)
        drawn = _drawn(request, scene, now)
        transaction.set_rollback(True)
    return render(request, "kit/kit.html", drawn | _plain(request))


def _drawn(request: HttpRequest, scene: Scene, now: datetime) -> dict[str, object]:
    """The parts that need rows, as HTML."""
    inside = cast(WorkspaceRequest, copy(request))
    inside.user, inside.workspace = scene.person, scene.workspace
    inside.membership = Membership.objects.get(user=scene.person, workspace=scene.workspace)
    rights = {"may_run": True, "may_edit": True, "is_admin": True, "key": "kit"}

    def part(template: str, **context: object) -> SafeString:
        return mark_safe(  # a rendered template
            render_to_string(f"{template}.html", rights | context, inside)
        )

    def of_run(status: RunStatus) -> SafeString:
        context = page_context(inside, scene.runs[status])
        open_now = "ending" if status.final else "now"
        return mark_safe(
            "".join(
                render_to_string(f"runs/partials/{name}.html", context, inside)
                for name in (open_now, "track", "meters")
            )
        )

    newest = newest_runs(scene.ended, len(RunStatus))
    one_of_each = {status.shape: status for status in RunStatus}.values()
    rows = list_rows(scene.workspace, now, scene.person.zone)
    state = blank_form(inside, roster_of(scene.workspace))
    wrong = [FieldError("times", "Write a time, such as 8:00 or half past 8.")]
    return {
        "today": today_of(scene.workspace, [row.routine for row in rows], now, "UTC"),
        "rows": [part("routines/partials/row", row=row) for row in rows],
        "history": part(
            "routines/partials/days",
            routine=scene.ended,
            history=history_of(newest, filter_of(""), now, "UTC"),
        ),
        "endings": [(status.value, of_run(status)) for status in one_of_each],
        "sentence": part(
            "routines/partials/sentence",
            **form_context(inside, roster_of(scene.workspace), state, wrong, None),
        ),
    }


def _plain(request: PersonRequest) -> dict[str, object]:
    """The parts that stand by themselves."""
    form = AboutMe({"name": "", "zone": "Mars/Olympus", "theme": "light"}, instance=request.user)
    form.is_valid()
    request.user.refresh_from_db()  # a form with errors has altered it
    beat = [*[Shape.DONE] * 9, Shape.QUIET, Shape.STUB, Shape.RING, Shape.BLOCK, Shape.POINT]
    return {
        "shapes": PLACES,
        "beats": [("A long one", beat * 2, True), ("Its first", [Shape.LIVE], False)],
        "form": form,
        "errors": form,
        "banners": [
            Banner("This workspace is paused.", "Nothing starts by itself.", "Resume", "#"),
            Banner("The scheduler is 3 minutes behind.", NOTHING_LOST),
        ],
    }
