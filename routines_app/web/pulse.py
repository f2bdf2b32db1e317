"""The signature of what a page shows, so that a page that asks again is answered 304 unrendered.

One query says whether anything has moved. The words that only time moves ("41 min ago", the line
of now) are as old as the signature's clock lets them be: a minute, and ten seconds while a run
goes on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from hashlib import blake2b
from typing import Any, Concatenate, ParamSpec, cast

from django.db import connection
from django.http import HttpResponse, HttpResponseNotModified

from foundation import clock
from routines_app.fires.beats import ALLOWED
from routines_app.web.access import WorkspaceRequest

P = ParamSpec("P")
IDLE, LIVE = 60, 10  # seconds that words of time may be old
SOON, SELDOM = 5, 60  # seconds between two askings, while anything is open and otherwise

# A run that begins moves its routine's counter, and one that ends leaves those that are open.
_STATE = """
SELECT
    (SELECT json_agg(json_build_array(r.id, r.version, r.enabled, r.off_at, r.next_fire_at,
            r.run_counter, m.state) ORDER BY r.id)::text
     FROM routines_app_routine r LEFT JOIN machines_machine m ON m.id = r.machine_id
     WHERE r.workspace_id = w.id AND r.deleted_at IS NULL
       AND (%(slug)s = '' OR r.slug = %(slug)s)),
    (SELECT json_agg(json_build_array(u.id, u.status, u.spent, u.doing, u.stop_asked_at)
            ORDER BY u.id)::text
     FROM routines_app_run u JOIN routines_app_routine r ON r.id = u.routine_id
     WHERE u.workspace_id = w.id AND u.finished_at IS NULL
       AND (%(slug)s = '' OR r.slug = %(slug)s)),
    (SELECT max(n.rung_at) FROM routines_app_notice n WHERE n.workspace_id = w.id),
    (SELECT count(*) FROM routines_app_notice n WHERE n.workspace_id = w.id AND n.needs_someone),
    (SELECT count(*) FROM routines_app_notice_read_by b
     JOIN routines_app_notice n ON n.id = b.notice_id
     WHERE b.user_id = %(person)s AND n.workspace_id = w.id),
    w.paused_at,
    (SELECT json_build_array(b.gap_to, CASE WHEN %(now)s - b.at > %(allowed)s
            THEN floor(extract(epoch FROM %(now)s - b.at) / 60) END)::text
     FROM routines_app_beat b WHERE b.name = 'scan')
FROM accounts_workspace w WHERE w.id = %(workspace)s
"""


def is_tick(request: WorkspaceRequest) -> bool:
    """Whether a page that is open asks for its parts again."""
    return bool(request.htmx) and request.htmx.trigger == "tick"


def ticking(
    view: Callable[Concatenate[WorkspaceRequest, str, P], HttpResponse],
) -> Callable[Concatenate[WorkspaceRequest, str, P], HttpResponse]:
    """Answer a page that asks again with 304, before its view, when nothing has moved since.

    Otherwise the view answers (with the page's parts alone), and the new signature goes along.
    """

    @wraps(view)
    def asked(
        request: WorkspaceRequest, workspace_slug: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if not is_tick(request):
            return view(request, workspace_slug, *args, **kwargs)
        pulse = pulse_of(request, str(kwargs.get("slug", "")), clock.now())
        if request.headers.get("If-None-Match") == pulse.signature:
            answer: HttpResponse = HttpResponseNotModified()
        else:
            answer = view(request, workspace_slug, *args, **kwargs)
        answer["ETag"] = pulse.signature
        answer["X-Tick"] = str(pulse.wait)
        answer["Cache-Control"] = "private, no-cache"
        return answer

    return cast(Callable[Concatenate[WorkspaceRequest, str, P], HttpResponse], asked)


@dataclass(frozen=True)
class Pulse:
    """How a page stands: the ETag of what it shows, and in how many seconds it asks again."""

    signature: str
    wait: int


def pulse_of(request: WorkspaceRequest, slug: str, now: datetime) -> Pulse:
    """How this person's page stands: that of one routine, or with an empty slug of all of them."""
    person = request.user
    asked: dict[str, Any] = {
        "workspace": request.workspace.pk,
        "person": person.pk,
        "slug": slug,
        "now": now,
        "allowed": ALLOWED["scan"],
    }
    with connection.cursor() as cursor:
        cursor.execute(_STATE, asked)
        state = cursor.fetchone()
    any_open = state[1] is not None
    whose = (person.pk, person.zone, request.membership.role, request.get_full_path())
    moment = int(now.timestamp()) // (LIVE if any_open else IDLE)
    digest = blake2b(repr((whose, moment, state)).encode(), digest_size=12).hexdigest()
    return Pulse(f'W/"{digest}"', SOON if any_open else SELDOM)
