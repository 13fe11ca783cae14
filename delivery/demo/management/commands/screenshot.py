"""Takes the README's picture and those of the user guide of a running portal (development
requirement: Playwright)."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse
from PIL import Image

from assessments.models import Criterion
from delivery.acceptance.models import Review
from delivery.demo.sample_firm import ACCEPTED, CODE, PASSWORD, TUNING
from delivery.quotes.models import Quote
from delivery.reports.models import Document
from engagements.stages import Stage
from workers.models import Job

SIZE = {"width": 1360, "height": 850}
COLOURS = 128  # of the stored pictures, which are flat
LANGUAGES = {"zh": "zh-CN", "en": "en-GB"}


def _first(rows) -> int:
    return rows.values_list("pk", flat=True)[0]


def _of(code: str, route: str) -> Callable[[], str]:
    return lambda: reverse(route, args=[code])


# Picture of the guide: who looks, and at which page; pages of rows are found when taken.
PICTURES: dict[str, tuple[str, Callable[[], str]]] = {
    "home": ("manager", lambda: "/"),
    "engagement": ("manager", _of(TUNING.code, "engagements:engagement")),
    "survey": ("consultant", _of(CODE, "surveys:overview")),
    "quote": ("sales", lambda: reverse("quotes:quote", args=[_first(
        Quote.objects.filter(engagement__code=TUNING.code))])),
    "control": ("manager", _of(TUNING.code, "planning:control")),
    "job": ("consultant", lambda: reverse("workers:job", args=[_first(Job.objects.filter(
        engagement__code=TUNING.code, kind="adapt.megatron_train").order_by("-pk"))])),
    "criterion": ("manager", lambda: reverse("assessments:criterion", args=[_first(
        Criterion.objects.filter(criteria_set__engagement__code=TUNING.code,
                                 stage=Stage.TRAIN_TUNE))])),
    "stage": ("consultant", lambda: reverse("engagements:stage", args=[
        TUNING.code, "LLM", Stage.TRAIN_TUNE])),
    "document": ("manager", lambda: reverse("reports:document", args=[_first(
        Document.objects.filter(engagement__code=ACCEPTED.code, kind="TR"))])),
    "review": ("reviewer2", lambda: reverse("acceptance:review", args=[
        Review.objects.filter(document__engagement__code=ACCEPTED.code).values_list(
            "document", flat=True)[0]])),
}


class Command(BaseCommand):
    help = "Photographs a running portal for the README and the user guide."

    def add_arguments(self, parser):
        parser.add_argument("--url", default="http://127.0.0.1:8000")
        parser.add_argument("--only", nargs="*", help="names of pictures; all without")

    def handle(self, *args, url, only, **options):
        from playwright.sync_api import sync_playwright

        folder = Path(settings.BASE_DIR) / "docs"
        chosen = {name: (who, where()) for name, (who, where) in PICTURES.items()
                  if not only or name in only}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
            for language, locale in LANGUAGES.items():
                for name, (who, path) in chosen.items():
                    _take(browser, url, locale, who, path,
                          folder / "guide" / language / f"{name}.png")
                    self.stdout.write(f"{language}/{name}: {path}")
            browser.close()
        if "home" in chosen:
            shutil.copy(folder / "guide" / "zh" / "home.png", folder / "portal.png")


def _take(browser, url: str, locale: str, who: str, path: str, out: Path) -> None:
    context = browser.new_context(viewport=SIZE, locale=locale)
    page = context.new_page()
    page.goto(f"{url}/login/")
    page.fill("#id_username", who)
    page.fill("#id_password", PASSWORD)
    page.click("form[novalidate] button[type=submit]")
    page.goto(f"{url}{path}", wait_until="load")
    if page.locator("[data-chart-url]").count():
        page.locator(".desk-chart :is(svg, canvas)").first.wait_for()
    page.wait_for_timeout(1500)  # what else is drawn after the page
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(COLOURS).save(out, optimize=True)
    context.close()
