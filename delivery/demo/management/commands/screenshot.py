"""Takes the README's picture of a running portal (development requirement: Playwright)."""

import shutil
from pathlib import Path

from django.core.management.base import BaseCommand

from delivery.demo.sample_engagement import CODE, PASSWORD


class Command(BaseCommand):
    help = "Photographs the stage matrix of the sample engagement of a running portal."

    def add_arguments(self, parser):
        parser.add_argument("--url", default="http://127.0.0.1:8000")
        parser.add_argument("--out", type=Path, default=Path("docs/portal.png"))

    def handle(self, *args, url, out, **options):
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1360, "height": 850}, locale="zh-CN")
            page.goto(f"{url}/login/")
            page.fill("#id_username", "manager")
            page.fill("#id_password", PASSWORD)
            page.click("form[novalidate] button[type=submit]")
            page.goto(f"{url}/engagements/{CODE}/")
            page.screenshot(path=str(out))
            browser.close()
