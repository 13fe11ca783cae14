"""Settings. Every value comes from the environment and has a default that works.

`delivery.environment.setting` declares and reads a variable; docs/configuration.md lists them all.
"""

import os
import tomllib
from pathlib import Path

from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_noop as _

from delivery.environment import section, setting, stored_secret
from delivery.openapi.settings import spectacular_settings
from delivery.settings.broker_tls import broker_tls
from delivery.settings.database import database
from delivery.settings.logging_settings import logging_settings
from delivery.settings.periodic_tasks import periodic_tasks
from delivery.settings.variables_of_others import declare_variables_of_others

# python-docx brings lxml, which openpyxl would then prefer to the parser that refuses entities.
os.environ["OPENPYXL_LXML"] = "False"

BASE_DIR = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

section(_("Basics"))
VAR_DIR = Path(setting("DESK_VAR_DIR", str(BASE_DIR / "var"), _(
    "Data folder: the SQLite database, stored files, logs of running jobs, the queue and the keys "
    "made at the first start. Back it up, and let nobody else read it."), shown="`var`"))
PUBLIC_URL = setting("DESK_PUBLIC_URL", "http://127.0.0.1:8000", _(
    "Address under which people reach the portal; it stands in e-mails, QR codes and messages. "
    "With https:// cookies are sent over TLS only."))
ALLOWED_HOSTS = setting("DESK_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"], _(
    "Host names under which the portal answers; a request for any other is refused."))
CSRF_TRUSTED_ORIGINS = setting("DESK_TRUSTED_ORIGINS", [], _(
    "Origins, with their scheme, that may send forms: the public address, where a proxy ends TLS."))
TRUSTED_PROXIES = setting("DESK_TRUSTED_PROXIES", [], _(
    "Networks of the reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, for "
    "example 10.0.0.5/32. With a public address of https://, plain HTTP is then redirected."))
DEBUG = setting("DESK_DEBUG", False, _(
    "Shows people the source and the variables of a page that failed. For development only."))

section(_("Keys"))
SECRET_KEY = setting("DESK_SECRET_KEY", "", _(
    "Signs sessions and links. The same on every host."),
    shown=_("kept in `secret-key` of the data folder")) or stored_secret(VAR_DIR / "secret-key")
# Of a rotation: what was signed or sealed with them is still known; see `manage.py rotate_keys`.
SECRET_KEY_FALLBACKS = setting("DESK_SECRET_KEY_FALLBACKS", [], _(
    "Former secret keys, until `manage.py rotate_keys` has run."))
# Seals the audit log; whoever can only write to the database cannot make a log of his own.
AUDIT_KEY = setting("DESK_AUDIT_KEY", "", _(
    "Seals the audit log. The same on every host, and never kept with a backup of the database."),
    shown=_("kept in `audit-key` of the data folder")) or stored_secret(VAR_DIR / "audit-key")
AUDIT_KEY_OLD = setting("DESK_AUDIT_KEY_OLD", "", _(
    "The former audit key, until `manage.py rotate_keys` has run."))
CREDENTIAL_KEYS = setting("DESK_CREDENTIAL_KEYS", [], _(
    "Fernet keys that encrypt the credentials of nodes and clusters, newest first."),
    shown=_("derived from the secret key"))
BACKUP_PASSPHRASE = setting("DESK_BACKUP_PASSPHRASE", "", _(
    "Passphrase under which `manage.py backup --keys FILE` encrypts the keys."))

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
    "delivery.agreement",
    "delivery.reports",
    "delivery.acceptance",
    "delivery.invoicing",
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
    "engagements.web.session_renewal.SessionRenewalMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "engagements.audit.download_log.DownloadLog",
    "engagements.web.byte_ranges.ByteRanges",
    "engagements.web.error_middleware.NotAllowedMiddleware",
    "delivery.portal.error_pages.NulByteMiddleware",
    "engagements.web.printable_forms.PrintableFormsMiddleware",
    "delivery.portal.error_pages.MethodNotAllowedMiddleware",
    "axes.middleware.AxesMiddleware",
    "engagements.web.idempotency.IdempotencyMiddleware",
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

