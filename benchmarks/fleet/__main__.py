"""A firm of many engagements: what every page and API list costs, as every role.

    DATABASE_URL=postgresql://… python -m benchmarks.fleet [--engagements 10000] [--rounds 5]
                                                           [--only TEXT] [--role ROLE] [--out FILE]
                                                           [--sql] [--no-tenth] [--fill-only]

The empty database that DATABASE_URL names is migrated and filled: the demo's engagement (run once,
with real jobs) is multiplied by INSERT … SELECT, so that 10,000 engagements have 400,000 stage
records, 500,000 jobs, a million files, two million audit entries and 3,000 people. A tenth of it
goes to SQLite in var/fleet. A world that is there already is measured again, after `migrate`.
Audit entries of copies fill their table; they are no chain that could be verified.

Printed per address: median and p95 of the answer's milliseconds, those of the processor, queries
beside those of a tenth, rows that plans read per row shown. Exit status 1 where p95 is above
100 ms, where queries grow, or where plans read more than 50 rows per row shown; a count that stops
at a limit is not held against a page.
"""

import argparse
import gc
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.fleet.template import demo_database

LIMIT_MS, LIMIT_ROWS = 100, 50
DEAREST = 40  # addresses that are printed anyway; `--out` has all of them
ROLES = ("manager", "consultant", "sales", "operator", "reviewer", "admin")
FOLDER = Path("var") / "fleet"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engagements", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="addresses whose name holds this text")
    parser.add_argument("--role", choices=ROLES, action="append")
    parser.add_argument("--out", type=Path, help="the figures as JSON")
    parser.add_argument("--fill-only", action="store_true")
    parser.add_argument("--no-tenth", action="store_true", help="queries beside nothing")
    parser.add_argument("--sql", action="store_true",
                        help="of each address at fault the statement that reads most")
    return parser.parse_args()


def prepare(count: int | None, otherwise: int = 1000) -> None:
    """Settings, tables, and a world of that size where there is none.

    Args:
        count: None for whatever is there, and `otherwise` where nothing is.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")
    os.environ.setdefault("DESK_LOG_LEVEL", "ERROR")
    key = FOLDER / "demo" / "secret-key"  # its nodes' keys are encrypted with it
    if not key.exists():
        demo_database(key.parent)
    os.environ["DESK_SECRET_KEY"] = key.read_text().strip()
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["*"]
    settings.STORAGES["staticfiles"] = {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    call_command("migrate", verbosity=0)
    from engagements.models import Engagement

    there = Engagement.objects.count()
    if count and there not in (0, count):
        sys.exit(f"The database holds {there:,} engagements, not {count:,}; name an empty one.")
    if not there:
        _fill(count or otherwise)


def _fill(count: int) -> None:
    from django.db import connections

    from benchmarks.fleet.world import World

    database = demo_database(FOLDER / "demo")
    connections.settings["template"] = {
        **connections.settings["default"], "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(database.resolve()), "OPTIONS": {}}
    World(count, lambda text: print(f"· {text}", file=sys.stderr, flush=True)).fill("template")


def measured(asked: argparse.Namespace) -> list[dict]:
    """The cost of every address, for every role."""
    from django.test import Client
    from django.test.utils import setup_test_environment

    from benchmarks.fleet.addresses import Addresses
    from benchmarks.fleet.measuring import Meter
    setup_test_environment()
    logging.disable(logging.CRITICAL)
    gc.freeze()  # as the portal does
    meter, found = Meter(asked.rounds, LIMIT_MS), []
    for role in asked.role or ROLES:
        person = _newest_of(role)
        client = Client(raise_request_exception=False)
        client.force_login(person)
        for name, url in Addresses(person).all():
            if asked.only in name:
                found.append(meter.measure(client, name, role, url).facts())
    return found


def _newest_of(role: str):
    """Whoever has the role in the newest engagement under way: its rows are whole (see
    `multiply.FULL_COPIES`); administrators are in none."""
    from engagements.models import Engagement, User

    people = User.objects.filter(username__startswith=f"{role}-")
    newest = Engagement.objects.filter(state="active").order_by("-created_at")[:10]
    return people.filter(memberships__engagement__in=list(newest)).order_by(
        "-memberships__engagement__created_at").first() or people.order_by("pk")[1]


def of_a_tenth(asked: argparse.Namespace) -> dict[tuple[str, str], int]:
    """Queries by address and role, in a world of a tenth of the size on SQLite."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    count = max(10, asked.engagements // 10)
    out = FOLDER / "tenth.json"
    more = [word for role in asked.role or () for word in ("--role", role)]
    database = FOLDER.resolve() / f"tenth-{count}.sqlite3"
    subprocess.run([sys.executable, "-m", "benchmarks.fleet", "--engagements", str(count),
                    "--rounds", "1", "--only", asked.only, "--out", str(out), "--no-tenth", *more],
                   stdout=subprocess.DEVNULL, check=False,
                   env={**os.environ, "DATABASE_URL": f"sqlite:///{database}"})
    return {(row["name"], row["role"]): row["queries"] for row in json.loads(out.read_text())}


def faults(row: dict, fewer: int | None) -> str:
    """What is wrong with an address, in letters: t(ime), q(ueries), r(ows), s(tatus)."""
    if row["status"] != 200:
        return "s" if row["status"] >= 500 else ""
    read = row["rows"] / max(25, row["shown"])
    return "".join(letter for letter, is_wrong in (
        ("t", row["p95"] > LIMIT_MS), ("q", fewer is not None and row["queries"] > fewer),
        ("r", read > LIMIT_ROWS)) if is_wrong)


def printed(rows: list[dict], tenth: dict, with_sql: bool = False) -> int:
    """Print the dearest addresses and those at fault, the dearest first; how many are at fault."""
    wrong = 0
    print(f"{'address':<52}{'role':<11}{'ms':>7}{'p95':>7}{'cpu':>7}{'queries':>8}{'tenth':>6}"
          f"{'rows':>9}{'each':>8}")
    for number, row in enumerate(sorted(rows, key=lambda row: -row["wall"])):
        fewer = tenth.get((row["name"], row["role"]))
        fault = faults(row, fewer)
        wrong += bool(fault)
        if fault or (row["status"] == 200 and number < DEAREST):
            print(f"{row['name'][:51]:<52}{row['role']:<11}{row['wall']:>7.0f}{row['p95']:>7.0f}"
                  f"{row['processor']:>7.0f}{row['queries']:>8}{fewer or '':>6}{row['rows']:>9}"
                  f"{row['rows'] / max(25, row['shown']):>8.1f}  {fault}")
        if fault and with_sql:
            print(f"    {row['worst']}")
    print(f"{len(rows)} addresses asked, {sum(row['status'] == 200 for row in rows)} shown, "
          f"{wrong} at fault")
    return wrong


def main() -> int:
    asked = options()
    if not os.environ.get("DATABASE_URL"):
        sys.exit("DATABASE_URL names no PostgreSQL database to be filled.")
    prepare(asked.engagements)
    if asked.fill_only:
        return 0
    rows = measured(asked)
    if asked.out:
        asked.out.write_text(json.dumps(rows, ensure_ascii=False))
    return 1 if printed(rows, {} if asked.no_tenth else of_a_tenth(asked), asked.sql) else 0


if __name__ == "__main__":
    sys.exit(main())
