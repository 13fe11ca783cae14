"""Settings. Every value comes from the environment and has a default that works.

A value that cannot be understood stops the start with a sentence naming the variable.
Any variable may be given as NAME_FILE, the path of a file that holds it.
"""

import os
import tomllib
from pathlib import Path

from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured
from marshmallow.validate import OneOf

from delivery.environment import env, kept_secret, read
from delivery.openapi.settings import spectacular_settings
from delivery.settings.broker_tls import broker_tls
from delivery.settings.database import database
from delivery.settings.logging_settings import logging_settings
from delivery.settings.periodic_tasks import periodic_tasks
from delivery.sign_on import settings as sign_on

# python-docx brings lxml, which openpyxl would then prefer to the parser that refuses entities.
os.environ["OPENPYXL_LXML"] = "False"

BASE_DIR = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

DEBUG = read(env.bool, "DESK_DEBUG", False)
VAR_DIR = Path(read(env.str, "DESK_VAR_DIR", str(BASE_DIR / "var")))
SECRET_KEY = read(env.str, "DESK_SECRET_KEY", "") or kept_secret(VAR_DIR / "secret-key")
# Seals the audit log; whoever can only write to the database cannot make a log of his own.
AUDIT_KEY = read(env.str, "DESK_AUDIT_KEY", "") or kept_secret(VAR_DIR / "audit-key")
# Of a rotation: what was signed or sealed with them is still known; see `manage.py rotate_keys`.
SECRET_KEY_FALLBACKS = read(env.list, "DESK_SECRET_KEY_FALLBACKS", [])
AUDIT_KEY_OLD = read(env.str, "DESK_AUDIT_KEY_OLD", "")
CREDENTIAL_KEYS = read(env.list, "DESK_CREDENTIAL_KEYS", [])  # Fernet keys, newest first
ALLOWED_HOSTS = read(env.list, "DESK_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = read(env.list, "DESK_TRUSTED_ORIGINS", [])
PUBLIC_URL = read(env.str, "DESK_PUBLIC_URL", "http://127.0.0.1:8000")

INSTALLED_APPS = [
    "django.forms",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "django_tables2",
    "crispy_forms",
    "crispy_bootstrap5",
    "csp",
    "axes",
    "engagements",
    "workers",
    "assessments",
    "delivery.documents",
    "delivery.quotes",
    "delivery.reports",
    "delivery.acceptance",
    "delivery.evidence",
    "delivery.planning",
    "delivery.knowledge",
    "delivery.notices",
    "delivery.surveys",
    "delivery.portal",
    "delivery.operation",
    "delivery.demo",
]

MIDDLEWARE = [
    "delivery.portal.trusted_proxies.TrustedProxiesMiddleware",
    "delivery.operation.request_log.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "delivery.portal.response_headers.ResponseHeadersMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "delivery.portal.login_middleware.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "engagements.audit.download_log.DownloadLog",
    "engagements.web.error_middleware.NotAllowedMiddleware",
    "delivery.portal.error_pages.NulByteMiddleware",
    "engagements.web.printable_forms.PrintableFormsMiddleware",
    "delivery.portal.error_pages.MethodNotAllowedMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "delivery.urls"
CSRF_FAILURE_VIEW = "delivery.portal.error_pages.csrf_page"
WSGI_APPLICATION = "delivery.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            # The same tags, a third of the time: see engagements.templatetags.quick_tags.
            "builtins": ["engagements.templatetags.quick_tags"],
            "libraries": {"i18n": "engagements.templatetags.quick_i18n"},
        },
    }
]

# Database ------------------------------------------------------------------

