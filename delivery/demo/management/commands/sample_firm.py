"""A firm of many engagements, for looking at lists and totals; marked as practice."""

from django.core.management.base import BaseCommand, CommandError

from engagements.errors import DeskError


class Command(BaseCommand):
    help = ("Fills the database with a seeded practice firm: people, quotes in three currencies, "
            "plans, time, risks, verdicts, claims, reservations. Refused beside real data.")

    def add_arguments(self, parser):
        parser.add_argument("--engagements", type=int, default=40)
        parser.add_argument("--seed", type=int, default=1)

    def handle(self, *args, engagements: int, seed: int, **options):
        from delivery.demo.many_engagements import load_firm

        try:
            load_firm(engagements=engagements, seed=seed, say=self.stdout.write)
        except DeskError as error:
            raise CommandError(str(error)) from error
        self.stdout.write("sign in as firm-manager-1 with the practice password")
