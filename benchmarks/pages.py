"""Server time and queries of pages that grow: a quote of 5,000 lines, an engagement of 300 models.

    python -m benchmarks.pages [--lines 5000] [--models 300] [--rounds 5]

Each page is rendered by Django's test client on a test database (SQLite, or that of
DATABASE_URL), once to warm up, then in rounds; printed are the medians in milliseconds (by the
clock, and of the processor) and the number of queries, beside those of the same page on a tenth
of the size. Exit status 1 where a page takes the processor longer than 300 ms, or where its
queries grow. A bulk move is one transaction per model by design, with its audit entry; its
milliseconds and queries are those per model, and they must not grow either.
"""

import argparse
import gc
import os
import sys
import time
from datetime import date
from decimal import Decimal
from statistics import median

LIMIT_MS = 300


def prepare() -> None:
    """Settings, and a database of its own."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.test.utils import get_runner, setup_test_environment

    setup_test_environment()
    settings.STORAGES["staticfiles"] = {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    get_runner(settings)(verbosity=0, interactive=False).setup_databases()


class World:
    """An engagement of a size, with everything its pages show."""

    def __init__(self, code: str, models: int, lines: int, people: dict) -> None:
        from engagements.models import Customer, Engagement, Membership

        self.people = people
        customer = Customer.objects.create(name=f"客户 {code}")
        self.engagement = Engagement.objects.create(code=code, name=code, customer=customer)
        for user in people.values():
            Membership.objects.create(engagement=self.engagement, user=user, role=user.role)
        self._models(models)
        self._planning()
        self._quote(lines)

    def _models(self, count: int) -> None:
        from engagements.services import add_model

        for n in range(count):
            add_model(actor=self.people["manager"], engagement=self.engagement,
                      code=f"M{n:03}", name=f"模型 {n}")

    def _planning(self) -> None:
        from delivery.planning.services import estimates, plans

        starts, manager = date(2025, 7, 1), self.people["manager"]
        common = {"actor": manager, "engagement": self.engagement}
        estimates.draft_estimate(**common)
        self.plan = plans.draft_plan(starts_on=starts, **common)
        plans.take_baseline(actor=manager, plan=self.plan)
        self._time()
        self._change()

    def _time(self) -> None:
        """A half-day per model, and a confirmed month of them."""
        from datetime import timedelta

        from delivery.planning.models import TimeEntry
        from delivery.planning.services import timesheets

        models = list(self.engagement.models.all())
        TimeEntry.objects.bulk_create(TimeEntry(
            engagement=self.engagement, person=self.people["consultant"], half="am", item="adapt",
            grade="senior", model=model, note="x",
            work_date=date(2023 if len(models) > 100 else 2021, 1, 1) + timedelta(days=n))
            for n, model in enumerate(models))
        first = TimeEntry.objects.filter(engagement=self.engagement).last()
        self.timesheet = timesheets.confirm_month(
            actor=self.people["manager"], engagement=self.engagement, month=first.work_date)

    def _change(self) -> None:
        from delivery.planning.services import change_drafts, changes

        consultant = self.people["consultant"]
        self.change = changes.create_change(
            actor=consultant, engagement=self.engagement, title="c", category="scope",
            requested_by="x", reason="x", before="x", after="x")
        change_drafts.set_schedule_effect(actor=consultant, change=self.change, days_after=9,
                                          task=self.plan.tasks.first())

    def _quote(self, count: int) -> None:
        from delivery.quotes import services
        from delivery.quotes.models import Quote, QuoteLine

        self.quote = services.create_quote(actor=self.people["sales"], engagement=self.engagement)
        QuoteLine.objects.bulk_create((QuoteLine(
            quote=self.quote, position=n, category="other", code=f"L{n}", name=f"行 {n}",
            grade="expert", unit="person_day", quantity=Decimal("1.5"),
            unit_price=Decimal("1171.22"), unit_cost=Decimal(900)) for n in range(count)),
            batch_size=500)
        self.issued = services.create_quote(
            actor=self.people["sales"], engagement=self.engagement, source_note="x")
        for line in (lines := list(self.quote.lines.all())):
            line.pk, line.quote = None, self.issued
        QuoteLine.objects.bulk_create(lines, batch_size=500)
        services.submit_quote(actor=self.people["sales"], quote=self.issued)
        services.review_quote(actor=self.people["consultant"], quote=self.issued)
        services.approve_quote(actor=self.people["manager"], quote=self.issued)
        services.issue_quote(actor=self.people["sales"], quote=self.issued)
        self.newer = services.new_version(actor=self.people["sales"], quote=Quote.objects.get(
            pk=self.issued.pk), reason="x")

    def pages(self) -> dict[str, str]:
        """Name and address of every page that grows with the engagement."""
        from django.urls import reverse

        code = [self.engagement.code]
        return {
            "quote, draft": reverse("quotes:quote", args=[self.quote.pk]),
            "quote, draft, last page": reverse("quotes:quote", args=[self.quote.pk]) + "?page=999",
            "quote, issued": reverse("quotes:quote", args=[self.issued.pk]),
            "quote, terms": reverse("quotes:terms", args=[self.quote.pk]),
            "quotes compared": reverse("quotes:compare", args=[self.newer.pk, self.issued.pk]),
            "quotes of the engagement": reverse("quotes:engagement", args=code),
            "estimate": reverse("planning:effort", args=code),
            "plan": reverse("planning:plan", args=code),
            "timesheets": reverse("planning:time", args=code),
            "timesheet": reverse("planning:timesheet", args=[self.timesheet.pk]),
            "project control": reverse("planning:control", args=code),
            "changes": reverse("planning:changes", args=code),
            "change": reverse("planning:change", args=[self.change.pk]),
            "engagement": reverse("engagements:engagement", args=code),
            "board": reverse("planning:board") + f"?engagement={self.engagement.code}",
            "my desk": "/",
            "search, many hits": reverse("portal:search") + f"?q={self.engagement.code}",
            "search, no hit": reverse("portal:search") + "?q=zebra",
            "API: desk": "/api/v1/desk/",
            "API: board": f"/api/v1/board/?engagement={self.engagement.code}",
            "API: quote": f"/api/v1/quotes/{self.quote.pk}/",
            "API: quotes": f"/api/v1/quotes/?engagement={self.engagement.pk}",
            "API: schedule": f"/api/v1/plans/{self.plan.pk}/schedule/",
            "API: estimate": f"/api/v1/effort-estimates/?engagement={self.engagement.pk}",
        }


def measured(client, url: str, rounds: int) -> tuple[float, float, int]:
    """Median milliseconds of the server's answer, those of the processor, number of queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200, url
    count = queries.final_queries - queries.initial_queries
    walls, works = [], []
    for _round in range(rounds):
        begin = time.perf_counter(), time.process_time()
        client.get(url)
        walls.append((time.perf_counter() - begin[0]) * 1000)
        works.append((time.process_time() - begin[1]) * 1000)
    return median(walls), median(works), count


