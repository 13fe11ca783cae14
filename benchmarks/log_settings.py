"""The product's settings with one page more: the log as an event stream, to compare with."""

from delivery.settings import *  # noqa: F403
from delivery.settings import STORAGES

ROOT_URLCONF = "benchmarks.log_urls"
STORAGES = {**STORAGES, "staticfiles": {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_USE_FINDERS = True
