"""``manage.py trace FLOW``: the functions and files that a flow runs through."""

import io

from django.core.management import call_command
from django.core.management.base import BaseCommand

from delivery.demo.isolated_run import is_inside, run_isolated
from delivery.followers import FOLLOWERS


class Command(BaseCommand):
    help = ("Runs a flow on sample data in a database of its own and prints its way through the "
            "code: files and functions in order, and what follows the write unasked.")

    def add_arguments(self, parser):
        parser.add_argument("flow", choices=("queue_job", "issue_quote", "sign"), nargs="?",
                            help="without one: everything that may follow a write")

    def handle(self, *args, flow: str | None, **options):
        if flow is None:
            for follower in FOLLOWERS:
                self.stdout.write(str(follower))
            return
        if not is_inside():
            run_isolated(["trace", flow])
            return
        from delivery.demo.flow_trace import traced

        call_command("migrate", verbosity=0)
        call_command("certificate", stdout=io.StringIO())
        walk = traced(flow)
        for line in walk.lines():
            self.stdout.write(line)
        self.stdout.write("followed the writes: " + "; ".join(walk.follow_ups()))
        counts = walk.counts()
        self.stdout.write(f"{flow}: {counts['functions']} functions in {counts['files']} files, "
                          f"{counts['files_before_followers']} of them without what followed; "
                          f"{counts['depth']} deep")
