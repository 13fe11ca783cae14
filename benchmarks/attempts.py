"""Attempts to make a figure look better: is any of them neither refused nor told?

    python -m benchmarks.attempts [--attempts 1000] [--seed 1] [--first 1] [--seconds S]
        [--processes 1] [--world FOLDER]

A run has failed its criterion. Somebody crops its log, chooses another run, replaces the file or
what rests on it, repeats the baseline as if it were a run, deletes the failed run, or dates things
back: through the application as a consultant, or by SQL and on the disk without the audit key. An
attempt is *refused* by the application, gets *no pass*, is *told* (the failed run stands beside the
one that is judged, wherever runs are listed), or *found* by `verify --audit`. Each kind stands in
docs/security.md. Each attempt is drawn by its number, made in one world and rolled back: what
`--seconds` left out is made by a second run that begins with `--first`. Several processes share the
numbers, each in a copy of the world, which `--world` keeps for later runs. Exit status 1 where an
attempt is none of these. `benchmarks.tamper` does the same to evidence bundles.
"""

import argparse
import contextlib
import gzip
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

REFUSED, NO_PASS, TOLD, FOUND, UNNOTICED = "refused", "no pass", "told", "found", "unnoticed"
SPOILT = 30  # of a hundred points, at the beginning


@dataclass
class World:
    """A criterion whose newest verdict is `failed`, the run behind it, and who works there."""

    people: dict[str, Any]
    engagement: Any
    criterion: Any
    job: Any
    artifact: Any


def spoilt_log(by: float = 1.2) -> bytes:
    """Of a run whose first part is off, so that leaving it out would make the figure pass."""
    from tests.delivery.conftest import loss_log

    head, *rows = loss_log(scale=1.004).decode().split()
    return "\n".join([head, *(_times(row, by) for row in rows[:SPOILT]), *rows[SPOILT:]]).encode()


def _times(row: str, by: float) -> str:
    step, loss = row.split(",")
    return f"{step},{float(loss) * by:.6f}"


def world(people: dict, engagement) -> World:
    """The engagement of the tests, with a failed run after the one that passed."""
    from assessments.models import Criterion
    from delivery.operation import audit_heads
    from tests.delivery.conftest import deliver, measure, stored
    from workers.models import Job

    deliver(engagement, people)
    criterion = Criterion.objects.get(definition__code="loss_mean_relative_error",
                                      model__code="LLM")
    measure(engagement, people, criterion.model)
    before = Job.objects.filter(state="succeeded").latest("pk")
    day = timedelta(days=1)
    job = Job.objects.create(**{name: getattr(before, name) for name in (
        "kind", "engagement", "model", "stage", "node", "cards_wanted", "state", "created_by",
        "exit_status", "command")},
        started_at=before.started_at + day, finished_at=before.finished_at + day)
    job.leases.create(node=job.node, card_index=0, fence=2, taken_at=job.started_at,
                      released_at=job.finished_at)
    artifact = stored(engagement, criterion.model, "train_npu_2.csv", spoilt_log(), job=job)
    made = World(people, engagement, criterion, job, artifact)
    if judged(made, artifact) != "failed":
        raise AssertionError("the run that is to be embellished has not failed")
    from django.utils import timezone

    audit_heads.publish_head(now=timezone.now())
    return made


def judged(here: World, artifact) -> str:
    """The outcome of the criterion once the file is a measurement of its model."""
    from assessments.models import Verdict
    from assessments.services.measurements import measure_file

    measure_file(actor=here.people["consultant"], model=here.criterion.model, artifact=artifact)
    return Verdict.objects.filter(criterion=here.criterion).latest("pk").outcome


# Through the application ----------------------------------------------------------------

def uploaded(here: World, name: str, content: bytes) -> str:
    """Upload a file as a run, have it judged, and see whether the failed one is told beside it."""
    from assessments.models import Verdict
    from assessments.verdicts.runs import all_runs
    from engagements.errors import DeskError
    from tests.delivery.conftest import stored

    try:
        outcome = judged(here, stored(here.engagement, here.criterion.model, name, content,
                                      uploaded_by=here.people["consultant"]))
    except DeskError:
        return REFUSED
    if outcome != "passed":
        return NO_PASS
    runs = all_runs(here.criterion, Verdict.objects.filter(criterion=here.criterion).latest("pk"))
    is_told = any(run.artifact == here.artifact
                  for run in runs)
    return TOLD if is_told else UNNOTICED


