"""All settings, read once from the environment; docs/settings.md documents each variable.

Two modes. `local` (what manage.py commands use unless told otherwise) answers to this machine only
and needs nothing configured. `production` (what the WSGI module uses unless told otherwise)
requires a secret key and host names, sends cookies over HTTPS only, and refuses the embedded
PostgreSQL unless it is asked for by name.
"""

import datetime
import logging
import os
from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from geval.files.limits import limits_of
from geval.texts import in_languages
from geval_site import environment, logs
from geval_site.databases import broker_options, database_settings
from geval_site.datafolder import (
    default_data_dir,
    local_secret_key,
    packaged_folder,
    temporary_folder,
)
from geval_site.email import email_settings
from geval_site.key_names import ANY, key_names
from geval_site.openid import openid_settings
from geval_site.processes import hide_secrets
from geval_site.queues import queue_names, task_queues, task_routes
from geval_site.site_files import site_files, static_root

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = environment.folder("GEVAL_DATA_DIR", default=default_data_dir())

MODE = environment.choice("GEVAL_MODE", default="production", among=("local", "production"))
PRODUCTION = MODE == "production"
DEBUG = environment.flag("GEVAL_DEBUG", default=False)

ALLOWED_HOSTS = environment.words(
    "GEVAL_HOSTS", default=() if PRODUCTION else ("localhost", "127.0.0.1", "[::1]")
)
SECRET_KEY = environment.text("GEVAL_SECRET_KEY")
DATABASE_URL = environment.text("DATABASE_URL")

if PRODUCTION:
    hide_secrets()
    if DEBUG:
        raise ImproperlyConfigured(
            "GEVAL_DEBUG=1 shows settings to visitors; use it with GEVAL_MODE=local only."
        )
    if not SECRET_KEY:
        raise ImproperlyConfigured(
            "GEVAL_SECRET_KEY is not set. Set it to a long random text, or GEVAL_MODE=local to try"
            " the site out."
        )
    if not ALLOWED_HOSTS:
        raise ImproperlyConfigured(
            "GEVAL_HOSTS is not set. List the host names of the site, separated by commas."
        )
    if not DATABASE_URL and not environment.flag("GEVAL_ALLOW_EMBEDDED", default=False):
        raise ImproperlyConfigured(
            "DATABASE_URL is not set. The embedded PostgreSQL trusts every local user who reaches"
            " its socket; set GEVAL_ALLOW_EMBEDDED=1 if that is right for this machine."
        )
SECRET_KEY = SECRET_KEY or local_secret_key(DATA_DIR)

# Signing in through an OpenID Connect provider, if there is one.
OPENID = openid_settings(
    environment.text("GEVAL_OIDC_URL"),
    client=environment.text("GEVAL_OIDC_CLIENT"),
    secret=environment.text("GEVAL_OIDC_SECRET"),
    name=environment.text("GEVAL_OIDC_NAME", default="OpenID Connect"),
    behind_https=PRODUCTION,
)
OPENID_NAME: str = OPENID["name"]
vars().update(OPENID["own"])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "ninja",
    "csp",
    "axes",
    "django_structlog",
    "evaluations",
    "annotations",
    # Improving, checking and certifying judges; no other app imports it.
    "assurance",
    *OPENID["apps"],
]

