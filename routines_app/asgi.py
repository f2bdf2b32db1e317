"""The web process's entry."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from routines_app.web.body_limit import bounded
from routines_app.web.proxies import behind

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "routines_app.settings")

_FORM_BYTES = 1024 * 1024  # what an upload's form adds to its files

application = behind(
    settings.TRUSTED_PROXIES,
    bounded(get_asgi_application(), settings.UPLOAD_MAX_BYTES + _FORM_BYTES),
)
