"""Every address of the site."""

from django.urls import include, path
from django.urls.resolvers import URLPattern, URLResolver

from routines_app.web.health import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health, name="health"),
    path("accounts/", include("allauth.urls")),
]
