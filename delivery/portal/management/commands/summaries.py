"""Compares what is kept beside the rows for the sake of lists and search, and makes it anew."""

from django.core.management.base import BaseCommand, CommandError

from delivery.planning.people import planned_tasks
from delivery.portal import chart_figures
from engagements import model_progress, search_index


class Command(BaseCommand):
    help = ("Compares summaries of models, figures of charts and words of the search box with "
            "their rows.")

    def add_arguments(self, parser):
        parser.add_argument("--rebuild", action="store_true", help="make all of them anew")

    def handle(self, *args, rebuild: bool, **options):
        if rebuild:
            self.stdout.write(
                f"{model_progress.rebuild()} summaries of models, figures of "
                f"{chart_figures.rebuild()} engagements, planned days of "
                f"{planned_tasks.rebuild()} plans and {search_index.rebuild()} rows of the search "
                "box were made anew.")
            return
        count = 0
        for model, columns in model_progress.differences():
            count += 1
            self.stdout.write(f"{model.engagement.code} {model.code}: {', '.join(columns)}")
        for engagement, chart, bar in chart_figures.differences():
            count += 1
            self.stdout.write(f"engagement {engagement}: {chart} {bar}")
        for plan in planned_tasks.differences():
            count += 1
            self.stdout.write(f"plan {plan}: planned days")
        for table, key in search_index.differences():
            count += 1
            self.stdout.write(f"{table} {key}: words")
        if count:
            raise CommandError(f"{count} differ; --rebuild makes them anew.")
        self.stdout.write("All agree with their rows.")