def crop(here: World, chance: random.Random) -> str:
    head, *rows = spoilt_log().decode().split()
    kept = rows[chance.randrange(1, SPOILT + 20):]
    return uploaded(here, "train_npu_2.csv", "\n".join([head, *kept]).encode())


def choose(here: World, chance: random.Random) -> str:
    from tests.delivery.conftest import loss_log

    return uploaded(here, "train_again.csv", loss_log(scale=1 + chance.uniform(0, 0.018)))


def replace_file(here: World, chance: random.Random) -> str:
    """The same name, other numbers."""
    return uploaded(here, here.artifact.name, spoilt_log(by=1 + chance.uniform(0, 0.01)))


def repeat_baseline(here: World, chance: random.Random) -> str:
    """The reference run as if it were one of the target, unchanged or under another name."""
    with here.criterion.baseline.artifact.file.open("rb") as stream:
        content = stream.read()
    return uploaded(here, f"npu_{chance.randrange(1000)}.csv", content)


def repeat_runs(here: World, chance: random.Random) -> str:
    """Run after run until one passes; those before it have to stand beside it."""
    from assessments.verdicts.runs import all_runs
    from tests.delivery.conftest import loss_log

    tries = [f"try_{n}.csv" for n in range(chance.randrange(1, 4))]
    for n, name in enumerate(tries):
        uploaded(here, name, loss_log(scale=1.03 + n / 100 + chance.uniform(0, 0.005)))
    result = choose(here, chance)
    names = {run.artifact.name for run in all_runs(here.criterion, here.criterion.verdicts.first())
             if run.artifact}
    return result if names.issuperset(tries) else UNNOTICED


def store_again(here: World, chance: random.Random) -> str:
    """The older run that passed, packed or not, as if it were the newest."""
    from workers.models import Artifact

    older = Artifact.objects.filter(
        engagement=here.engagement, name="train_npu.csv").earliest("pk")
    with older.file.open("rb") as stream:
        content = stream.read()
    name = f"newest_{chance.randrange(1000)}"
    return uploaded(here, f"{name}.csv.gz", gzip.compress(content)) if chance.random() < 0.5 else (
        uploaded(here, f"{name}.csv", content))


def threshold_after_run(here: World, chance: random.Random) -> str:
    """A looser threshold, signed by both sides once the run has failed."""
    from decimal import Decimal

    from assessments import services
    from engagements.errors import DeskError
    from tests.delivery.conftest import sign_for_both

    manager, old = here.people["manager"], here.criterion
    try:
        draft = services.draft_criteria(actor=manager, engagement=here.engagement)
        services.remove_criterion(actor=manager, criterion=draft.criteria.get(
            model=old.model, definition=old.definition))
        row = services.add_criterion(
            actor=manager, criteria_set=draft, model=old.model, definition=old.definition,
            stage=old.stage, baseline=old.baseline, threshold_unit="fraction",
            threshold=Decimal(f"{chance.uniform(0.3, 0.9):.3f}"))
        sign_for_both(here.people, draft)
        row.refresh_from_db()
        return UNNOTICED if services.judge_criterion(row).outcome == "passed" else NO_PASS
    except DeskError:
        return REFUSED


def delete_by_api(here: World, chance: random.Random) -> str:
    from tests.delivery.conftest import api_client

    path = chance.choice([f"jobs/{here.job.pk}", f"artifacts/{here.artifact.pk}",
                          f"criteria/{here.criterion.pk}"])
    role = chance.choice(["consultant", "manager", "administrator"])
    answer = api_client(here.people[role]).delete(f"/api/v1/{path}/")
    return REFUSED if answer.status_code >= 400 else UNNOTICED


# By SQL and on the disk, without the key ------------------------------------------------

def verified(*, reads_files: bool = False) -> str:
    """Whether `verify --audit` finds something, or names a number that is missing."""
    from delivery.evidence.verification.audit_verification import verify_audit_log

    return FOUND if any(
        not step.is_good or "neither a row nor the log" in step.text
        for step in verify_audit_log([], reads_files=reads_files)) else UNNOTICED


def sql(statement: str, *values) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def edit_verdict(here: World, chance: random.Random) -> str:
    sql(f"UPDATE assessments_verdict SET {chance.choice(['outcome', 'reason'])} = %s "
        "WHERE id = (SELECT MAX(id) FROM assessments_verdict)", "passed")
    return verified()


def edit_threshold(here: World, chance: random.Random) -> str:
    sql("UPDATE assessments_criterion SET threshold = %s WHERE id = %s",
        f"{chance.uniform(0.03, 0.9):.6f}", here.criterion.pk)
    return verified()