MIDDLEWARE = [
    "geval_site.middleware.RequestMetricsMiddleware",
    # Headers first, so that redirects to HTTPS and static files have them too.
    "geval_site.middleware.HeadersMiddleware",
    "evaluations.web.gate.probes.ProbesMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "evaluations.web.api.middleware.ApiProblemMiddleware",
    "evaluations.web.gate.refusals.WellFormedMiddleware",
    # Before everything that reads a body.
    "evaluations.web.gate.refusals.BodyLimitMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # After the user is known, and around everything that takes time.
    "geval_site.middleware.RequestLogMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "evaluations.web.gate.refusals.RequestRateMiddleware",
    "evaluations.web.api.middleware.IdempotencyMiddleware",
    "evaluations.people.audit.AuditMiddleware",
    "evaluations.web.parameters.ParametersMiddleware",
    *OPENID["middleware"],
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "geval_site.urls"
WSGI_APPLICATION = "geval_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [site_files("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "geval_site.context.about_the_site",
            ],
            "libraries": {
                name: f"evaluations.web.templatetags.{name}"
                for name in (
                    "evaluations",
                    "formatted",
                    "judge_head",
                    "languages",
                    "reports",
                    "side_by_side",
                    "turns",
                )
            },
        },
    }
]

DATABASES = {"default": database_settings(DATABASE_URL, DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Jobs. The database is the source of truth about work; a message only wakes a worker, so results
# are not kept in the broker.
CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = broker_options(
    environment.text("CELERY_BROKER_URL"), DATABASES["default"]
)
CELERY_TASK_IGNORE_RESULT = True
# Calls to endpoints wait anyway, and local evaluators compute in separate processes. Celery's own
# processes share a pipe with brokers that are not asynchronous; measurements are in
# evaluations/judging/README.md.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# A worker holds only the message it processes, so that the next one wakes another worker.
CELERY_TASK_ACKS_LATE = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# The reply queues of remote control have names longer than the PostgreSQL transport allows; a
# heartbeat row serves.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# How many processes a worker may use for evaluators that compute on its machine, such as ROUGE.
EVALUATOR_PROCESSES = environment.whole(
    "GEVAL_EVALUATOR_PROCESSES", default=os.cpu_count() or 1, least=1
)
# A queue for each kind of job, so that many jobs of one kind never delay another. Workers started
# by a command leave runs of other projects to the site's.
ONLY_PROJECT = environment.text("GEVAL_ONLY_PROJECT")
CELERY_TASK_DEFAULT_QUEUE = environment.text("GEVAL_QUEUE", default="geval")
QUEUES = queue_names(CELERY_TASK_DEFAULT_QUEUE)
CELERY_TASK_QUEUES = task_queues(QUEUES)
CELERY_TASK_ROUTES = task_routes(QUEUES)

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": name}
    for name in (
        "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "django.contrib.auth.password_validation.MinimumLengthValidator",
        "django.contrib.auth.password_validation.CommonPasswordValidator",
        "evaluations.people.passwords.TokensEnd",
    )
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "geval_site.sessions.UserBackend",
    *OPENID["backends"],
]
# Limits password guessing per name and address, so that nobody can lock others out.
AXES_FAILURE_LIMIT = environment.whole("GEVAL_SIGN_IN_ATTEMPTS", default=10, least=1)
AXES_COOLOFF_TIME = datetime.timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
# The number of our proxies in front of the site; without it, everybody behind them has one address.
PROXIES = environment.whole("GEVAL_PROXIES", default=0)
AXES_CLIENT_IP_CALLABLE = "geval_site.visitors.lockout_address"
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_HTTP_RESPONSE_CODE = 429
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
# Attempts during a lockout do not extend it; otherwise a person who keeps trying would never get
# in.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
# Nobody reads this log, which has a row with an address for each sign-in.
AXES_DISABLE_ACCESS_LOG = True
# Password resets are sent by e-mail. Without a mail server, e-mails are printed to the terminal.
_EMAIL_URL = environment.text("GEVAL_EMAIL_URL")
_EMAIL_CLASS = environment.text("GEVAL_EMAIL_BACKEND")
_EMAIL_FROM = environment.text("GEVAL_EMAIL_FROM")
# Whether invitations and mails about work are sent at all. Often only the workers that send them
# have the mail server's password; the sender tells all other processes.
SENDS_MAIL = bool(_EMAIL_URL or _EMAIL_CLASS or _EMAIL_FROM)
vars().update(email_settings(_EMAIL_URL, sender=_EMAIL_FROM, backend=_EMAIL_CLASS))
SESSION_ENGINE = "geval_site.sessions"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "annotations:work_waiting"
LOGOUT_REDIRECT_URL = "login"

SESSION_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = PRODUCTION and environment.flag("GEVAL_SSL_REDIRECT", default=True)
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https")
    if environment.flag("GEVAL_BEHIND_PROXY", default=False)
    else None
)
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = PRODUCTION
SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS if PRODUCTION]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        # Plotly turns a chart into a picture through a data URL.
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        # A form that redirects to the provider's host needs permission.
        "form-action": [SELF, *([OPENID["origin"]] if OPENID["origin"] else [])],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
