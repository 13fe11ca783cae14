"""Cost of the audit log: one entry at a time, and the check of all of them.

    python -m benchmarks.audit_log [--entries 100000] [--writers 8]

On a database of its own: the one DATABASE_URL names, otherwise SQLite. Printed are processor and
clock seconds of appending (each entry tracks one row, and is written in a transaction of its
own), of walking the chain, and of comparing the rows with it; and on PostgreSQL what so many
writers at once append in twenty seconds, each to rows of his own: all of them want the chain's
end. Exit status 1 if the log is not found whole, or if the writers append fewer than 200 a second.
"""

import argparse
import sys
import threading
import time

from benchmarks.pages import prepare

LEAST_PER_SECOND, SECONDS = 200, 20


def timed(what: str, entries: int, function):
    clock, own = time.perf_counter(), time.process_time()
    found = function()
    clock, own = time.perf_counter() - clock, time.process_time() - own
    print(f"{what:28} {clock:8.2f} s  {own:8.2f} s of the processor  "
          f"{1e6 * own / entries:8.0f} µs each", flush=True)
    return found


def append(entries: int, code: str = "AUDIT") -> None:
    work = Work(code)
    for n in range(entries):
        work.write(n)


class Work:
    """An engagement with a model, whose checklist is written in."""

    def __init__(self, code: str) -> None:
        from engagements.models import ChecklistItem, Customer, Engagement, User
        from engagements.services import add_model

        self.manager = User.objects.create_user(code, role="manager", is_superuser=True)
        self.engagement = Engagement.objects.create(
            code=code, name="x", customer=Customer.objects.create(name=code))
        model = add_model(actor=self.manager, engagement=self.engagement, code="M", name="z")
        self.items = list(ChecklistItem.objects.filter(record__model=model))

    def write(self, n: int) -> None:
        from django.db import transaction

        from engagements.audit import audit_log

        item = self.items[n % len(self.items)]
        with transaction.atomic():
            item.evidence = f"#{n}"
            item.save()
            audit_log.record(actor=self.manager, action="checklist.tick", target=item,
                             engagement=self.engagement, data={"evidence": item.evidence})


def together(writers: int) -> float:
    """Entries per second that so many writers append at once."""
    from django.db import connection

    works, times = [Work(f"W{n}") for n in range(writers)], []
    ends = time.monotonic() + SECONDS

    def run(work: Work) -> None:
        n = 0
        try:
            while (begun := time.monotonic()) < ends:
                work.write(n)
                times.append(time.monotonic() - begun)
                n += 1
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate, ordered = len(times) / SECONDS, sorted(times)
    print(f"{writers} writers at once: {rate:.0f} entries a second, "
          f"{1000 * ordered[len(ordered) // 2]:.0f} ms each, p95 "
          f"{1000 * ordered[round(0.95 * (len(ordered) - 1))]:.0f} ms", flush=True)
    return rate


def without_migrations() -> None:
    """Tables made of the models: quicker, and the same."""
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")
    from django.conf import settings

    settings.MIGRATION_MODULES = {name.split(".")[-1]: None for name in settings.INSTALLED_APPS}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--writers", type=int, default=8)
    options = parser.parse_args()
    entries = options.entries
    without_migrations()
    prepare()
    from django.db import connection

    from engagements.audit import audit_log

    timed("append", entries, lambda: append(entries))
    is_slow = connection.vendor == "postgresql" and together(options.writers) < LEAST_PER_SECOND
    broken = timed("walk the chain", entries, lambda: list(audit_log.findings()))
    wrong = timed("compare rows", entries, lambda: list(audit_log.row_differences()))
    print(len(broken), "findings,", len(wrong), "rows differ")
    return 1 if broken or wrong or is_slow else 0


if __name__ == "__main__":
    sys.exit(main())
