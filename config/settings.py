"""All settings of Dossier are here.

Settings that differ between installations are environment variables, read and checked here.
"""

from pathlib import Path

from csp.constants import NONE, SELF

from config import databases, environment
from config.observability.logging_settings import logging_settings
from config.postgres.embedded import EmbeddedPostgres

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = environment.folder("DOSSIER_DATA_DIR", BASE_DIR / "var")

SECRET_KEY = environment.secret("SECRET_KEY", DATA_DIR / "secrets" / "django")
SECRET_KEY_FALLBACKS = environment.words("SECRET_KEY_FALLBACKS")
DEBUG = environment.flag("DEBUG")
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS")
HTTPS = environment.flag("HTTPS")
TRUSTED_PROXIES = environment.trusted_proxies("TRUSTED_PROXIES")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "config.http",
    "config.keys",
    "teams",
    "agents",
    "memories",
    "assembly",
    "privacy",
]

MIDDLEWARE = [
    "config.http.middleware.NoStoreMiddleware",
    "config.http.middleware.RequestIDMiddleware",
    "config.observability.request_log.RequestLogMiddleware",
    "config.http.cpu_budget.CpuBudgetMiddleware",
    "config.http.client_address.TrustedProxyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.http.middleware.PageCompressionMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.http.body_size.BodyLimitMiddleware",
    "teams.sign_in.session_store.BrowserSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "teams.user_settings.TimeZoneMiddleware",
    "config.http.preserve_post.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "teams.sign_in.attempts.RefusedAttemptMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.http.late_reads.LastWriteMiddleware",
    "config.http.notes.NotesMiddleware",
    "config.http.problems.ProblemMiddleware",
    "teams.readings.recording_middleware.ReadingsMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
WEB_PROCESSES = environment.number("WEB_PROCESSES", environment.web_processes(), minimum=1, maximum=64)
WEB_THREADS = environment.number("WEB_THREADS", 16, minimum=1, maximum=500)

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
            ],
        },
    }
]

# --- Database: PostgreSQL with pgvector. The app's role may not change history; the owner's role migrates. ---

EMBEDDED_POSTGRES = None if environment.text("DATABASE_URL") else EmbeddedPostgres(DATA_DIR)
DATABASE_DIRECT = databases.direct_address(EMBEDDED_POSTGRES)
DATABASES = databases.databases(EMBEDDED_POSTGRES)
DATABASE_REPLICA_MAX_LAG_SECONDS = environment.number("DATABASE_REPLICA_MAX_LAG_SECONDS", 60, minimum=10, maximum=3_600)
DATABASE_DISTRIBUTED = environment.flag("DATABASE_DISTRIBUTED")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Keys of recorded texts: in a database apart from the data, each encrypted by the master key ---

KEY_STORE = databases.key_store(EMBEDDED_POSTGRES)
ENCRYPT_RECORDS = KEY_STORE is not None and environment.flag("ENCRYPT_RECORDS", default=True)
MASTER_KEY = environment.master_key("MASTER_KEY", DATA_DIR / "secrets" / "master") if KEY_STORE else b""
MASTER_KEY_FALLBACKS = environment.master_keys("MASTER_KEY_FALLBACKS")

# --- People and sign-in ---

