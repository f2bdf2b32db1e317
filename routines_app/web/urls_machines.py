"""Addresses of a workspace's machines and of the files on them."""

from django.urls import path
from django.urls.resolvers import URLPattern

from routines_app.web import files, machines

urlpatterns: list[URLPattern] = [
    path("machines/", machines.machines, name="machines"),
    path("machines/new/", machines.machine_new, name="machine_new"),
    path("machines/<slug:slug>/", machines.machine, name="machine"),
    path("machines/<slug:slug>/start/", machines.machine_start, name="machine_start"),
    path("machines/<slug:slug>/stop/", machines.machine_stop, name="machine_stop"),
    path("machines/<slug:slug>/restore/", machines.machine_restore, name="machine_restore"),
    path("machines/<slug:slug>/delete/", machines.machine_delete, name="machine_delete"),
    path("files/", files.files, name="files"),
    path("files/<slug:machine_slug>/", files.file, name="file_root"),
    path("files/<slug:machine_slug>/<path:path>", files.file, name="file"),
]