section(_("Database and queue"))
DATABASE_URL = setting("DATABASE_URL", f"sqlite:///{VAR_DIR / 'desk.sqlite3'}", _(
    "The database: postgresql://user:password@host/name, or sqlite:////folder/file.sqlite3. SQLite "
    "is for one host."), shown=_("a SQLite file in the data folder")).strip()
REDIS_URL = setting("REDIS_URL", "", _(
    "Redis, for example redis://127.0.0.1:6379/0: it carries the messages to workers and what all "
    "processes count together. Without it both are folders of the data folder, for one host."))
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
section(_("People and signing in"))
from delivery.sign_on import settings as sign_on  # noqa: E402  its settings stand here in the docs

if sign_on.IS_ON:
    INSTALLED_APPS += sign_on.APPS
    MIDDLEWARE += sign_on.MIDDLEWARE
AUTHENTICATION_BACKENDS = sign_on.backends(AUTHENTICATION_BACKENDS)
globals().update(sign_on.library_settings(is_insecure_origin_allowed=DEBUG))
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "portal:home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = setting("DESK_LOGIN_ATTEMPTS", 8, _(
    "Wrong passwords of one name from one address before both have to wait half an hour."))
AXES_COOLOFF_TIME = 0.5
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
# Failures from one address, whoever's names they were, before it has to wait as long.
LOGIN_ADDRESS_LIMIT = setting("DESK_LOGIN_ADDRESS_ATTEMPTS", 60, _(
    "Wrong passwords from one address, whoever's names they were, before it has to wait as long."))
LOGIN_PAUSE_SECONDS = 1800
PASSWORD_RESET_TIMEOUT = 3600
API_TOKEN_DAYS = 90  # unless the token says how long
API_TOKEN_MAX_DAYS = setting("DESK_API_TOKEN_DAYS", 365, _(
    "Days for which an API token may be made at most; 90 where nobody says how many."))
SESSION_COOKIE_AGE = 3600 * setting("DESK_SESSION_HOURS", 8, _(
    "Hours without a click or an entry after which somebody is signed out. Pages that are open and "
    "renew themselves do not count."), minimum=1)
DECISION_SIGN_IN_MINUTES = setting("DESK_DECISION_SIGN_IN_MINUTES", 15, _(
    "Minutes after signing in during which somebody may sign, issue, accept and do whatever else "
    "binds the firm or the customer; afterwards they are asked to sign in again."), minimum=1)
DECIDING_TOKENS = setting("DESK_DECIDING_TOKENS", False, _(
    "Whether API tokens of the scope `decide` may be made, for at most 30 days: whoever holds one "
    "signs, approves and issues in its owner's name, without a person. Agents never get one."))
MCP_SECRET = setting("DESK_MCP_SECRET", "", _(
    "Secret that the portal shares with the MCP server over HTTP (`desk-cli mcp-http`). Without it "
    "no agent gets a key for that server."))
MCP_URL = setting("DESK_MCP_URL", f"{PUBLIC_URL.rstrip('/')}/mcp", _(
    "Address at which agents reach that server; its keys are bound to it."),
    shown=_("`/mcp` of the public address"))
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
IS_HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
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
section(_("Web server"))
WEB_BIND = setting("DESK_WEB_BIND", "127.0.0.1:8000", _(
    "Address and port of the portal; 0.0.0.0:8000 where the proxy asks from another host."))
WEB_WORKERS = setting("DESK_WEB_WORKERS", 1 if "sqlite" in DATABASES["default"]["ENGINE"] else 2, _(
    "Processes of the portal."), shown=_("2; 1 with SQLite"))
WEB_THREADS = setting("DESK_WEB_THREADS", 16, _("Threads of each process of the portal."))
WEB_KEEP_ALIVE = setting("DESK_WEB_KEEP_ALIVE", 75, _(
    "Seconds for which an idle connection is kept open; longer than the proxy keeps its own."))
SECURE_HSTS_SECONDS = setting("DESK_HSTS_SECONDS", 365 * 86400 if IS_HTTPS else 0, _(
    "Seconds for which browsers insist on https (HSTS)."),
    shown=_("a year where the public address is https://, else 0"))
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = setting("DESK_HSTS_SUBDOMAINS", False, _(
    "Whether HSTS also holds for the subdomains, which may be others' than ours."))

