"""Cost of the audit log: one entry at a time, and the check of all of them.

    python -m benchmarks.audit_log [--entries 100000]

On a database of its own: the one DATABASE_URL names, otherwise SQLite. Printed are processor and
clock seconds of appending (each entry tracks one row, and is written in a transaction of its
own), of walking the chain, and of comparing the rows with it. Exit status 1 if the log is not
found whole.
"""

import argparse
import sys
import time

from benchmarks.pages import prepare


def timed(what: str, entries: int, function):
    clock, own = time.perf_counter(), time.process_time()
    found = function()
    clock, own = time.perf_counter() - clock, time.process_time() - own
    print(f"{what:28} {clock:8.2f} s  {own:8.2f} s of the processor  "
          f"{1e6 * own / entries:8.0f} µs each", flush=True)
    return found


def append(entries: int) -> None:
    from django.db import transaction

    from engagements.audit import audit_log
    from engagements.models import ChecklistItem, Customer, Engagement, User
    from engagements.services import add_model

    manager = User.objects.create_user("m", role="manager", is_superuser=True)
    engagement = Engagement.objects.create(code="AUDIT", name="x",
                                           customer=Customer.objects.create(name="y"))
    model = add_model(actor=manager, engagement=engagement, code="M", name="z")
    items = list(ChecklistItem.objects.filter(record__model=model))
    for n in range(entries):
        item = items[n % len(items)]
        with transaction.atomic():
            item.evidence = f"#{n}"
            item.save()
            audit_log.record(actor=manager, action="checklist.tick", target=item,
                             engagement=engagement, data={"evidence": item.evidence})


def without_migrations() -> None:
    """Tables made of the models: quicker, and the same."""
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")
    from django.conf import settings

    settings.MIGRATION_MODULES = {name.split(".")[-1]: None for name in settings.INSTALLED_APPS}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=100_000)
    entries = parser.parse_args().entries
    without_migrations()
    prepare()
    from engagements.audit import audit_log

    timed("append", entries, lambda: append(entries))
    broken = timed("walk the chain", entries, lambda: list(audit_log.findings()))
    wrong = timed("compare rows", entries, lambda: list(audit_log.row_differences()))
    print(len(broken), "findings,", len(wrong), "rows differ")
    return 1 if broken or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
