"""gunicorn's settings in units, image and compose file; what the command line says comes first."""

import os
import tempfile

# Before anything counts: several processes add up their figures there, each start anew.
os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", tempfile.mkdtemp(prefix="desk-figures-"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")

from django.conf import settings

wsgi_app = "delivery.wsgi:application"
bind = settings.WEB_BIND
worker_class = "gthread"
worker_tmp_dir = "/dev/shm"  # a heartbeat file, which must not wait for a disk
workers, threads = settings.WEB_WORKERS, settings.WEB_THREADS
keepalive = settings.WEB_KEEP_ALIVE
timeout = 120


def child_exit(_server, worker) -> None:
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)