AUTH_USER_MODEL = "teams.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "teams.sign_in.adapter.ClosedAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_USER_MODEL_EMAIL_FIELD = "email"
ACCOUNT_RATE_LIMITS = False  # allauth's lock out by account alone, in a cache; ours are in teams.sign_in.attempts
ACCOUNT_FORMS = {"change_password": "teams.sign_in.forms.ChangePasswordForm"}
MFA_ADAPTER = "teams.sign_in.second_factor.EncryptingMFAAdapter"
MFA_FORMS = {
    "authenticate": "teams.sign_in.forms.AuthenticateForm",
    "reauthenticate": "teams.sign_in.forms.ReauthenticateForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Dossier"

# --- E-mail: notifications, for those who want them. Without a server, none is sent. ---

EMAIL_HOST = environment.text("EMAIL_HOST")
EMAIL_PORT = environment.number("EMAIL_PORT", 587, minimum=1, maximum=65_535)
EMAIL_HOST_USER = environment.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = environment.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_SSL = environment.flag("EMAIL_USE_SSL")
EMAIL_USE_TLS = environment.flag("EMAIL_USE_TLS", default=not EMAIL_USE_SSL)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = environment.printable("DEFAULT_FROM_EMAIL", maximum=254, needed_for="EMAIL_HOST")
SITE_URL = environment.site_address("SITE_URL", needed_for="EMAIL_HOST")

SESSION_ENGINE = "teams.sign_in.session_store"
SESSION_IDLE_HOURS = environment.number("SESSION_IDLE_HOURS", 24, minimum=1, maximum=24 * 90)
SESSION_DAYS = environment.number("SESSION_DAYS", 14, minimum=1, maximum=90)
SESSION_COOKIE_AGE = SESSION_DAYS * 86_400

# --- Caches: what processes share is in Redis, or else in PostgreSQL; what is costly to make again is on the disk. ---

CACHE_URL = environment.redis_address("CACHE_URL")
SHARED_CACHE_BYTES = environment.number("SHARED_CACHE_BYTES", 64_000_000, minimum=0, maximum=10**12)
DISK_CACHE_BYTES = environment.number("DISK_CACHE_BYTES", 256_000_000, minimum=0, maximum=10**12)

PROCESS_CACHES = environment.flag("PROCESS_CACHES", default=True)
PREASSEMBLY = environment.flag("PREASSEMBLY", default=True)
PREASSEMBLY_IDLE_MS = environment.number("PREASSEMBLY_IDLE_MS", 250, minimum=0, maximum=3_600_000)
PREASSEMBLY_LOAD_PERCENT = environment.number("PREASSEMBLY_LOAD_PERCENT", 50, minimum=1, maximum=100_000)
# Nothing of ours is cached by Django: a cache of each process's own would forget and double what it should count.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}

# --- Background work: jobs are rows; a broker's messages only wake workers. Without one, PostgreSQL carries them. ---

CELERY_APP = "config.celery"
CELERY_BROKER_URL = environment.broker_address("CELERY_BROKER_URL")
JOB_PATIENCE_SECONDS = environment.number("JOB_PATIENCE_SECONDS", 30, minimum=1, maximum=3600)

# --- REST ---

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["agents.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["config.http.serializers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["config.http.serializers.FastJSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "config.http.openapi.ApiSchema",
    "EXCEPTION_HANDLER": "config.http.problems.api_problem",
    "UNAUTHENTICATED_USER": None,
    "STRICT_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Dossier",
    "DESCRIPTION": "What your agents should know, assembled to fit a token budget, with every decision on record.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none", "filter": True},
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_NAME_OVERRIDES": {
        "ErasureStateEnum": "privacy.models.erasure.ErasureState.values",
        "HoldKindEnum": "privacy.models.erasure.HoldKind.values",
        "ExpectationKindEnum": "assembly.recall_tests.expectations.EXPECTATION_KINDS",
        "AlertKindEnum": "assembly.models.monitoring.AlertKind",
        "SubjectKindEnum": "privacy.models.subject.SubjectKind.values",
        "SubjectIdentifierKindEnum": "privacy.models.subject.IdentifierKind.values",
        "SubjectMentionStatusEnum": "privacy.models.subject.MentionStatus.values",
        "SubjectMentionKindEnum": "privacy.subjects.stored_texts.THING_KIND_NAMES",
        "ConflictKindEnum": "assembly.models.conflict.ConflictKind.values",
        "ConflictStatusEnum": "assembly.models.conflict.ConflictStatus.values",
        "ParameterNameEnum": "assembly.comparison.side_by_side.PARAMETER_NAMES",
        "NotConsideredCodeEnum": "assembly.why_not.not_considered.NOT_CONSIDERED_CODES",
        "CauseKindEnum": "assembly.comparison.causes.CAUSE_KINDS",
        "RemedyKindEnum": "assembly.why_not.changes.CHANGE_KINDS",
        "DecisionCodeEnum": "assembly.engine.codes.DECISION_CODES",
        "SectionStatusEnum": "assembly.engine.types.SECTION_STATUSES",
        "SourceCodeEnum": "assembly.engine.codes.SourceCode",
        "IntentEnum": "memories.api.patterns.INTENTS",
        "LevelPreferenceEnum": "assembly.engine.types.LEVEL_PREFERENCES",
        "OriginEnum": "assembly.engine.types.ORIGINS",
        "SensitivityEnum": "teams.sensitivity.LEVEL_NAMES",
        "TaskStatusEnum": "memories.models.TaskStatus.values",
        "ThreadStatusEnum": "memories.models.ThreadStatus.values",
    },
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.http.openapi.add_conventions",
    ],
}

