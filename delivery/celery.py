"""The Celery application. Tasks are `shared_task`s in the apps below."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")

os.umask(0o077)  # what is written holds customers' data
app = Celery("delivery")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