DATABASE_URL = read(env.str, "DATABASE_URL", f"sqlite:///{VAR_DIR / 'desk.sqlite3'}").strip()
DATABASES = {"default": database(DATABASE_URL, VAR_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# People --------------------------------------------------------------------

AUTH_USER_MODEL = "engagements.User"
AUTHENTICATION_BACKENDS = [
    "engagements.web.address_limit_backend.AddressLimitBackend",
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}Validator"}
    for name in ("UserAttributeSimilarity", "MinimumLength", "CommonPassword", "NumericPassword")
]
# Single sign-on and second factors, where they are set.
if sign_on.IS_ON:
    INSTALLED_APPS += sign_on.APPS
    MIDDLEWARE += sign_on.MIDDLEWARE
AUTHENTICATION_BACKENDS = sign_on.backends(AUTHENTICATION_BACKENDS)
globals().update(sign_on.library_settings())
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "portal:home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = read(env.int, "DESK_LOGIN_ATTEMPTS", 8)
AXES_COOLOFF_TIME = 0.5
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
# Failures from one address, whoever's names they were, before it has to wait as long.
LOGIN_ADDRESS_LIMIT = read(env.int, "DESK_LOGIN_ADDRESS_ATTEMPTS", 60)
LOGIN_PAUSE_SECONDS = 1800
PASSWORD_RESET_TIMEOUT = 3600
API_TOKEN_DAYS = 90  # unless the token says how long
API_TOKEN_MAX_DAYS = read(env.int, "DESK_API_TOKEN_DAYS", 365)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
IS_HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
# Networks of reverse proxies whose X-Forwarded-For and -Proto are believed.
TRUSTED_PROXIES = read(env.list, "DESK_TRUSTED_PROXIES", [])
SECURE_HSTS_SECONDS = read(env.int, "DESK_HSTS_SECONDS", 365 * 86400 if IS_HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = read(env.bool, "DESK_HSTS_SUBDOMAINS", False)
# Only where the proxy says which scheme was used: without it every page would lead to itself.
SECURE_SSL_REDIRECT = IS_HTTPS and bool(TRUSTED_PROXIES)
# Other hosts of the firm's domain are not ours to decide on: DESK_HSTS_SUBDOMAINS.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021",
                          "templates.W003"]  # our `i18n` stands in the place of Django's
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
CONTENT_SECURITY_POLICY = {"DIRECTIVES": {
    "default-src": [SELF],
    # Charts, terminal and progress bars set styles of elements; scripts come from files only.
    "style-src": [SELF, UNSAFE_INLINE],
    "img-src": [SELF, "data:"],
    "font-src": [SELF, "data:"],
    "object-src": [NONE],
    "base-uri": [NONE],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
}}

# Passwords are hashed in 30 ms: fifty people who log in at nine do not wait for each other.
PASSWORD_HASHERS = [
    "engagements.password_hashing.Argon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",  # until the next log-in of older accounts
]

# Web server ------------------------------------------------------------------------------------

# One process where the database is a file: writers of several would wait for each other.
WEB_WORKERS = read(env.int, "DESK_WEB_WORKERS",
                   1 if "sqlite" in DATABASES["default"]["ENGINE"] else 2)
WEB_THREADS = read(env.int, "DESK_WEB_THREADS", 16)  # of each process
WEB_KEEP_ALIVE = read(env.int, "DESK_WEB_KEEP_ALIVE", 75)  # seconds; longer than the proxy's

# Language and time -----------------------------------------------------------

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "Asia/Shanghai"  # what people see; the database holds UTC

# Files -----------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = Path(read(env.str, "DESK_STATIC_DIR", str(VAR_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = Path(read(env.str, "DESK_ARTIFACT_DIR", str(VAR_DIR / "artifacts")))
ARTIFACT_BUCKET = read(env.str, "DESK_ARTIFACT_BUCKET", "")
# Days that the object store keeps what was issued, and its raw files, from being changed.
OBJECT_LOCK_DAYS = read(env.int, "DESK_ARTIFACT_LOCK_DAYS", 0)
OBJECT_LOCK_MODE = read(env.str, "DESK_ARTIFACT_LOCK_MODE", "GOVERNANCE",
                        validate=OneOf(["GOVERNANCE", "COMPLIANCE"]))
# Stored files are read again all the time: how much in a minute (0: never), and after how many
# days from the beginning.
SCRUB_MB_PER_MINUTE = read(env.int, "DESK_SCRUB_MB_PER_MINUTE", 300)
SCRUB_DAYS = read(env.int, "DESK_SCRUB_DAYS", 7)
STORAGES = {
    "default": (
        {
            "BACKEND": "workers.artifacts.object_storage.ObjectStorage",
            "OPTIONS": {
                "bucket_name": ARTIFACT_BUCKET,
                "endpoint_url": read(env.str, "DESK_ARTIFACT_ENDPOINT", "") or None,
                "file_overwrite": False,
                "max_memory_size": 8 * 2**20,
            },
        }
        if ARTIFACT_BUCKET
        else {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    ),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 2**20
LOG_LIMIT_BYTES = read(env.int, "DESK_LOG_LIMIT_MB", 4096) * 2**20  # stored of one job's log
READ_PROCESS = read(env.bool, "DESK_READ_PROCESS", True)  # files are read in child processes
READ_SECONDS = read(env.int, "DESK_READ_SECONDS", 120)  # of the processor, for one file
READ_MEMORY_MB = read(env.int, "DESK_READ_MEMORY_MB", 4096)  # of addresses, for one file
UPLOAD_LIMIT_BYTES = read(env.int, "DESK_UPLOAD_LIMIT_MB", 512) * 2**20
RESUMABLE_UPLOAD_LIMIT_BYTES = read(env.int, "DESK_RESUMABLE_UPLOAD_LIMIT_MB", 51200) * 2**20

# Queue -------------------------------------------------------------------------

REDIS_URL = read(env.str, "REDIS_URL", "")
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_USE_SSL = broker_tls(REDIS_URL)
    # A broker that vanished is noticed: a worker that waits for it for ever takes no message.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": 3600, "socket_timeout": 30, "socket_connect_timeout": 10,
        "socket_keepalive": True}
else:
    QUEUE_DIR = VAR_DIR / "queue"
    for folder in ("messages", "processed", "control"):
        (QUEUE_DIR / folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_URL = "filesystem://"
    CELERY_BROKER_TRANSPORT = "workers.dispatch.folder_broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(QUEUE_DIR / "messages"),
        "data_folder_out": str(QUEUE_DIR / "messages"),
        "control_folder": str(QUEUE_DIR / "control"),
        "processed_folder": str(QUEUE_DIR / "processed"),
        "polling_interval": 0.1,
    }
# What all processes count together (turns of the verification page).
CACHES = {"default": {
    "BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL,
    "KEY_PREFIX": "desk", "OPTIONS": {"socket_timeout": 5, "socket_connect_timeout": 5},
} if REDIS_URL else {
    "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
    "LOCATION": VAR_DIR / "cache", "OPTIONS": {"MAX_ENTRIES": 5000},
}}
RENDER_PROCESS = read(env.bool, "DESK_RENDER_PROCESS", True)  # in a child process
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ALWAYS_EAGER = read(env.bool, "DESK_TASKS_EAGER", False)
CELERY_TASK_TIME_LIMIT = 300
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
NOTICE_DAYS = read(env.int, "DESK_NOTICE_DAYS", 365)  # that notices and sent messages are kept
SEND_ATTEMPT_DAYS = read(env.int, "DESK_SEND_ATTEMPT_DAYS", 90)
# After which whole months of the audit log go into files of the artifact store; 0: never.
AUDIT_DAYS = read(env.int, "DESK_AUDIT_DAYS", 0)
DISPATCH_TICK_SECONDS = read(env.float, "DESK_DISPATCH_TICK_SECONDS", 1.0)
# Cards of nodes are looked at while jobs run there; 0: never.
SAMPLE_SECONDS = read(env.int, "DESK_SAMPLE_SECONDS", 30)
CARD_TEMPERATURE_LIMIT = read(env.int, "DESK_CARD_TEMPERATURE_LIMIT", 90)  # degrees Celsius
CELERY_BEAT_SCHEDULER = "engagements.leased_scheduler:LeasedScheduler"  # of all hosts one sends
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = periodic_tasks(DISPATCH_TICK_SECONDS)

# Pages and API -------------------------------------------------------------------

CRISPY_ALLOWED_TEMPLATE_PACKS = "bootstrap5"
CRISPY_TEMPLATE_PACK = "bootstrap5"
DJANGO_TABLES2_TEMPLATE = "components/table.html"
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"  # templates/django/forms
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "engagements.web.token_authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_FILTER_BACKENDS": ["engagements.web.strict_filters.StrictFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "engagements.web.api_pagination.WindowPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "delivery.openapi.auto_schema.DeskAutoSchema",
    "EXCEPTION_HANDLER": "engagements.web.problem_responses.problem_response",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "engagements.web.json_parser.BoundedJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
}
SPECTACULAR_SETTINGS = spectacular_settings(VERSION)

# Sealing documents -----------------------------------------------------------------

# An encrypted PEM key beside its certificate, a PKCS#12 file (.p12, .pfx) that holds both, or a key
# of a security module (pkcs11:…, RFC 7512), then with the PIN as password.
# Without one, documents bear a practice certificate that says what it is.
SIGNING_KEY = read(env.str, "DESK_SIGNING_KEY", "")
SIGNING_KEY_PASSWORD = read(env.str, "DESK_SIGNING_KEY_PASSWORD", "")
SIGNING_CERTIFICATE = read(env.str, "DESK_SIGNING_CERTIFICATE", "")
SIGNING_CHAIN = read(env.list, "DESK_SIGNING_CHAIN", [])  # files of certificates in between
SIGNING_TIMESTAMP_URL = read(env.str, "DESK_SIGNING_TIMESTAMP_URL", "")  # RFC 3161
# Certificates at which the chains of key and time stamp end; with them seals hold revocation
# information (PAdES B-LT), from these lists and from the addresses in the certificates.
SIGNING_ROOTS = read(env.list, "DESK_SIGNING_ROOTS", [])
SIGNING_CRLS = read(env.list, "DESK_SIGNING_CRLS", [])

# E-mail ------------------------------------------------------------------------------

EMAIL_HOST = read(env.str, "DESK_EMAIL_HOST", "")
# Without a mail server e-mails are written to a folder, one file each.
EMAIL_BACKEND = read(env.str, "DESK_EMAIL_BACKEND", "django.core.mail.backends." + (
    "smtp.EmailBackend" if EMAIL_HOST else "filebased.EmailBackend"))
EMAIL_FILE_PATH = VAR_DIR / "mail"
EMAIL_PORT = read(env.int, "DESK_EMAIL_PORT", 25)
EMAIL_HOST_USER = read(env.str, "DESK_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = read(env.str, "DESK_EMAIL_PASSWORD", "")
EMAIL_USE_TLS = read(env.bool, "DESK_EMAIL_TLS", False)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = read(env.str, "DESK_EMAIL_FROM", "delivery-desk@localhost")
# Hosts that robots and webhooks may be sent to beside the three known ones: `host`, `host:port`,
# or `http://host:port` where TLS is missing; and networks such hosts may lie in (CIDR).
NOTICE_HOSTS = read(env.list, "DESK_NOTICE_HOSTS", [])
NOTICE_NETWORKS = read(env.list, "DESK_NOTICE_NETWORKS", [])
# Messages in a row that may fail before a channel is switched off.
NOTICE_MOST_FAILURES = read(env.int, "DESK_NOTICE_MOST_FAILURES", 20)

# Encrypts the keys that `manage.py backup --keys` writes.
BACKUP_PASSPHRASE = read(env.str, "DESK_BACKUP_PASSPHRASE", "")

# Observation --------------------------------------------------------------------------

METRICS_TOKEN = read(env.str, "DESK_METRICS_TOKEN", "")  # without it there is no /metrics
WORKER_METRICS_HOST = read(env.str, "DESK_WORKER_METRICS_HOST", "127.0.0.1")
WORKER_METRICS_PORT = read(env.int, "DESK_WORKER_METRICS_PORT", 0)
LOG_FORMAT = read(env.str, "DESK_LOG_FORMAT", "line", validate=OneOf(["line", "json"]))
LOGGING = logging_settings(LOG_FORMAT, read(env.str, "DESK_LOG_LEVEL", "INFO"))
SENTRY_DSN = read(env.str, "DESK_SENTRY_DSN", "")
if SENTRY_DSN:
    try:
        import sentry_sdk
    except ImportError as error:
        raise ImproperlyConfigured(
            "DESK_SENTRY_DSN needs a package: pip install -r requirements-observation.txt"
        ) from error
    sentry_sdk.init(dsn=SENTRY_DSN, release=VERSION, send_default_pii=False)
