"""Settings, read once from the environment by typed readers. Production refuses to start
without its secrets; the embedded mode needs none."""

import re
import zoneinfo
from pathlib import Path
from urllib.parse import urlsplit

import django_stubs_ext

from billing.plans import PLANS
from foundation import env
from foundation.crypto import secret_key
from foundation.embedded import database_url

django_stubs_ext.monkeypatch()
zoneinfo.reset_tzpath(())  # the pinned tzdata is what counts, on every machine

BASE_DIR = Path(__file__).resolve().parent.parent
MODE = env.choice("ROUTINES_MODE", "embedded", {"embedded", "production"})
EMBEDDED = MODE == "embedded"
VAR = env.path("ROUTINES_VAR", BASE_DIR / "var")
DEBUG = env.flag("DEBUG", False)
PORT = env.integer("PORT", 8000)

SECRET_KEY = (
    env.text("SECRET_KEY", secret_key(VAR / "secret_key")) if EMBEDDED else env.text("SECRET_KEY")
)
ENCRYPTION_KEY = env.text("ENCRYPTION_KEY", SECRET_KEY if EMBEDDED else None)
ALLOWED_HOSTS = env.listed("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"] if EMBEDDED else [])
SITE_URL = env.text("SITE_URL", f"http://localhost:{PORT}" if EMBEDDED else None)
# No is for a production on this very computer, at http://localhost: `make stack`.
SECURE_SSL = env.flag("SECURE_SSL", not EMBEDDED)
if not EMBEDDED and not SECURE_SSL and not re.match(r"http://localhost(:\d+)?$", SITE_URL):
    raise env.SettingError(
        f"SECURE_SSL is no, but SITE_URL is {SITE_URL}. Without https only http://localhost works."
    )
# The addresses or networks of the reverse proxies in front of the web process: who asks, and
# whether by https, is believed of them alone. None is trusted that isn't named.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
OPEN_SIGNUP = env.flag("OPEN_SIGNUP", not EMBEDDED)

