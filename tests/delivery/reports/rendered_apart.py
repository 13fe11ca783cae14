"""A program that renders snapshots in a process of its own, on a day of its own.

    python rendered_apart.py SNAPSHOTS.json DAYS FOLDER

Reads a list of snapshots, moves the clock by DAYS, and prints "kind language format sha256" for
every file of each. FOLDER is for what the process keeps (figures).
"""

import datetime
import hashlib
import json
import os
import sys
import time
from pathlib import Path


def move_clock(days: float) -> None:
    """Every way in which Python code asks for the time tells another one."""
    seconds, real = days * 86400, time.time
    time.time = lambda: real() + seconds
    time.time_ns = lambda: int(time.time() * 1e9)
    for name in ("gmtime", "localtime"):
        asked = getattr(time, name)
        setattr(time, name, lambda at=None, asked=asked: asked(time.time() if at is None else at))

    class Moved(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls):
            return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

        today = now

    datetime.datetime = Moved


def main(snapshots: str, days: str, folder: str) -> None:
    move_clock(float(days))
    os.environ |= {"DJANGO_SETTINGS_MODULE": "delivery.settings", "DESK_VAR_DIR": folder,
                   "DESK_ARTIFACT_DIR": folder, "DESK_PRESS": "false",
                   "DESK_PUBLIC_URL": f"http://somewhere-{days}.example"}
    import django

    django.setup()
    from delivery.reports import registry
    from delivery.reports.bilingual import LANGUAGES
    from delivery.reports.rendering import render_document

    for facts in json.loads(Path(snapshots).read_text("utf-8")):
        writers = {"pdf": render_document, **registry.get(facts["kind"]).writers}
        for language in LANGUAGES:
            for form, write in writers.items():
                digest = hashlib.sha256(write(facts, language)).hexdigest()
                print(facts["kind"], language, form, digest)


if __name__ == "__main__":
    main(*sys.argv[1:])
