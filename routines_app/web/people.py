"""A workspace's front door, who is in it and who is on the way, and the phone's rest of the
navigation."""

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.db.models import Count, Exists, OuterRef, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.invite import INVITED_AS, Invited, NotInvited, invite, send_again, take_back
from accounts.models import Invitation, Membership, Role, Workspace
from accounts.roles import RoleRefused, may_remove, may_set_role, set_role
from billing.standing import account_of, standing
from foundation import clock
from routines_app.configure.connectors import signed_in_by
from routines_app.configure.remove_person import (
    NotRemoved,
    heirs_in,
    remove_person,
    routines_of,
)
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.dates import count_words
from routines_app.web.invitation import link_of, send_invitation
from routines_app.web.templatetags.words import with_article

ROLES = (Role.VIEWER, Role.MEMBER, Role.ADMIN)
MADE = "invitation_made"  # where the session keeps the link for the next page alone


@dataclass(frozen=True)
class Shown:
    """One person's row. `may_set` and `may_remove`: by whoever looks."""

    member: Membership
    signs_in_with: str
    may_set: bool
    may_remove: bool


@in_workspace(Role.VIEWER)
@never_cache
@require_GET
def people(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Names, roles, and what is on the way."""
    return _page(request)


def _page(request: WorkspaceRequest, wrong: NotInvited | None = None) -> HttpResponse:
    workspace, now = request.workspace, clock.now()
    may_invite = request.membership.may(Role.ADMIN)
    members = [_shown(request.membership, each) for each in _members(workspace)]
    on_the_way = _open_invitations(workspace)
    waiting = sum(each.expires_at > now for each in on_the_way)
    context = {
        "members": members,
        "headline": _headline(len(members), waiting),
        "invitations": [(each, each.state(now).value) for each in on_the_way] if may_invite else [],
        "may_invite": may_invite,
        "roles": ROLES,
        "invited_as": INVITED_AS,
        "made": request.session.pop(MADE, None),
        "wrong": wrong,
        "typed": {"email": request.POST.get("email", ""), "role": request.POST.get("role", "")},
    }
    return render(request, "pages/people.html", context, status=422 if wrong else 200)


def _members(workspace: Workspace) -> list[Membership]:
    owned = Count(
        "user__routines",
        filter=Q(user__routines__workspace=workspace)
        & Q(user__routines__deleted_at__isnull=True),
    )  # fmt: skip
    passkey = Authenticator.objects.filter(
        user=OuterRef("user"), type=Authenticator.Type.WEBAUTHN
    )  # fmt: skip
    rows = workspace.memberships.select_related("user").annotate(
        owned=owned, has_passkey=Exists(passkey)
    )
    return list(rows.order_by("joined_at", "id"))


def _open_invitations(workspace: Workspace) -> list[Invitation]:
    """Those that wait or have expired; what was used or taken back is over."""
    rows = Invitation.objects.filter(
        workspace=workspace, used_at__isnull=True, taken_back_at__isnull=True
    )
    return list(rows.select_related("invited_by").order_by("-made_at", "-id"))


def _shown(viewer: Membership, member: Membership) -> Shown:
    ways = [
        *(["passkey"] if member.has_passkey else []),  # type: ignore[attr-defined]  # _members adds it
        *(["password"] if member.user.has_usable_password() else []),
    ]
    return Shown(
        member,
        ", ".join(ways) or "nothing yet",
        may_set=not may_set_role(viewer, member, Role.MEMBER),
        may_remove=not may_remove(viewer, member),
    )


def _headline(here: int, waiting: int) -> str:
    """Four people, one on the way."""
    if here == 1 and not waiting:
        return "You, and nobody else yet."
    noun = "person" if here == 1 else "people"
    return f"{_counted(f'{count_words(here).capitalize()} {noun}', waiting)}."


def _here(here: int, waiting: int) -> str:
    """The same as one fact: Four, one on the way."""
    if here == 1 and not waiting:
        return "You, and nobody else yet"
    return _counted(count_words(here).capitalize(), waiting)


def _counted(words: str, waiting: int) -> str:
    return f"{words}, {count_words(waiting)} on the way" if waiting else words


@in_workspace(Role.ADMIN)
@require_POST
def people_invite(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Make an invitation; its link is shown once, and sent."""
    post = request.POST
    made = invite(request.membership, post.get("email", ""), post.get("role", ""), clock.now())
    return _made(request, made)


@in_workspace(Role.ADMIN)
@require_POST
def people_again(request: WorkspaceRequest, workspace_slug: str, key: UUID) -> HttpResponse:
    """Send it again, with a new link."""
    return _made(request, send_again(request.membership, key, clock.now()))


def _made(request: WorkspaceRequest, made: Invited | NotInvited) -> HttpResponse:
    if isinstance(made, NotInvited):
        return _page(request, made)
    request.session[MADE] = {
        "email": made.invitation.email,
        "link": link_of(made),
        "letter": send_invitation(made).value,
    }
    return redirect("people", request.workspace.slug)


@in_workspace(Role.ADMIN)
@require_POST
def people_take_back(request: WorkspaceRequest, workspace_slug: str, key: UUID) -> HttpResponse:
    """Let its link work no more."""
    taken = take_back(request.membership, key, clock.now())
    if isinstance(taken, NotInvited):
        return _page(request, taken)
    messages.info(request, f"The invitation of {taken.email} is taken back. Its link is dead.")
    return redirect("people", workspace_slug)


@in_workspace(Role.ADMIN)
@require_POST
def people_role(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Another role, at once. Undo asks the same with the role before, in its address."""
    asked = request.POST if "role" in request.POST else request.GET
    target = _member(request, asked.get("person", ""))
    before = target.role
    answer = set_role(request.membership, target, asked.get("role", ""))
    if isinstance(answer, RoleRefused):
        return _page(request, NotInvited("", answer.sentence))
    if before != answer.role:
        back = urlencode({"person": answer.user.email, "role": before, "undone": "yes"})
        undo = f"{reverse('people_role', args=[workspace_slug])}?{back}"
        messages.info(
            request,
            f"{answer.user} is {with_article(answer.role)} now.",
            extra_tags="" if "undone" in asked else undo,
        )
    if request.htmx:  # the toast's Undo swaps nothing in: the whole page has to say the role
        whole = HttpResponse(status=204)
        whole["HX-Redirect"] = reverse("people", args=[workspace_slug])
        return whole
    return redirect("people", workspace_slug)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def people_remove(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Ask who takes over each routine, then remove the person."""
    asked = request.POST if request.method == "POST" else request.GET
    leaving = _member(request, asked.get("person", ""))
    problem = may_remove(request.membership, leaving)
    if problem:
        return _page(request, NotInvited("", problem))
    if request.method == "POST":
        heirs = {
            name.removeprefix("heir-"): request.POST[name]
            for name in request.POST
            if name.startswith("heir-")
        }
        answer = remove_person(request.membership, leaving, heirs)
        if not isinstance(answer, NotRemoved):
            stopped = f" {_stopped(len(answer.stopped))}" if answer.stopped else ""
            messages.info(request, f"{answer.person} is out.{stopped}")
            return redirect("people", workspace_slug)
        problem = answer.sentence
    context = {
        "leaving": leaving,
        "owned": [(each, asked.get(f"heir-{each.slug}")) for each in routines_of(leaving)],
        "heirs": heirs_in(leaving),
        "problem": problem,
        "apps": signed_in_by(request.workspace, leaving.user),
    }
    return render(request, "pages/person_remove.html", context, status=422 if problem else 200)


def _stopped(count: int) -> str:
    if count == 1:
        return "One routine was turned off by it."
    return f"{count_words(count).capitalize()} routines were turned off by it."


def _member(request: WorkspaceRequest, email: str) -> Membership:
    found = (
        request.workspace.memberships.select_related("user", "workspace")
        .filter(user__email=email.replace("\0", "").strip().lower())
        .first()
    )
    if found is None:
        raise Http404("nobody of that email is here")
    return found


@in_workspace(Role.VIEWER)
@require_GET
def front(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """A workspace's own address leads to its routines."""
    return redirect("routines", workspace_slug)


@in_workspace(Role.VIEWER)
@require_GET
def more(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """What the tab bar has no room for, each with its one fact."""
    now = clock.now()
    waiting = sum(each.expires_at > now for each in _open_invitations(request.workspace))
    stands = standing(account_of(request.workspace), now)
    agents = request.workspace.agents.filter(deleted_at__isnull=True)
    context = {
        "people": _here(request.workspace.memberships.count(), waiting),
        "agents": count_words(agents.count()).capitalize(),
        "stands": stands,
    }
    return render(request, "pages/more.html", context)