# The languages of annotators' pages and mails; everything else is in English. A request is in
# another language only within `evaluations.people.languages.in_language`.
LANGUAGES = list(in_languages.LANGUAGES.items())
LOCALE_PATHS = [BASE_DIR / "geval_site" / "locale"]
# By default the choice would end with the browser's session.
LANGUAGE_COOKIE_AGE = 365 * 86400
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = PRODUCTION
TIME_ZONE = environment.text("GEVAL_TIME_ZONE", default="UTC")
USE_TZ = True
USE_I18N = True
USE_THOUSAND_SEPARATOR = False
FORMAT_MODULE_PATH = "geval_site.formats"

# The output of `make docs`, served at /docs/.
DOCS_SITE = site_files("docs_site")

STATIC_URL = "static/"
STATIC_ROOT = static_root(DATA_DIR)
STATICFILES_DIRS = [site_files("static"), ("plotly", packaged_folder("plotly") / "package_data")]
WHITENOISE_USE_FINDERS = not PRODUCTION
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}

# Requests that a token, a user or an address may make, over all web processes.
REQUEST_RATE = environment.rate("GEVAL_REQUEST_RATE", default="6000/m")
# Ids of participants that an address may try out at open links.
UNKNOWN_IDS_PER_HOUR = environment.whole("GEVAL_UNKNOWN_IDS_PER_HOUR", default=20, least=1)
UPLOAD_LIMIT_BYTES = environment.megabytes("GEVAL_UPLOAD_LIMIT_MB", default=1000 * 2**20)
TEMPORARY_DIR = temporary_folder(DATA_DIR)
# Each file is read in a separate process, within these limits on memory and processor time.
FILE_LIMITS = limits_of(
    lambda name, default: environment.whole(name, default=default, least=1), str(TEMPORARY_DIR)
)
# A statement of a load that takes longer is ended, with an error that says so.
LOAD_STATEMENT_SECONDS = environment.whole("GEVAL_LOAD_STATEMENT_SECONDS", default=600, least=1)
ARCHIVE_LIMIT_BYTES = environment.megabytes("GEVAL_ARCHIVE_LIMIT_MB", default=4000 * 2**20)
# The size limit of requests without uploads.
BODY_LIMIT_BYTES = environment.whole("GEVAL_BODY_LIMIT_KB", default=2560, least=64) * 2**10
# Pasted rows, in addition to the files of an upload.
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
DATA_UPLOAD_MAX_NUMBER_FILES = 25
# Uploads are written to a file at once, whatever their size: readers stream from a path.
FILE_UPLOAD_TEMP_DIR = TEMPORARY_DIR
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]

# What the log contains, and what it never does: docs/deploy.md.
LOGGING = logs.configure(
    level=logs.level_from_environment(),
    style=logs.format_from_environment(production=PRODUCTION),
)
# Slower requests are logged with a warning; 0 logs all.
SLOW_REQUEST_SECONDS = environment.seconds("GEVAL_SLOW_REQUEST_SECONDS", default=2)
SLOW_QUERY_SECONDS = environment.seconds("GEVAL_SLOW_QUERY_SECONDS", default=1)
# Reports of projects with more ratings, scores and outputs are computed by workers.
REPORT_IN_PAGE_NUMBERS = environment.whole("GEVAL_REPORT_IN_PAGE_NUMBERS", default=100_000)
# A line for the start and end of each request, only at the level DEBUG.
DJANGO_STRUCTLOG_STATUS_DEFAULT_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_STATUS_4XX_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_STATUS_5XX_LOG_LEVEL = logging.DEBUG

