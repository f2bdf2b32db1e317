"""Pages outside a workspace: the way in, help, and a person's own page."""

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.access import workspaces_of
from accounts.adapter import sign_up_open
from accounts.forms import AboutMe, places
from accounts.join import found_workspace
from accounts.models import User
from routines_app.configure.workspace import furnish
from routines_app.web.access import PersonRequest, signed_in
from routines_app.web.sessions import sessions_of


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """To the person's routines; for nobody, to sign-in, or to sign-up while nobody lives here."""
    user = request.user
    if not isinstance(user, User):
        nobody_yet = sign_up_open() and not User.objects.exists()
        return redirect("account_signup" if nobody_yet else "account_login")
    mine = workspaces_of(user)
    if not mine:
        return render(request, "pages/no_workspace.html")
    return redirect("routines", mine[0].slug)


@require_GET
def help_page(request: HttpRequest) -> HttpResponse:
    """What the words and marks mean."""
    return render(request, "pages/help.html")


@require_POST
@signed_in
def new_workspace(request: PersonRequest) -> HttpResponse:
    """A workspace for somebody who belongs to none; whoever has one is sent there."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=request.user.pk)  # one at a time a person
        if not workspaces_of(request.user):
            furnish(found_workspace(request.user, request.user.zone), request.user)
    return redirect("home")


@require_http_methods(["GET", "POST"])
@signed_in
def me(request: PersonRequest) -> HttpResponse:
    """The person's name, zone and looks."""
    form = AboutMe(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("me")
    shown = User.objects.get(pk=request.user.pk)  # a form with errors has altered request.user
    context = {
        "form": form,
        "shown": shown,
        "zones": places(),
        "sessions": sessions_of(request),
        "passkeys": list(
            Authenticator.objects.filter(user=shown, type=Authenticator.Type.WEBAUTHN).order_by(
                "created_at"
            )
        ),
        "memberships": shown.memberships.select_related("workspace").filter(
            workspace__deleted_at__isnull=True
        ),
    }
    return render(request, "pages/me.html", context, status=422 if form.errors else 200)
