"""Start-up of the product's own app."""

from django.apps import AppConfig


class RoutinesConfig(AppConfig):
    name = "routines_app"
    verbose_name = "Routines"

    def ready(self) -> None:
        from django.conf import settings

        from foundation.logs import configure_logs
        from routines_app import celery as _celery  # noqa: F401  every process may ring doorbells

        configure_logs(json=not settings.EMBEDDED)
