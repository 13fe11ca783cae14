"""Many people at once on the real portal: gunicorn, PostgreSQL and HTTP.

    DATABASE_URL=postgresql://… python -m benchmarks.load [--users 50] [--seconds 60] [--think 1]
                                                          [--port 28100] [--engagements N] [--held]
    python -m benchmarks.load --redmine http://…:3000 --redmine-database postgresql://… [--held]

The database holds the world of `benchmarks.fleet` (of whatever size; filled with 1,000 engagements
where it is empty). Every user logs in with a password, then takes turns: lists, an engagement's
pages, the board, a poll of the API, and one turn in five a write (a form opened and sent).
Printed per kind of turn: how many, errors, median and p95 in milliseconds; log-ins beside them.
Exit status 1 if an answer was no answer (5xx, timeout), if p95 of reads is above 300 ms, or if an
acknowledged write is missing or doubled in the database.

With --held the crowd grows by ten, as long as p95 of all reads together stays within 300 ms and
nothing fails; printed is each size. With --redmine the same crowd takes the turns that resemble
these on a Redmine (5.0, as Debian packages it): its database, after `db:migrate` and
`redmine:load_default_data`, is filled with as many projects as engagements, 50 issues each; the
server (`puma -e production -w 2 -t 5:5`) is started by whoever measures.
"""

import argparse
import sys
import time

from benchmarks.load import portal, redmine
from benchmarks.load.crowd import Log, Site

STEP = 10


def measured(site: Site, users: int, seconds: int, think: float) -> Log:
    """What a crowd of that size met."""
    log, ends = Log(), time.monotonic() + seconds
    crowd = site.crowd(users, log, ends, think)
    for person in crowd:
        person.start()
    for person in crowd:
        person.join(seconds + 60)
    log.users = len(crowd)
    return log


def held(site: Site, most: int, seconds: int, think: float) -> int:
    """The largest crowd, in steps of ten, whose reads stay within the limit; prints each."""
    print(f"{'users':>5}{'turns':>8}{'per s':>8}{'errors':>8}{'ms':>8}{'p95':>8}")
    reached = 0
    for users in range(STEP, most + 1, STEP):
        log = measured(site, users, seconds, think)
        turns, errors, middle, p95 = log.reads()
        print(f"{log.users:>5}{turns:>8}{turns / seconds:>8.1f}{errors:>8}{middle:>8.0f}"
              f"{p95:>8.0f}", flush=True)
        if errors or p95 > site.limit_ms or log.users < users:
            break
        reached = users
    print(f"{site.name}: {reached} users held at p95 of reads within {site.limit_ms} ms")
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--users", None), ("--seconds", None), ("--port", 28100),
                          ("--engagements", None)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--think", type=float, default=1)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--redmine", metavar="ADDRESS")
    parser.add_argument("--redmine-database", metavar="URL")
    options = parser.parse_args()
    site = (redmine.Redmine(options.redmine, options.redmine_database, options.engagements)
            if options.redmine else portal.Portal(options.port, options.engagements))
    with site:
        if options.held:
            return 0 if held(site, options.users or 200, options.seconds or 30,
                             options.think) else 1
        log = measured(site, options.users or 50, options.seconds or 60, options.think)
    return 0 if log.printed(site.limit_ms) & site.kept_writes(log) else 1


if __name__ == "__main__":
    sys.exit(main())