# Language and time -----------------------------------------------------------

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "Asia/Shanghai"  # what people see; the database holds UTC

# Files -----------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = Path(setting("DESK_STATIC_DIR", str(VAR_DIR / "static"), _(
    "Folder into which `manage.py collectstatic` puts style sheets and scripts."),
    shown=_("`static` in the data folder")))
STATICFILES_DIRS = [BASE_DIR / "static"]
section(_("Stored files"))
MEDIA_ROOT = Path(setting("DESK_ARTIFACT_DIR", str(VAR_DIR / "artifacts"), _(
    "Folder of the stored files, where no bucket is set."),
    shown=_("`artifacts` in the data folder")))
LIVE_LOG_DIR = setting("DESK_LIVE_LOG_DIR", "", _(
    "Folder in which logs of running jobs grow. Portals and workers on several hosts share it."),
    shown=_("`live-logs` in the data folder"))
ARTIFACT_BUCKET = setting("DESK_ARTIFACT_BUCKET", "", _(
    "Bucket of an S3-compatible store that holds the files instead. Its keys are AWS_ACCESS_KEY_ID "
    "and AWS_SECRET_ACCESS_KEY."))
ARTIFACT_ENDPOINT = setting("DESK_ARTIFACT_ENDPOINT", "", _(
    "Address of that store, unless it is Amazon's."))
OBJECT_LOCK_DAYS = setting("DESK_ARTIFACT_LOCK_DAYS", 0, _(
    "Days for which the bucket's object lock keeps issued documents and their raw files from being "
    "changed or deleted; 0: no lock."))
OBJECT_LOCK_MODE = setting("DESK_ARTIFACT_LOCK_MODE", "GOVERNANCE", _(
    "Whether an account of the store with that right may lift the lock (GOVERNANCE), or nobody "
    "(COMPLIANCE)."), choices=("GOVERNANCE", "COMPLIANCE"))
SCRUB_MB_PER_MINUTE = setting("DESK_SCRUB_MB_PER_MINUTE", 300, _(
    "Megabytes of stored files that are read again in a minute and compared with their checksums; "
    "0: none."))
SCRUB_DAYS = setting("DESK_SCRUB_DAYS", 7, _(
    "Days after which reading them all again begins anew, at the earliest."))
