"""Addresses beneath a workspace's routines."""

from django.urls import path
from django.urls.resolvers import URLPattern

from routines_app.web.people import more

urlpatterns: list[URLPattern] = [
    path("", more, name="routines"),
]
