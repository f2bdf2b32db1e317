"""Addresses of a workspace's machines and of the files on them."""

from django.urls import path
from django.urls.resolvers import URLPattern

from routines_app.web import machines

urlpatterns: list[URLPattern] = [
    path("machines/", machines.machines, name="machines"),
    path("machines/<slug:slug>/", machines.machine, name="machine"),
    path("files/", machines.files, name="files"),
]