def moved(client, world: World, move: str) -> tuple[float, float, int]:
    """Milliseconds by the clock and of the processor, and queries, per model of a bulk move."""
    from django.db import connection, reset_queries
    from django.urls import reverse

    count, asked = world.engagement.models.count(), []
    connection.execute_wrappers.append(lambda execute, *call: asked.append(1) or execute(*call))
    begin = time.perf_counter(), time.process_time()
    answer = client.post(f"{reverse('planning:board_move')}?engagement={world.engagement.code}",
                         {"move": move, "all": "yes"})
    wall, work = time.perf_counter() - begin[0], time.process_time() - begin[1]
    connection.execute_wrappers.pop()
    reset_queries()
    assert len(answer.context["done"].moved) == count, answer.context["done"].refused
    return wall * 1000 / count, work * 1000 / count, len(asked) // count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--lines", 5000), ("--models", 300), ("--rounds", 5)):
        parser.add_argument(name, type=int, default=default)
    options = parser.parse_args()
    prepare()
    from django.test import Client

    from assessments.services import load_standard_definitions
    from delivery.documents.models import CompanyProfile
    from delivery.quotes.services import load_rate_cards
    from engagements.models import Role, User

    people = {role: User.objects.create_user(role, role=role) for role in Role.values}
    CompanyProfile.objects.create(name="x")
    load_standard_definitions()
    load_rate_cards(actor=people["administrator"])
    small = World("SMALL", max(1, options.models // 10), max(1, options.lines // 10), people)
    large = World("LARGE", options.models, options.lines, people)
    client = Client()
    client.force_login(people["manager"])
    gc.freeze()  # as the portal does
    faults = 0
    print(f"{'page':<28}{'ms':>8}{'cpu ms':>8}{'queries':>9}{'a tenth':>9}")
    for (name, url), little in zip(large.pages().items(), small.pages().values(), strict=True):
        wall, work, queries = measured(client, url, options.rounds)
        fewer = measured(client, little, 1)[-1]
        is_fault = work > LIMIT_MS or queries > fewer
        faults += is_fault
        print(f"{name:<28}{wall:>8.0f}{work:>8.0f}{queries:>9}{fewer:>9}"
              f"{'  !' if is_fault else ''}")
    client.force_login(people["consultant"])
    for move in ("start", "submit"):
        fewer = moved(client, small, move)[-1]
        wall, work, queries = moved(client, large, move)
        faults += queries > fewer
        print(f"{f'bulk {move}, per model':<28}{wall:>8.1f}{work:>8.1f}{queries:>9}{fewer:>9}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