STORAGES = {
    "default": (
        {
            "BACKEND": "workers.artifacts.object_storage.ObjectStorage",
            "OPTIONS": {
                "bucket_name": ARTIFACT_BUCKET,
                "endpoint_url": ARTIFACT_ENDPOINT or None,
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
UPLOAD_LIMIT_BYTES = 2**20 * setting("DESK_UPLOAD_LIMIT_MB", 512, _(
    "Largest upload in one piece, in megabytes."))
RESUMABLE_UPLOAD_LIMIT_BYTES = 2**20 * setting("DESK_RESUMABLE_UPLOAD_LIMIT_MB", 51200, _(
    "Largest upload in parts, in megabytes."))
READ_PROCESS = setting("DESK_READ_PROCESS", True, _(
    "Whether a file is read in a child process, which limits of time and memory can end."))
READ_SECONDS = setting("DESK_READ_SECONDS", 120, _(
    "Seconds of processor time that reading one file may take."))
READ_MEMORY_MB = setting("DESK_READ_MEMORY_MB", 4096, _(
    "Megabytes of memory (address space) that reading one file may take."))
RENDER_PROCESS = setting("DESK_RENDER_PROCESS", True, _(
    "Whether documents are rendered in a child process, so that pages and polls do not wait."))

# Queue -------------------------------------------------------------------------

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
    "BACKEND": "engagements.optional_cache.OptionalRedisCache", "LOCATION": REDIS_URL,
    "KEY_PREFIX": "desk", "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
} if REDIS_URL else {
    "BACKEND": "engagements.optional_cache.OptionalFileCache",
    "LOCATION": VAR_DIR / "cache", "OPTIONS": {"MAX_ENTRIES": 5000},
}}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ALWAYS_EAGER = setting("DESK_TASKS_EAGER", False, _(
    "Runs tasks in the process that sends them, without a worker. For tests and development."))
CELERY_TASK_TIME_LIMIT = 300
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"

section(_("Jobs and nodes"))
DISPATCH_TICK_SECONDS = setting("DESK_DISPATCH_TICK_SECONDS", 1.0, _(
    "Seconds between two looks for jobs that are due."), shown="`1`")
LOG_LIMIT_BYTES = 2**20 * setting("DESK_LOG_LIMIT_MB", 4096, _(
    "Megabytes of one job's log that are stored; a line says where the log was cut."))
SAMPLE_SECONDS = setting("DESK_SAMPLE_SECONDS", 30, _(
    "Seconds between two looks at the cards of a node on which jobs run; 0: none."))
DISK_WARNING_MB = setting("DESK_DISK_WARNING_MB", 20_000, _(
    "Megabytes free on a node's disk below which it is warned of."))
DISK_STOP_MB = setting("DESK_DISK_STOP_MB", 100, _(
    "Megabytes free on a node's disk below which no job starts there."))
CARD_TEMPERATURE_LIMIT = setting("DESK_CARD_TEMPERATURE_LIMIT", 90, _(
    "Degrees Celsius above which a card raises an alarm."))
NODE_CLOCK_LIMIT = setting("DESK_NODE_CLOCK_LIMIT", 30, _(
    "Seconds by which a node's clock may differ from ours before it raises an alarm."))
MAINTENANCE_HOURS = setting("DESK_MAINTENANCE_HOURS", 72, _(
    "Hours after which a maintenance of a node for which no end was given raises an alarm."))
NODE_AWAY_MINUTES = setting("DESK_NODE_AWAY_MINUTES", 5, _(
    "Minutes for which a node does not answer before it raises an alarm."))

section(_("What is kept for how long"))
NOTICE_DAYS = setting("DESK_NOTICE_DAYS", 365, _(
    "Days for which notices and sent messages are kept. The audit log, of which notices are made, "
    "stays."))
SEND_ATTEMPT_DAYS = setting("DESK_SEND_ATTEMPT_DAYS", 90, _(
    "Days for which attempts to send are kept."))
AUDIT_DAYS = setting("DESK_AUDIT_DAYS", 0, _(
    "Days after which ended months of the audit log go from the table into files of the artifact "
    "store; 0: never."))
AUDIT_MARK = setting("DESK_AUDIT_MARK", "", _(
    "File, outside the database, that keeps the newest entry of the audit log that a look has "
    "reached: no look takes a log that ends before it. On another machine's disk it holds against "
    "whoever has the data folder as well."),
    shown=_("`audit-verified.json` of the data folder"))
AUDIT_HEAD_HOURS = setting("DESK_AUDIT_HEAD_HOURS", 24, _(
    "Hours after which the audit log is checked again and its newest entry's number and hash go to "
    "the artifact store, to auditors by e-mail and to webhooks; 0: never."))
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
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated",
                                   "delivery.openapi.token_reach.WithinReach"],
    "DEFAULT_FILTER_BACKENDS": ["engagements.web.strict_filters.StrictFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "engagements.web.api_pagination.WindowPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "delivery.openapi.auto_schema.DeskAutoSchema",
    "EXCEPTION_HANDLER": "engagements.web.problem_responses.problem_response",
    "TIME_INPUT_FORMATS": ["%H:%M", "%H:%M:%S"],  # of a day here: a zone would be dropped
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "engagements.web.json_parser.BoundedJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
}
SPECTACULAR_SETTINGS = spectacular_settings(VERSION)

# Sealing documents -----------------------------------------------------------------

section(_("Sealing documents"))
SIGNING_KEY = setting("DESK_SIGNING_KEY", "", _(
    "The firm's key, which seals documents and signs evidence bundles: a file with an encrypted "
    "PEM key, a PKCS#12 file (.p12, .pfx), the PKCS#11 URI of a hardware security module, "
    "`pkcs11:token=…;object=…?module-path=…`, or a credential at a signature provider (CSC API), "
    "`csc:https://…?credential=…`. Without it bundles of real data are not signed."),
    shown=_("a practice certificate, marked as such"))
SIGNING_KEY_PASSWORD = setting("DESK_SIGNING_KEY_PASSWORD", "", _(
    "Password of that file, the PIN of the module, or the provider's access token, with the "
    "credential's PIN after a space if it has one."))
SIGNING_CERTIFICATE = setting("DESK_SIGNING_CERTIFICATE", "", _(
    "File of the certificate of that key; a PKCS#12 file holds it already."))
SIGNING_CHAIN = setting("DESK_SIGNING_CHAIN", [], _(
    "Files of the certificates between that one and its root."))
SIGNING_TIMESTAMP_URL = setting("DESK_SIGNING_TIMESTAMP_URL", "", _(
    "Time-stamp authority (RFC 3161) that confirms when documents were sealed (PAdES B-T) and "
    "bundles signed (CAdES B-T)."))
SIGNING_ROOTS = setting("DESK_SIGNING_ROOTS", [], _(
    "Files of the certificates at which the chains of key and time stamp end. With them seals hold "
    "revocation information (PAdES B-LT); `manage.py certificate --try` says what is reached."))
SIGNING_CRLS = setting("DESK_SIGNING_CRLS", [], _(
    "Files of revocation lists, for authorities whose addresses cannot be reached from here."))

# E-mail ------------------------------------------------------------------------------

section(_("E-mail and notices"))
EMAIL_HOST = setting("DESK_EMAIL_HOST", "", _(
    "Mail server. Without one, e-mails are written into the folder `mail` of the data folder."))
EMAIL_PORT = setting("DESK_EMAIL_PORT", 25, _("Port of the mail server."))
EMAIL_HOST_USER = setting("DESK_EMAIL_USER", "", _("Account of the mail server."))
EMAIL_HOST_PASSWORD = setting("DESK_EMAIL_PASSWORD", "", _("Password of that account."))
EMAIL_USE_TLS = setting("DESK_EMAIL_TLS", False, _(
    "Whether the connection is encrypted by STARTTLS."))
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = setting("DESK_EMAIL_FROM", "delivery-desk@localhost", _(
    "Sender of e-mails."))
EMAIL_BACKEND = setting("DESK_EMAIL_BACKEND", "django.core.mail.backends." + (
    "smtp.EmailBackend" if EMAIL_HOST else "filebased.EmailBackend"), _(
    "Django's class that sends e-mails."), shown=_("follows from the mail server"))
EMAIL_FILE_PATH = VAR_DIR / "mail"
NOTICE_HOSTS = setting("DESK_NOTICE_HOSTS", [], _(
    "Hosts to which robots and webhooks may send beside WeCom, DingTalk and Feishu: `host`, "
    "`host:port`, or `http://host:port` where the host has no TLS."))
NOTICE_NETWORKS = setting("DESK_NOTICE_NETWORKS", [], _(
    "Private networks in which such hosts may lie, for example 10.1.0.0/16."))
NOTICE_MOST_FAILURES = setting("DESK_NOTICE_MOST_FAILURES", 20, _(
    "Messages in a row that may fail before a channel is switched off and its managers are told."))

# Observation --------------------------------------------------------------------------

section(_("Observation"))
METRICS_TOKEN = setting("DESK_METRICS_TOKEN", "", _(
    "Token with which Prometheus reads `/metrics` (`Authorization: Bearer …`). Without it there is "
    "no such page."))
WORKER_METRICS_PORT = setting("DESK_WORKER_METRICS_PORT", 0, _(
    "Port on which a worker shows its own figures; 0: none."))
WORKER_METRICS_HOST = setting("DESK_WORKER_METRICS_HOST", "127.0.0.1", _(
    "Address on which it does so."))
LOG_FORMAT = setting("DESK_LOG_FORMAT", "line", _(
    "Lines for people, or one JSON object per line with request_id, task_id and job_id; as JSON "
    "requests are logged too."), choices=("line", "json"))
LOGGING = logging_settings(LOG_FORMAT, setting("DESK_LOG_LEVEL", "INFO", _(
    "What is logged at least."), choices=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")))
SENTRY_DSN = setting("DESK_SENTRY_DSN", "", _(
    "Sentry project to which errors are reported; needs requirements-observation.txt."))
if SENTRY_DSN:
    try:
        import sentry_sdk
    except ImportError as error:
        raise ImproperlyConfigured(
            "DESK_SENTRY_DSN needs a package: pip install -r requirements-observation.txt"
        ) from error
    sentry_sdk.init(dsn=SENTRY_DSN, release=VERSION, send_default_pii=False)

declare_variables_of_others()
