"""Registers the pages."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "routines_app.web"
    label = "web"

    def ready(self) -> None:
        from allauth.account.signals import user_signed_up

        from routines_app.web.welcome import welcome

        user_signed_up.connect(welcome, dispatch_uid="routines.welcome")