# --- Limits on what comes in (bytes; characters are limited by forms and serializers) ---

MAX_BODY_BYTES = environment.number("MAX_BODY_BYTES", 5_000_000, minimum=100_000, maximum=100_000_000)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = 512_000  # a larger body waits in a temporary file
MAX_CONNECTIONS = environment.number("MAX_CONNECTIONS", 2_000, minimum=50, maximum=100_000)
MAX_CONNECTIONS_PER_CLIENT = environment.number("MAX_CONNECTIONS_PER_CLIENT", 256, minimum=10, maximum=100_000)
REQUEST_CPU_MS = environment.number("REQUEST_CPU_MS", 2_300, minimum=100, maximum=600_000)

# --- Quotas: what each agent's key and each person may ask and store; 0 sets no limit ---

QUOTA_REQUESTS_UNDER_WAY = environment.number("QUOTA_REQUESTS_UNDER_WAY", 64, minimum=0, maximum=100_000)
QUOTA_REQUESTS_PER_MINUTE = environment.number("QUOTA_REQUESTS_PER_MINUTE", 6_000, minimum=0, maximum=10_000_000)
QUOTA_TEXT_BYTES_PER_DAY = environment.number("QUOTA_TEXT_BYTES_PER_DAY", 500_000_000, minimum=0, maximum=10**15)
QUOTA_RECORD_BYTES_PER_DAY = environment.number("QUOTA_RECORD_BYTES_PER_DAY", 1_000_000_000, minimum=0, maximum=10**15)

# --- Assembling ---

ASSEMBLY_TIME_MS = environment.number("ASSEMBLY_TIME_MS", 10_000, minimum=100, maximum=600_000)

# --- The log of who looked and that of administrative acts: days that entries stay ---

READINGS_DAYS = environment.number("READINGS_DAYS", 400, minimum=30, maximum=36_500)
# What is at least this sensitive is not shown where no line can be written.
READINGS_REQUIRED = environment.choice("READINGS_REQUIRED", "restricted", "confidential", "never")
ACTIVITIES_DAYS = environment.number("ACTIVITIES_DAYS", 400, minimum=30, maximum=36_500)

# --- What goes out: public addresses alone are connected to, and private networks on purpose ---

EXTERNAL_ALLOWED_NETWORKS = environment.networks("EXTERNAL_ALLOWED_NETWORKS")
# Webhooks have their own: admins of teams register them, and an answer would tell them what is in there.
WEBHOOK_ALLOWED_NETWORKS = environment.networks("WEBHOOK_ALLOWED_NETWORKS")

# --- Summaries: from the texts themselves, or by a model on any server that speaks OpenAI's chat completions ---

