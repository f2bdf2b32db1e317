"""The web process's entry."""

import os
from typing import Any, cast

from django.conf import settings
from django.core.asgi import get_asgi_application
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from routines_app.web.body_limit import bounded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "routines_app.settings")

_FORM_BYTES = 1024 * 1024  # what an upload's form adds to its files

# Whatever the server was told: who asks, and whether by https, is believed of these proxies alone.
application = ProxyHeadersMiddleware(
    cast(Any, bounded(get_asgi_application(), settings.UPLOAD_MAX_BYTES + _FORM_BYTES)),
    trusted_hosts=settings.TRUSTED_PROXIES,
)
