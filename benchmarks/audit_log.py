"""Cost of the audit log: one entry at a time, and the check of all of them.

    python -m benchmarks.audit_log [--entries 100000] [--writers 8] [--archived 1000000]

On a database of its own: the one DATABASE_URL names, otherwise SQLite. Printed are processor and
clock seconds of appending (each entry tracks one row, and is written in a transaction of its
own), of walking the chain, and of comparing the rows with it; and on PostgreSQL what so many
writers at once append in twenty seconds, each to rows of his own: all of them want the chain's
end. With `--archived` so many older entries are written in bulk first, their hashes and seals with
them; printed are moving them into files, appending behind them, and checking files and table as
one log, with the most memory that the process has taken until then. Exit status 1 if the log is
not found whole, or if the writers append fewer than 200 a second.
"""

import argparse
import resource
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from benchmarks.pages import prepare

LEAST_PER_SECOND, SECONDS = 200, 20
AT_ONCE = 2000  # entries written in bulk


def timed(what: str, entries: int, function):
    clock, own = time.perf_counter(), time.process_time()
    found = function()
    clock, own = time.perf_counter() - clock, time.process_time() - own
    print(f"{what:28} {clock:8.2f} s  {own:8.2f} s of the processor  "
          f"{1e6 * own / entries:8.0f} µs each  {most_mb():6.0f} MB at most", flush=True)
    return found


def most_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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


def fill(entries: int) -> None:
    """Append entries of the last year in bulk, each as `audit_log.record` would have written it."""
    from engagements.audit import audit_log
    from engagements.models import AuditChain, AuditEntry, Engagement

    begins = datetime.now(UTC) - timedelta(days=400)
    with patch.object(audit_log.timezone, "now", return_value=begins):
        work = Work("ARCHIVED")
        Engagement.objects.filter(pk=work.engagement.pk).update(state=Engagement.State.CLOSED)
    chain, batch, step = AuditChain.objects.get(), [], timedelta(days=330) / entries
    for n in range(entries):
        item = work.items[n % len(work.items)]
        chain.number += 1
        entry = AuditEntry(
            pk=chain.number, at=begins + n * step, actor=work.manager, action="checklist.tick",
            target_type="engagements.checklistitem", target_id=str(item.pk), target_label=str(item),
            engagement=work.engagement, data={"evidence": f"#{n}"}, previous_hash=chain.head)
        entry.entry_hash = chain.head = audit_log.entry_hash(entry)
        entry.seal = chain.seal = audit_log.entry_seal(chain.seal, entry.entry_hash)
        batch.append(entry)
        if len(batch) == AT_ONCE or n == entries - 1:
            AuditEntry.objects.bulk_create(batch)
            batch.clear()
    audit_log.seal_end(chain)
    chain.save()


def archive() -> None:
    """Move what `fill` wrote into files."""
    from django.utils import timezone

    from delivery.operation.audit_archiving import archive_old

    files = list(archive_old(now=timezone.now(), days=31))
    count = sum(file.last_number - file.first_number + 1 for file in files)
    megabytes = sum(file.size for file in files) / 2**20
    print(f"{count} entries in {len(files)} files, {megabytes:.1f} MB", flush=True)


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
    parser.add_argument("--archived", type=int, default=0)
    options = parser.parse_args()
    without_migrations()
    prepare()
    from django.conf import settings

    with tempfile.TemporaryDirectory(prefix="audit-archives-") as folder:
        settings.MEDIA_ROOT = folder  # the files are no installation's
        return measure(options.entries, options.archived, options.writers)


def measure(entries: int, archived: int, writers: int) -> int:
    """Exit status."""
    from django.db import connection

    from engagements.audit import audit_log

    if archived:
        timed("fill in bulk", archived, lambda: fill(archived))
        timed("archive", archived, archive)
    timed("append", entries, lambda: append(entries))
    is_slow = connection.vendor == "postgresql" and together(writers) < LEAST_PER_SECOND
    broken = timed("walk the chain", entries + archived, lambda: list(audit_log.findings()))
    wrong = timed("compare rows", entries + archived, lambda: list(audit_log.row_differences()))
    print(len(broken), "findings,", len(wrong), "rows differ")
    return 1 if broken or wrong or is_slow else 0


if __name__ == "__main__":
    sys.exit(main())