def edit_file_on_disk(here: World, chance: random.Random) -> str:
    path = Path(here.artifact.file.path)
    before, mode = path.read_bytes(), path.stat().st_mode
    path.chmod(0o600)
    try:
        path.write_bytes(spoilt_log(by=1 + chance.uniform(0, 0.1)))
        return verified(reads_files=True)
    finally:
        path.write_bytes(before)
        path.chmod(mode)


def date_back(here: World, chance: random.Random) -> str:
    table, column, key = chance.choice([
        ("workers_job", "finished_at", here.job.pk), ("workers_job", "started_at", here.job.pk),
        ("workers_job", "created_at", here.job.pk),
        ("workers_artifact", "created_at", here.artifact.pk),
        ("assessments_criteriaset", "signed_at", here.criterion.criteria_set_id),
        ("assessments_baseline", "frozen_at", here.criterion.baseline_id),
        ("workers_cardlease", "released_at", here.job.leases.first().pk)])
    from django.utils import timezone

    sql(f"UPDATE {table} SET {column} = %s WHERE id = %s",
        timezone.now() - timedelta(days=chance.randrange(1, 900)), key)
    return verified()


def date_entry_back(here: World, chance: random.Random) -> str:
    from engagements.models import AuditEntry

    entry = chance.choice(AuditEntry.objects.only("pk", "at"))
    sql("UPDATE engagements_auditentry SET at = %s WHERE id = %s",
        entry.at - timedelta(seconds=chance.randrange(1, 10**7)), entry.pk)
    return verified()


def _delete_run(here: World) -> None:
    """The failed run with what hangs on it."""
    sql("PRAGMA defer_foreign_keys = ON")
    sql("DELETE FROM assessments_verdict WHERE measurement_id IN "
        "(SELECT id FROM assessments_measurement WHERE artifact_id = %s)", here.artifact.pk)
    for table in ("assessments_measurement", "workers_storedreading"):
        sql(f"DELETE FROM {table} WHERE artifact_id = %s", here.artifact.pk)
    sql("DELETE FROM workers_artifact WHERE id = %s", here.artifact.pk)


def delete_run(here: World, chance: random.Random) -> str:
    _delete_run(here)
    return verified()


def _cut(number: int) -> None:
    """The log as it was at that entry, whose seal goes into the chain's row."""
    sql("DELETE FROM engagements_auditentry WHERE id > %s", number)
    sql("UPDATE engagements_auditchain SET number = %s, "
        "head = (SELECT entry_hash FROM engagements_auditentry WHERE id = %s), "
        "seal = (SELECT seal FROM engagements_auditentry WHERE id = %s)", number, number, number)


def delete_run_and_entries(here: World, chance: random.Random) -> str:
    """The run, and the log from some entry on."""
    from engagements.models import AuditChain

    newest = AuditChain.objects.get().number
    _delete_run(here)
    _cut(chance.randrange(2, newest))
    return verified()


def older_state(here: World, chance: random.Random) -> str:
    """The log of then with the end's seal of then; the machine's own record is gone as well."""
    from engagements.audit import audit_log, checkpoint, published_heads
    from engagements.models import AuditChain

    head = next(published_heads.stored())
    seen = checkpoint.stored()
    _cut(chance.randrange(2, head.number))
    chain = AuditChain.objects.get()
    audit_log.seal_end(chain)  # as it was kept from then: nobody makes it without the key
    chain.save()
    checkpoint.begin_anew(None)
    try:
        return verified()
    finally:
        checkpoint.begin_anew(seen)


# Weight, attempt, and the results that count as noticed.
KINDS: dict[str, tuple[int, Callable[[World, random.Random], str]]] = {
    "crop the log": (15, crop),
    "choose another run": (15, choose),
    "repeat until a run passes": (8, repeat_runs),
    "store an old run again as the newest": (6, store_again),
    "set threshold, baseline or definition after the run": (6, threshold_after_run),
    "replace the file under its name": (10, replace_file),
    "repeat the baseline as a run": (10, repeat_baseline),
    "delete by the API": (10, delete_by_api),
    "replace a verdict by SQL": (5, edit_verdict),
    "replace a threshold by SQL": (5, edit_threshold),
    "replace a file on the disk": (3, edit_file_on_disk),
    "back-date a row by SQL": (10, date_back),
    "back-date a log entry by SQL": (5, date_entry_back),
    "delete a run by SQL": (5, delete_run),
    "delete a run and the log behind it": (4, delete_run_and_entries),
    "bring an older state back": (3, older_state),
}