# How long models' replies and entries of the audit log are kept; 0 means for good.
KEEP_REPLIES_DAYS = environment.whole("GEVAL_KEEP_REPLIES_DAYS", default=0)
KEEP_AUDIT_DAYS = environment.whole("GEVAL_KEEP_AUDIT_DAYS", default=0)

# What a project, and all projects of a user, may use; 0 is no limit. Administrators may allow
# What a project, and all projects of a user, may use; 0 means no limit. Administrators may set
# other limits for single projects.
PROJECT_STORAGE_MB = environment.whole("GEVAL_PROJECT_STORAGE_MB", default=0)
PROJECT_RUNS = environment.whole("GEVAL_PROJECT_RUNS", default=0)
PROJECT_MONEY_PER_MONTH = environment.money("GEVAL_PROJECT_MONEY_PER_MONTH", default="0")
USER_STORAGE_MB = environment.whole("GEVAL_USER_STORAGE_MB", default=0)
USER_RUNS = environment.whole("GEVAL_USER_RUNS", default=0)
USER_MONEY_PER_MONTH = environment.money("GEVAL_USER_MONEY_PER_MONTH", default="0")
# Each invitation can be a mail in the site's name: open ones of a project, and of a user in a day.
PROJECT_INVITATIONS = environment.whole("GEVAL_PROJECT_INVITATIONS", default=50)
USER_INVITATIONS = environment.whole("GEVAL_USER_INVITATIONS", default=100)

# For `/metrics`; in production nobody may read them without it.
METRICS_TOKEN = environment.text("GEVAL_METRICS_TOKEN")

# Size limits of an endpoint's reply and of a file of its batch API; larger ones are errors of the
# call.
REPLY_LIMIT_BYTES = environment.megabytes("GEVAL_REPLY_LIMIT_MB", default=8 * 2**20)
BATCH_LIMIT_BYTES = environment.megabytes("GEVAL_BATCH_LIMIT_MB", default=64 * 2**20)

# Endpoints in private networks: useful on your own machine, a security risk on a server.
ALLOW_PRIVATE_ENDPOINTS = environment.flag("GEVAL_ALLOW_PRIVATE_ENDPOINTS", default=not PRODUCTION)

# Variables that may contain endpoint keys. Anyone who may create an endpoint can have these sent to
# any address.
_KEYS = environment.words("GEVAL_ENDPOINT_KEYS")
ENDPOINT_KEYS = key_names(_KEYS) if PRODUCTION or _KEYS else ANY
# Who may enter addresses that the site calls, by creating and changing endpoints and webhooks; see
# docs/rights.md.
WHO_MAY_CALL_OUT = environment.choice(
    "GEVAL_WHO_MAY_CALL_OUT",
    default="owners" if PRODUCTION else "editors",
    among=("editors", "owners", "permitted"),
)

# Webhook messages that are sent at the same time: per project, and in total.
WEBHOOKS_AT_ONCE_EACH = 4
WEBHOOKS_AT_ONCE = 40

# Where the demo (and a new endpoint form) starts from; see docs/settings.md.
OPENAI_API_KEY_NAME = "OPENAI_API_KEY"
DEMO_BASE_URL = environment.text("OPENAI_BASE_URL", default="https://api.openai.com/v1")
DEMO_MODEL = environment.text("GEVAL_MODEL", default="gpt-4o-mini")
DEMO_HAS_KEY = bool(os.environ.get(OPENAI_API_KEY_NAME))
