"""A test report of 60 pages with 40 figures: against the bare PDF library, and beside polls.

    python -m benchmarks.report [--figures 40] [--rounds 3]

Printed are the medians in seconds of setting one language: by WeasyPrint alone from the finished
HTML, and by an order as the worker fills it (facts to HTML, figures, setting in the process
apart, storing), with figures still to be drawn and with figures that are kept. Then how late a
thread that wants to run every 20 ms gets its turn in the worker (95th percentile and worst, in
milliseconds) while a report is set in that process and while it is set apart; polls of jobs are
such threads. Exit status 1 where an order takes longer than 1.3 times WeasyPrint alone, or holds
other threads up for more than 50 ms (95th percentile).
"""

import argparse
import copy
import io
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median, quantiles

MOST_TIMES, MOST_LATE_MS = 1.3, 50
POLL_SECONDS = 0.02


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
    """A document being issued whose facts hold that many criteria, each with its curve."""
    from delivery.reports.models import Document
    from delivery.reports.services import draft_test_report
    from delivery.reports.services.orders import place_orders
    from engagements.models import Customer, Engagement, Membership, Role, User
    from tests.delivery.conftest import deliver

    people = {role: User.objects.create_user(role, role=role) for role in Role.values}
    engagement = Engagement.objects.create(
        code="BENCH", name="模型迁移", customer=Customer.objects.create(name="客户"))
    for user in people.values():
        Membership.objects.create(engagement=engagement, user=user, role=user.role)
    deliver(engagement, people)
    document = draft_test_report(actor=people[Role.MANAGER], engagement=engagement)
    Document.objects.filter(pk=document.pk).update(snapshot=grown(document.snapshot, figures))
    document.refresh_from_db()
    place_orders(document, ("pdf",))
    return document


def grown(facts: dict, figures: int) -> dict:
    """The same facts with as many criteria, each with a curve that no other has."""
    metric = next(m for m in facts["metrics"] if any(
        c["criterion"] == m["criterion"] for c in facts["curves"]))
    curve = next(c for c in facts["curves"] if c["criterion"] == metric["criterion"])
    facts["metrics"] = [{**metric, "criterion": n, "model": f"M{n:02}"} for n in range(figures)]
    facts["curves"] = [{"criterion": n, "spec": {
        language: lifted(spec, n) for language, spec in curve["spec"].items()}}
        for n in range(figures)]
    facts["runs"], facts["evidence"] = facts["runs"] * 20, facts["evidence"] * 20
    return facts


def lifted(spec: dict, n: int) -> dict:
    """A specification whose title no other figure has: it is drawn and kept for itself."""
    found = copy.deepcopy(spec)
    found["description"] = f"figure {n}"
    return found


def forget_files(document) -> None:
    document.files.all().delete()
    document.orders.update(state="pending", attempts=0, holder="", holder_until=None)


def timed(call) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def bare_html(document) -> str:
    """The finished HTML of the report in English."""
    from delivery.reports import pdf, rendering

    kept = []
    pdf.run_apart = lambda _function, html: kept.append(html) or b""
    rendering.render_document(document.snapshot, "en")
    from delivery.reports.press import run_apart

    pdf.run_apart = run_apart
    return kept[0]


def bare(html: str) -> bytes:
    import weasyprint

    from delivery.reports.pdf import ARCHIVAL

    return weasyprint.HTML(string=html).write_pdf(pdf_variant=ARCHIVAL)


def lateness(work) -> tuple[float, float]:
    """(95th percentile, worst) in ms by which a thread is late while `work()` runs in another."""
    late, thread = [], threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        wanted = time.perf_counter() + POLL_SECONDS
        time.sleep(POLL_SECONDS)
        late.append(1000 * (time.perf_counter() - wanted))
    thread.join()
    return quantiles(late, n=20)[-1], max(late)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--figures", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    prepare()
    try:
        return measure(report(options.figures), options.rounds)
    finally:
        shutil.rmtree(os.environ["DESK_VAR_DIR"], ignore_errors=True)


def measure(document, rounds: int) -> int:
    import pypdf
    from django.conf import settings

    from delivery.reports.rendering import render_document
    from delivery.reports.services import make_order

    order = document.orders.get(language="en")
    html = bare_html(document)
    pages = len(pypdf.PdfReader(io.BytesIO(bare(html))).pages)  # warms the library up
    make_order(order.pk)  # and the process apart
    figures = Path(settings.MEDIA_ROOT, "figures")
    alone, first, again = [], [], []
    for _round in range(rounds):
        alone.append(timed(lambda: bare(html)))
        forget_files(document)
        shutil.rmtree(figures)
        first.append(timed(lambda: make_order(order.pk)))
        forget_files(document)
        again.append(timed(lambda: make_order(order.pk)))
    stored = document.files.get(language="en").size
    settings.PRESS = False
    here = lateness(lambda: render_document(document.snapshot, "en"))
    settings.PRESS = True
    forget_files(document)
    apart = lateness(lambda: make_order(order.pk))
    times = [median(first) / median(alone), median(again) / median(alone)]
    print(f"{pages} pages, {len(document.snapshot['curves'])} figures, {stored // 1024} KiB")
    print(f"WeasyPrint alone            {median(alone):6.2f} s")
    print(f"order, figures to be drawn  {median(first):6.2f} s  {times[0]:.2f} times")
    print(f"order, figures kept         {median(again):6.2f} s  {times[1]:.2f} times")
    print(f"late beside it, same process {here[0]:7.1f} ms (95 %) {here[1]:7.1f} ms (worst)")
    print(f"late beside it, set apart    {apart[0]:7.1f} ms (95 %) {apart[1]:7.1f} ms (worst)")
    return int(max(times) > MOST_TIMES or apart[0] > MOST_LATE_MS)


if __name__ == "__main__":
    sys.exit(main())
