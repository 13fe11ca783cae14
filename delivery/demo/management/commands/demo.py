"""The main job without a browser: from survey to the signed acceptance, on the practice node."""

import time
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from delivery.demo.isolated_run import is_inside, run_isolated, stop_on_sigterm
from engagements.errors import DeskError


class Command(BaseCommand):
    help = "Takes the sample engagement to a signed acceptance; its documents are left in a folder."

    def add_arguments(self, parser):
        parser.add_argument("--out", type=Path, required=True, help="folder for the results")

    def handle(self, *args, out: Path, **options):
        out = out.resolve()
        out.mkdir(parents=True, exist_ok=True)
        if is_inside():
            stop_on_sigterm()
            self._run_scenario(out)
        else:
            run_isolated(["demo", "--out", str(out)],
                         "The scenario did not reach its end; the lines above say where.")

    def _run_scenario(self, out: Path) -> None:
        from delivery.demo.scenario_runs import run_demo

        call_command("migrate", verbosity=0)
        began = time.monotonic()
        try:
            run_demo(out, self._print)
        except (DeskError, TimeoutError) as error:
            raise CommandError(str(error)) from error
        self._print(f"done in {time.monotonic() - began:.0f} s; results in {out}")

    def _print(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