SUMMARISER_URL = environment.api_address("SUMMARISER_URL")
SUMMARISER_MODEL = environment.printable("SUMMARISER_MODEL", maximum=120, needed_for="SUMMARISER_URL")
SUMMARISER_API_KEY = environment.api_key("SUMMARISER_API_KEY")
SUMMARISER_TIMEOUT_MS = environment.number("SUMMARISER_TIMEOUT_MS", 2_000, minimum=100, maximum=60_000)
SUMMARISER_SENSITIVITY = environment.level("SUMMARISER_SENSITIVITY")  # the highest
SUMMARISER_CONCURRENCY = environment.number("SUMMARISER_CONCURRENCY", 8, minimum=1, maximum=100)

# --- Embeddings: which embedder is in use, the database says; `manage.py reembed` changes it ---

EMBEDDER_URL = environment.api_address("EMBEDDER_URL")
EMBEDDER_API_KEY = environment.api_key("EMBEDDER_API_KEY")
EMBEDDER_SENSITIVITY = environment.level("EMBEDDER_SENSITIVITY")  # the highest
EMBEDDER_TIMEOUT_MS = environment.number("EMBEDDER_TIMEOUT_MS", 2_000, minimum=100, maximum=60_000)
EMBEDDER_BATCH_TIMEOUT_MS = environment.number("EMBEDDER_BATCH_TIMEOUT_MS", 60_000, minimum=100, maximum=600_000)
EMBEDDER_FOLDER = environment.folder("EMBEDDER_FOLDER", DATA_DIR / "embedders")

# --- Caches in the memory of processes: texts above this level are read anew for each request ---

CACHE_SENSITIVITY = environment.level("CACHE_SENSITIVITY")  # the highest

# --- Conflicts: a language model that helps to find them, the shipped one or that of a folder ---

SHIPPED_CONFLICT_MODEL = BASE_DIR / "assembly" / "conflicts" / "language_model" / "contradiction-mpnet"
CONFLICT_MODEL_FOLDER = environment.folder_or_off("CONFLICT_MODEL_FOLDER", SHIPPED_CONFLICT_MODEL)
CONFLICT_MODEL_LABELS = environment.words("CONFLICT_MODEL_LABELS")
CONFLICT_MODEL_PERCENT = environment.number("CONFLICT_MODEL_PERCENT", 90, minimum=50, maximum=100)
CONFLICT_MODEL_THREADS = environment.number("CONFLICT_MODEL_THREADS", 1, minimum=1, maximum=64)

# --- Storage tiers: where frozen texts are, and how many bytes memories, events and documents may take ---

FROZEN_FOLDER = environment.folder("FROZEN_FOLDER", DATA_DIR / "frozen")
FROZEN_S3_BUCKET = environment.text("FROZEN_S3_BUCKET")
FROZEN_S3_ENDPOINT = environment.web_address("FROZEN_S3_ENDPOINT")
FROZEN_S3_REGION = environment.text("FROZEN_S3_REGION")
MEMORY_BUDGET_MB = environment.number("MEMORY_BUDGET_MB", 0, minimum=0, maximum=100_000_000)  # 0: no limit

# --- Pages ---

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG

# --- Security ---

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^metrics$"]  # read from this very machine, which is reached by http
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("TRUSTED_FORWARDED_PROTO", "https")  # set by TrustedProxyMiddleware, by no header
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = HTTPS
CSRF_FAILURE_VIEW = "config.http.problems.csrf_failure"
X_FRAME_OPTIONS = "DENY"

# --- Watching it: log lines, traces, metrics ---

LOGGING = logging_settings(
    environment.choice("LOG_FORMAT", "text", "json"),
    environment.choice("LOG_LEVEL", "WARNING", "INFO", "ERROR", "CRITICAL"),
)
TRACES_ENDPOINT = environment.web_address("OTEL_EXPORTER_OTLP_ENDPOINT")
TRACES_SERVICE_NAME = environment.text("OTEL_SERVICE_NAME", "dossier")
METRICS_TOKEN = environment.text("METRICS_TOKEN")
