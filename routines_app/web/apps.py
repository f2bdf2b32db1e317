"""Registers the pages."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "routines_app.web"
    label = "web"