def attempt(here: World, kind: str, chance: random.Random) -> str:
    """Make one attempt and take it back; how it was noticed, or UNNOTICED."""
    from django.db import transaction

    with transaction.atomic():
        result = KINDS[kind][1](here, chance)
        transaction.set_rollback(True)
    return result


def run(here: World, numbers: range, seed: int, seconds: float) -> list[tuple[str, str]]:
    """Kind and result of each attempt that was begun in time."""
    results, until = [], time.monotonic() + seconds
    weights = [weight for weight, _attempt in KINDS.values()]
    for number in numbers:
        if time.monotonic() > until:
            break
        chance = random.Random(f"{seed}/{number}")
        [kind] = chance.choices(list(KINDS), weights)
        results.append((kind, attempt(here, kind, chance)))
        print(number, *results[-1], file=sys.stderr, flush=True)
    return results


def shown(results: list[tuple[str, str]]) -> None:
    columns, found = (REFUSED, NO_PASS, TOLD, FOUND, UNNOTICED), Counter(results)
    print(f"{'':<54}" + "".join(f"{name:>11}" for name in columns))
    for kind in KINDS:
        print(f"{kind:<54}" + "".join(f"{found[kind, name]:>11}" for name in columns))


def new_world() -> World:
    from engagements.models import Customer, Engagement, Membership, Role, User

    people = {role: User.objects.create_user(role, role=role, email=f"{role}@firm.example")
              for role in Role.values}
    engagement = Engagement.objects.create(
        code="BENCH", name="模型迁移", customer=Customer.objects.create(name="客户"))
    for user in people.values():
        Membership.objects.create(engagement=engagement, user=user, role=user.role)
    return world(people, engagement)


def stored_world() -> World:
    """The world that another process has made."""
    from assessments.models import Criterion
    from engagements.models import Engagement, User
    from workers.models import Artifact

    engagement = Engagement.objects.get(code="BENCH")
    artifact = Artifact.objects.filter(engagement=engagement, name="train_npu_2.csv").latest("pk")
    criterion = Criterion.objects.get(definition__code="loss_mean_relative_error",
                                      model__code="LLM")
    return World({user.role: user for user in User.objects.all()}, engagement, criterion,
                 artifact.job, artifact)


def prepare(folder: Path) -> World:
    """Settings for the folder, and the world in it, which is made where there is none."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "delivery.settings", "DESK_VAR_DIR": str(folder),
        "DESK_ARTIFACT_DIR": f"{folder}/artifacts", "REDIS_URL": "",
        "DATABASE_URL": f"sqlite:///{folder}/desk.sqlite3",
        "DESK_EMAIL_BACKEND": "django.core.mail.backends.locmem.EmailBackend",
        "DESK_READ_PROCESS": "false"}  # our own files: nobody has to be guarded from them
    import django

    django.setup()
    logging.disable()
    if (folder / "made").exists():
        return stored_world()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    here = new_world()
    (folder / "made").touch()
    return here


def in_processes(folder: Path, count: int, given: list[str]) -> list[tuple[str, str]]:
    """The results of processes that each take a share of the numbers in a copy of the world."""
    with tempfile.TemporaryDirectory(prefix="attempts-") as copies:
        started = []
        for share in range(count):
            copy = shutil.copytree(folder, Path(copies, str(share)))
            started.append(subprocess.Popen(
                [sys.executable, "-m", "benchmarks.attempts", *given, "--world", str(copy),
                 "--share", f"{share}/{count}"], stdout=subprocess.PIPE, text=True))
        found = [json.loads(process.communicate()[0].splitlines()[-1]) for process in started]
    return [(kind, result) for share in found for kind, result in share]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first attempt")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which none begins")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--world", type=Path, help="folder of an earlier run, or for later ones")
    parser.add_argument("--share", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = options.world or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        here = prepare(folder)
        numbers = range(options.first, options.attempts + 1)
        if options.share:
            share, count = map(int, options.share.split("/"))
            print(json.dumps(run(here, numbers[share::count], options.seed, options.seconds)))
            return 0
        given = [f"--{name}={getattr(options, name)}"
                 for name in ("attempts", "seed", "first", "seconds")]
        results = in_processes(folder, options.processes, given)
    shown(results)
    unnoticed = sum(result == UNNOTICED for _kind, result in results)
    print(f"{len(results)} of {len(numbers)} attempts made, {unnoticed} unnoticed, "
          f"{time.monotonic() - begun:.0f} s")
    return int(unnoticed > 0)


if __name__ == "__main__":
    sys.exit(main())