DATABASES = {
    "default": env.database(
        env.text(
            "DATABASE_URL",
            database_url(VAR) if EMBEDDED else None,
        )
    )
    # Under ASGI each request has a thread of its own, so a kept connection would be lost with it;
    # workers keep theirs, since opening one takes longer than all of a small task.
    | {
        "CONN_MAX_AGE": env.integer("DATABASE_KEEP_SECONDS", 0),
        "CONN_HEALTH_CHECKS": True,  # a kept one may have outlived the server's restart
        "ATOMIC_REQUESTS": False,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "template_partials",
    "csp",
    "rest_framework",
    "accounts",
    "billing",
    "machines",
    "routines_app",
    "routines_app.web",
]

MIDDLEWARE = [
    "routines_app.web.host.LocalhostMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "routines_app.web.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "routines_app.web.zone.their_zone",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "routines_app.urls"
ASGI_APPLICATION = "routines_app.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "routines_app.web.shell.shell",
            ],
            "builtins": ["routines_app.web.templatetags.words"],
        },
    }
]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR / "static"
if EMBEDDED:
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # whitenoise warns of a missing folder
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if EMBEDDED
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = EMBEDDED
MEDIA_ROOT = VAR / "files"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_LENGTH = 12
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": PASSWORD_LENGTH}),
        ("CommonPasswordValidator", {}),
        ("NumericPasswordValidator", {}),
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_SIGNUP_FORM_CLASS = "accounts.forms.SignUpName"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none" if EMBEDDED else "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = not EMBEDDED
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = True
MFA_SUPPORTED_TYPES = ["webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = EMBEDDED
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not SECURE_SSL

# Without a mail server what would be sent is printed to the log.
EMAIL_TO_LOG = env.flag("EMAIL_TO_LOG", EMBEDDED and env.optional("EMAIL_URL") is None)
EMAIL_BACKEND = "django.core.mail.backends." + (
    "console.EmailBackend" if EMAIL_TO_LOG else "smtp.EmailBackend"
)
if not EMAIL_TO_LOG:
    _MAIL = env.mail_server("EMAIL_URL")
    EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.starttls, _MAIL.tls
EMAIL_TIMEOUT = 10  # seconds; somebody waits for the page that sends
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text(
    "EMAIL_FROM", f"Routines <routines@{urlsplit(SITE_URL).hostname}>"
)

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    if EMBEDDED
    else {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.text("REDIS_URL"),
    }
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "manifest-src": ["'self'"],
    }
}
CSRF_FAILURE_VIEW = "routines_app.web.errors.form_too_old"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = SECURE_SSL
CSRF_COOKIE_SECURE = SECURE_SSL
SECURE_SSL_REDIRECT = SECURE_SSL
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_SSL else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_SSL
SECURE_HSTS_PRELOAD = SECURE_SSL
CSRF_TRUSTED_ORIGINS = [SITE_URL]
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
UPLOAD_MAX_BYTES = 200 * 1024 * 1024
FILE_UPLOAD_HANDLERS = [
    "routines_app.web.uploads.BoundedUpload",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

LEASE_SECONDS = env.seconds("LEASE_SECONDS", 45.0)
LEASE_RENEW_SECONDS = env.seconds("LEASE_RENEW_SECONDS", 10.0)
REAP_SECONDS = env.seconds("REAP_SECONDS", 10.0)
SWEEP_SECONDS = env.seconds("SWEEP_SECONDS", 5.0)
DRAIN_SECONDS = env.seconds("DRAIN_SECONDS", 20.0)
if LEASE_RENEW_SECONDS * 2 > LEASE_SECONDS:
    raise env.SettingError(
        "LEASE_RENEW_SECONDS is more than half of LEASE_SECONDS. A lease that is renewed so late "
        "is lost; renew it at least twice as often."
    )

CELERY_BROKER_URL = "memory://localhost/" if EMBEDDED else env.text("REDIS_URL")
# A doorbell that can't be sent is given up within a second: whoever rings has a row to commit or a
# page to answer, and the sweep finds what waits.
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"polling_interval": 0.05}
    if EMBEDDED
    else {"max_retries": 3, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5}
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # Redis may be away for as long as it likes
CELERY_WORKER_PREFETCH_MULTIPLIER = 1  # a runner that is busy leaves the others' doorbells alone
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_ROUTES = {
    "routines_app.tasks.take_fire": {"queue": "runner"},
    "routines_app.tasks.wake": {"queue": "runner"},
    "routines_app.tasks.care": {"queue": "runner"},
    "routines_app.tasks.restore": {"queue": "runner"},
    "routines_app.tasks.test_model_key": {"queue": "runner"},
    "routines_app.tasks.ask_connector": {"queue": "runner"},
    "routines_app.tasks.try_check": {"queue": "runner"},
    "routines_app.tasks.*": {"queue": "clock"},
}
CELERY_BEAT_SCHEDULE = {
    name: {
        "task": f"routines_app.tasks.{name}",
        "schedule": every,
        "options": {"expires": max(every, 5.0)},
    }
    for name, every in (
        ("scan", 1.0),
        ("sweep", SWEEP_SECONDS),
        ("reap", REAP_SECONDS),
        ("outbox", SWEEP_SECONDS),
        ("care", 30.0),
        ("quiet", 600.0),
    )
}

# Whether a workspace's own model server may be on this computer or its private network: yes only
# where whoever runs the installation trusts whoever uses it.
NEARBY_MODELS = env.flag("NEARBY_MODELS", EMBEDDED)
PLAN = env.choice("PLAN", "self-hosted" if EMBEDDED else "free", set(PLANS))
MACHINE_PROVIDER = env.choice("MACHINE_PROVIDER", "local", {"local", "memory"})
# Without control groups a machine's memory is watched, not kept: yes only where whoever runs the
# installation trusts whoever uses it.
LOCAL_MACHINES_WITHOUT_CGROUPS = env.flag("LOCAL_MACHINES_WITHOUT_CGROUPS", EMBEDDED)
MACHINES_ROOT = VAR / "machines"
RUNNER_THREADS = env.integer("RUNNER_THREADS", 4)

LOGGING_CONFIG = None
