"""Every page's address. `w/<workspace_slug>/` is behind `in_workspace`, all else is listed in
`tests/web/test_strangers.py`."""

from django.urls import include, path
from django.urls.resolvers import URLPattern, URLResolver

from routines_app.web import (
    app_sign_in,
    bell,
    deleted,
    home,
    invitation,
    kit,
    ledger_page,
    people,
    plan_choose,
    plan_page,
    sessions,
    settings_page,
)

outside: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("help/", home.help_page, name="help"),
    path("kit/", kit.kit, name="kit"),
    path("me/", home.me, name="me"),
    path("me/sessions/", sessions.sign_out_there, name="sign_out_there"),
    path("invitations/<str:secret>/", invitation.invitation, name="invitation"),
    path("agents/apps/signed-in/", app_sign_in.app_signed_in, name="app_signed_in"),
    path("workspaces/new/", home.new_workspace, name="workspace_new"),
]

routines: list[URLPattern | URLResolver] = [
    path("w/<slug:workspace_slug>/routines/", include("routines_app.web.urls_routines")),
]

machines_and_files: list[URLPattern | URLResolver] = [
    path("w/<slug:workspace_slug>/", include("routines_app.web.urls_machines")),
]

agents_and_models: list[URLPattern | URLResolver] = [
    path("w/<slug:workspace_slug>/agents/", include("routines_app.web.urls_agents")),
]

workspace: list[URLPattern | URLResolver] = [
    path("w/<slug:workspace_slug>/", people.front, name="workspace"),
    path("w/<slug:workspace_slug>/people/", people.people, name="people"),
    path("w/<slug:workspace_slug>/people/invite/", people.people_invite, name="people_invite"),
    path("w/<slug:workspace_slug>/people/role/", people.people_role, name="people_role"),
    path("w/<slug:workspace_slug>/people/remove/", people.people_remove, name="people_remove"),
    path(
        "w/<slug:workspace_slug>/people/<uuid:key>/again/",
        people.people_again,
        name="people_again",
    ),
    path(
        "w/<slug:workspace_slug>/people/<uuid:key>/take-back/",
        people.people_take_back,
        name="people_take_back",
    ),
    path("w/<slug:workspace_slug>/more/", people.more, name="more"),
    path("w/<slug:workspace_slug>/deleted/", deleted.deleted, name="deleted"),
    path("w/<slug:workspace_slug>/deleted/<slug:slug>/", deleted.history, name="deleted_routine"),
    path("w/<slug:workspace_slug>/bell/", bell.bell, name="bell"),
    path("w/<slug:workspace_slug>/bell/read/", bell.read_all, name="bell_read"),
    path("w/<slug:workspace_slug>/bell/unread/", bell.unread_again, name="bell_unread"),
    path("w/<slug:workspace_slug>/settings/", settings_page.settings, name="settings"),
    path(
        "w/<slug:workspace_slug>/settings/hand-over/",
        settings_page.hand_over_workspace,
        name="hand_over",
    ),
    path("w/<slug:workspace_slug>/settings/pause/", settings_page.pause, name="pause"),
    path("w/<slug:workspace_slug>/settings/resume/", settings_page.resume, name="resume"),
    path("w/<slug:workspace_slug>/settings/stop/", settings_page.stop_everything, name="stop_all"),
]

plans: list[URLPattern | URLResolver] = [
    path("w/<slug:workspace_slug>/plan/", plan_page.plan, name="plan"),
    path("w/<slug:workspace_slug>/plan/statement.csv", plan_page.statement_csv, name="plan_csv"),
    path("w/<slug:workspace_slug>/plan/ledger/", ledger_page.ledger, name="plan_ledger"),
    path("w/<slug:workspace_slug>/plan/ledger.csv", ledger_page.ledger_csv, name="plan_ledger_csv"),
    path("w/<slug:workspace_slug>/plan/choose/", plan_choose.choose, name="plan_choose"),
]

urlpatterns = outside + routines + machines_and_files + agents_and_models + workspace + plans
