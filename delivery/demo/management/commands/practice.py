"""Plays the practice engagements of a first start; `./desk run` does it in the background."""

import os
import time

from django.core.management.base import BaseCommand, CommandError

from engagements.errors import DeskError


class Command(BaseCommand):
    help = ("Plays the practice engagements on the practice node of a running portal; goes on "
            "where it was stopped.")

    def handle(self, *args, **options):
        from delivery.demo.scenario_runs import play

        os.nice(10)  # whoever uses the portal goes first
        began = time.monotonic()
        try:
            play(self._print)
        except (DeskError, TimeoutError) as error:
            raise CommandError(str(error)) from error
        self._print(f"practice data complete after {time.monotonic() - began:.0f} s")

    def _print(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
