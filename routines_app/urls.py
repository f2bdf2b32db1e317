"""Every address of the site."""

from django.urls import include, path
from django.urls.resolvers import URLPattern, URLResolver

from routines_app.web.health import health, ready

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health, name="health"),
    path("readyz", ready, name="ready"),
    path("accounts/", include("allauth.urls")),
    path("", include("routines_app.web.urls")),
]

handler400 = "routines_app.web.errors.not_understood"
handler403 = "routines_app.web.errors.forbidden"
handler404 = "routines_app.web.errors.not_found"
handler500 = "routines_app.web.errors.broken"
