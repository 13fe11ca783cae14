"""A test report of 60 pages with 40 figures: against the bare PDF library, and beside pages.

    python -m benchmarks.report [--figures 40] [--rounds 2]

The report is drafted from an engagement of 20 models with two judged loss curves each. Printed
are the medians of setting one language, by the clock and of the processor: by WeasyPrint alone
from the finished HTML, and by an order as the worker fills it (facts to HTML, figures, setting,
storing), with figures that are kept – as issuing finds them, since a draft's are drawn when it is
saved – and with none kept; all in one process apart, rounds alternate. Further what drawing a
draft's figures ahead takes, in both languages. Then how long the list of documents takes to be
answered in the process that orders: alone, while the report is set in that process, and while it
is set apart. Exit status 1 where an order takes the processor longer than 1.3 times WeasyPrint
alone, where the page's median beside it is more than three times that without it, or where the
report has fewer than 60 pages.
"""

import argparse
import io
import os
import shutil
import sys
import tempfile
import threading
import time
from decimal import Decimal
from pathlib import Path
from statistics import median, quantiles

MOST_TIMES, MOST_LATE_TIMES, LEAST_PAGES = 1.3, 3, 60
PAUSE_SECONDS = 0.02


def prepare() -> None:
    """Settings, a database and a folder of files of its own."""
    folder = tempfile.mkdtemp(prefix="bench-report-")
    os.environ |= {"DJANGO_SETTINGS_MODULE": "delivery.settings", "DESK_VAR_DIR": folder,
                   "DESK_ARTIFACT_DIR": f"{folder}/artifacts",
                   "DATABASE_URL": f"sqlite:///{folder}/desk.sqlite3", "REDIS_URL": ""}
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def report(figures: int):
    """A test report, drafted from an engagement with so many judged curves, being issued."""
    from delivery.reports.services import draft_test_report
    from delivery.reports.services.render_jobs import queue_render_jobs
    from engagements.models import Customer, Engagement, Membership, Role, User

    people = {role: User.objects.create_user(role, role=role) for role in Role.values}
    engagement = Engagement.objects.create(
        code="BENCH", name="模型迁移", name_en="Migration", contract_number="HT-1",
        customer=Customer.objects.create(name="客户", name_en="Customer"))
    for user in people.values():
        Membership.objects.create(engagement=engagement, user=user, role=user.role)
    judged(engagement, people, -(-figures // 2))
    document = draft_test_report(actor=people[Role.MANAGER], engagement=engagement)
    queue_render_jobs(document, ("pdf",))
    return document


def judged(engagement, people: dict, models: int) -> None:
    """So many trained models, each with two criteria on its own loss curve, all measured."""
    from assessments import services as assessing
    from assessments.models import MetricDefinition
    from engagements.models import Role
    from engagements.services import add_model
    from tests.delivery.conftest import GPU, measure, sign_for_both, three_runs

    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    assessing.load_standard_definitions()
    draft = assessing.draft_criteria(actor=manager, engagement=engagement)
    made = []
    for n in range(models):
        model = add_model(actor=manager, engagement=engagement, code=f"M{n:02}", name=f"模型 {n}",
                          name_en=f"Model {n}", framework="PyTorch 2.1.0")
        artifact, *repeats = three_runs(engagement, model, f"gpu/baseline-{n}.csv", seed=n,
                                        uploaded_by=consultant)
        baseline = assessing.record_baseline(
            actor=consultant, model=model, quantity="loss_curve", artifact=artifact,
            environment=GPU, source="GPU cluster", repeats=repeats)
        for code in ("loss_mean_relative_error", "loss_every_step"):
            assessing.add_criterion(
                actor=manager, criteria_set=draft, model=model, stage="train_tune",
                definition=MetricDefinition.objects.get(code=code, version=1),
                threshold=Decimal("0.02"), baseline=baseline)
        made.append(model)
    sign_for_both(people, draft)
    for n, model in enumerate(made):
        measure(engagement, people, model, scale=1 + n / 10_000)


def forget_files(document) -> None:
    document.files.all().delete()
    document.render_jobs.update(state="pending", attempts=0, claim_token="", claimed_until=None)


def timed(call) -> tuple[float, float]:
    """Seconds by the clock, and those of the processor in this process and the one apart."""
    begun = time.perf_counter(), processor()
    call()
    return time.perf_counter() - begun[0], processor() - begun[1]


def processor() -> float:
    """Seconds of the processor so far (utime and stime of proc(5), fields 14 and 15)."""
    from delivery.documents import render_process

    found = time.process_time()
    for pid in (render_process._pool._processes if render_process._pool else {}):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        found += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def bare_html(document) -> str:
    """The finished HTML of the report in English."""
    from delivery.documents import pdf
    from delivery.reports import rendering

    kept = []
    pdf.run_in_child = lambda _function, html: kept.append(html) or b""
    rendering.render_document(document.snapshot, "en")
    from delivery.documents.render_process import run_in_child

    pdf.run_in_child = run_in_child
    return kept[0]


def bare(html: str) -> bytes:
    """The library's own work, called in the process apart."""
    import weasyprint

    from delivery.documents.pdf import ARCHIVAL

    return weasyprint.HTML(string=html).write_pdf(pdf_variant=ARCHIVAL)


def page_times(client, work) -> tuple[float, float, float]:
    """(median, 95th percentile, worst) in ms of a page asked for while `work()` runs apart."""
    took, thread = [], threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        begun = time.perf_counter()
        assert client.get("/documents/").status_code == 200
        took.append(1000 * (time.perf_counter() - begun))
        time.sleep(PAUSE_SECONDS)
    thread.join()
    return median(took), quantiles(took, n=20)[-1], max(took)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--figures", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    prepare()
    try:
        return measure(report(options.figures), options.rounds)
    finally:
        shutil.rmtree(os.environ["DESK_VAR_DIR"], ignore_errors=True)


def measure(document, rounds: int) -> int:
    import pypdf
    from django.conf import settings

    from delivery.documents.render_process import run_in_child
    from delivery.reports.services import draw_pictures, take_render_job

    order = document.render_jobs.get(language="en")
    html = bare_html(document)
    pages = len(pypdf.PdfReader(io.BytesIO(run_in_child(bare, html))).pages)  # warms the process up
    take_render_job(order.pk)
    figures = Path(settings.MEDIA_ROOT, "figures")
    kept = sum(1 for path in figures.rglob("*.svg"))
    alone, first, ahead, again = [], [], [], []
    for _round in range(rounds):
        alone.append(timed(lambda: run_in_child(bare, html)))
        forget_files(document)
        shutil.rmtree(figures)
        first.append(timed(lambda: take_render_job(order.pk)))
        forget_files(document)
        shutil.rmtree(figures)
        ahead.append(timed(lambda: draw_pictures(document.pk)))
        again.append(timed(lambda: take_render_job(order.pk)))
    size = document.files.get(language="en").size
    print(f"{pages} pages, {html.count('<figure')} figures, {kept} of them different, "
          f"{size // 1024} KiB")
    base = [median(column) for column in zip(*alone, strict=True)]
    worst = max(print_times("WeasyPrint alone", alone, base), print_times("order, figures kept",
                                                                          again, base),
                print_times("order, none kept", first, base))
    print_times("figures ahead, nobody waits", ahead, base)
    late = beside(document, order.pk)
    return int(worst > MOST_TIMES or late > MOST_LATE_TIMES or pages < LEAST_PAGES)


def print_times(label: str, times: list[tuple[float, float]], base: list[float]) -> float:
    """Print the medians of a row; its times of the processor against those of the library."""
    wall, work = (median(column) for column in zip(*times, strict=True))
    print(f"{label:<28}{wall:7.2f} s {wall / base[0]:5.2f} times{work:8.2f} s cpu "
          f"{work / base[1]:5.2f} times")
    return work / base[1]


def beside(document, order: int) -> float:
    """How often the page's median beside a report set apart is that without one."""
    from django.conf import settings
    from django.test import Client

    from delivery.reports.rendering import render_document
    from delivery.reports.services import take_render_job
    from engagements.models import Role, User

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    client = Client()
    client.force_login(User.objects.get(role=Role.MANAGER))
    client.get("/documents/")
    found = {}
    for label, press, work in (
            ("nothing else", True, lambda: time.sleep(3)),
            ("set in the same process", False, lambda: render_document(document.snapshot, "en")),
            ("set apart", True, lambda: take_render_job(order))):
        settings.RENDER_PROCESS = press
        forget_files(document)
        found[label] = page_times(client, work)
        print("a page beside it: {:<24}{:7.1f} ms median {:7.1f} ms 95 % {:7.1f} ms worst".format(
            label, *found[label]))
    return found["set apart"][0] / found["nothing else"][0]


if __name__ == "__main__":
    sys.exit(main())
