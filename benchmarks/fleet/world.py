"""The firm: people, customers, nodes, and N engagements in all stages of their lives."""

from collections.abc import Callable

from django.contrib.auth.hashers import make_password
from django.db import connection, models
from django.utils import timezone

from benchmarks.fleet import template
from benchmarks.fleet.multiply import Copies, after_the_last, without_reference_checks
from engagements import model_progress, search_index

# Rows of an engagement, where the demo writes fewer: half a million jobs for 10,000 of them.
PER_ENGAGEMENT = {"workers.Job": 50, "workers.StoredReading": 50, "workers.Artifact": 100,
                  "engagements.AuditEntry": 200, "reports.Document": 3, "notices.Event": 30}
MOST = {"engagements.AuditEntry": 200, "notices.Event": 30}
OF_EVENTS = {"notices.Notice": 30, "notices.Dispatch": 10}  # of those events
# People of each role for 10,000 engagements, who take turns in them.
PEOPLE = {"manager": 60, "lead": 40, "consultant": 1500, "sales": 100, "operator": 50,
          "reviewer": 1250, "admin": 4}
NODES, CARDS, MINUTES_APART = 200, 8, 50
JOBS_RUNNING = 1000


class World:
    """Fills the default database, which is migrated and empty.

    Args:
        engagements: how many; everything else is in proportion.
    """

    def __init__(self, engagements: int, say: Callable[[str], None]) -> None:
        self.count, self.say = engagements, say
        self.pools: dict[int, tuple[int, int]] = {}  # template's person: first of the pool, size

    def fill(self, source: str) -> None:
        self.say("rows of the demo")
        with without_reference_checks():
            template.load(source, "default")
            self.counters()
            self.people()
            self.nodes()
            rows = template.rows_of_engagement("default")
            self.pad(rows)
            self.say(f"{self.count:,} engagements")
            self.copy(rows)
            self.lives(rows)
            self.running_jobs()
        self.say("summaries and words")
        model_progress.rebuild()
        search_index.rebuild()
        self.finish()

    # People, customers, nodes ---------------------------------------------------------------

    def people(self) -> None:
        from engagements.models import Customer, User

        password, share = make_password("Practice-2026"), self.count / 10_000
        for name, wanted in PEOPLE.items():
            person = User.objects.get(username=name)
            first = after_the_last(User)
            size = max(2, round(wanted * share))
            models.QuerySet(User).bulk_create([User(
                pk=first + n, username=f"{name}-{n}", role=person.role, password=password,
                full_name=f"{person.full_name}{n}", organisation=person.organisation,
                email=f"{name}-{n}@fleet.example") for n in range(size)], batch_size=500)
            self.pools[person.pk] = (first, size)
        self.first_customer = after_the_last(Customer)
        self.customers = max(2, self.count // 5)
        models.QuerySet(Customer).bulk_create([Customer(
            pk=self.first_customer + n, name=f"客户{n:05}有限公司", name_en=f"Customer {n:05}",
            industry="电力") for n in range(self.customers)], batch_size=500)

    def nodes(self) -> None:
        from workers.models import Card, Node

        self.first_node, key = after_the_last(Node), Node.objects.first().host_key
        self.node_count = max(2, round(NODES * self.count / 10_000))
        models.QuerySet(Node).bulk_create([Node(
            pk=self.first_node + n, name=f"node-{n:03}", host=f"10.9.{n // 200}.{n % 200 + 1}",
            username="desk", cards_total=CARDS, state="ready", host_key=key)
            for n in range(self.node_count)])
        models.QuerySet(Card).bulk_create([Card(
            node_id=self.first_node + n, index=card, read_at=timezone.now())
            for n in range(self.node_count) for card in range(CARDS)], batch_size=500)

    # Engagements ------------------------------------------------------------------------------

    def pad(self, rows: dict[type[models.Model], list[int]]) -> None:
        """Rows of the demo's engagement up to PER_ENGAGEMENT, down to MOST."""
        tables = {model._meta.label: model for model in rows}
        together = {"workers.StoredReading": "workers.Artifact"}
        for label, wanted in PER_ENGAGEMENT.items():
            model = tables.get(label)
            if model is None:
                continue
            keys = rows[model][:MOST.get(label)]
            rows[model] = keys
            while len(rows[model]) < wanted:
                more = {model: rows[model][:wanted - len(rows[model])]}
                if owner := tables.get(together.get(label, "")):
                    more = {owner: self._owners(model, more[model]), **more}
                self._pad_once(more, rows)

        events = rows.get(tables.get("notices.Event"), [])
        for label, most in OF_EVENTS.items():
            if model := tables.get(label):
                rows[model] = list(models.QuerySet(model).filter(
                    pk__in=rows[model], event__in=events).values_list("pk", flat=True)[:most])

    def _owners(self, model: type[models.Model], keys: list[int]) -> list[int]:
        owners = models.QuerySet(model).filter(pk__in=keys).values_list("artifact_id", flat=True)
        return sorted(set(owners))

    def _pad_once(self, more: dict, rows: dict) -> None:
        strides = {model: after_the_last(model) for model in more}
        nothing = {f"workers_job.{name}_id": lambda _column, _k: "NULL"
                   for name in ("retry_of", "gang")}
        Copies(more, 1, strides, nothing).make()
        for model, keys in more.items():
            rows[model] = [*rows[model], *(key + strides[model] for key in keys)]

    def copy(self, rows: dict[type[models.Model], list[int]]) -> None:
        self.strides = {model: after_the_last(model) for model in rows}
        Copies(rows, self.count - 1, self.strides, {
            "engagements_user": self._person,
            "workers_node": lambda column, k: f"CASE WHEN {column} IS NULL THEN NULL ELSE "
                                              f"{self.first_node} + {k} % {self.node_count} END",
            "engagements_customer": lambda _column, k:
                f"{self.first_customer} + {k} % {self.customers}",
            "planning_timeentry.work_date": self._work_date,
            **{f"{model._meta.db_table}.{field.column}": self._moment
               for model in rows for field in model._meta.concrete_fields
               if isinstance(field, models.DateTimeField)},
        }).make()

    def _person(self, column: str, k: str) -> str:
        cases = " ".join(f"WHEN {pk} THEN {first} + {k} % {size}"
                         for pk, (first, size) in self.pools.items())
        return f"CASE {column} {cases} ELSE {column} END"

    def _moment(self, column: str, k: str) -> str:
        """The newest copy is of now, each before it MINUTES_APART older."""
        minutes = f"({self.count} - {k}) * {MINUTES_APART}"
        if connection.vendor == "postgresql":
            return f"{column} - {minutes} * interval '1 minute'"
        return f"strftime('%Y-%m-%d %H:%M:%f', {column}, '-' || ({minutes}) || ' minutes')"

    def _work_date(self, column: str, k: str) -> str:
        """Nobody works twice in the same half-day: each engagement of a person has its own days."""
        smallest = min(size for _first, size in self.pools.values())
        days = f"({k} / {smallest}) * 70"
        if connection.vendor == "postgresql":
            return f"{column} - {days}"
        return f"date({column}, '-' || ({days}) || ' days')"

    # Their lives ------------------------------------------------------------------------------

    def lives(self, rows: dict[type[models.Model], list[int]]) -> None:
        """Three in ten are under way, with something open of everything; the rest are over."""
        from engagements.models import Engagement, MigratedModel, StageRecord

        stride, k = self.strides[Engagement], self._number(Engagement)
        self._run(f"UPDATE engagements_engagement SET state = CASE WHEN {k} % 10 < 3 THEN 'active' "
                  f"WHEN {k} % 10 < 6 THEN 'accepted' ELSE 'closed' END, code = 'EP' || "
                  f"({k} + 100000) WHERE id >= {stride}")
        k = f"(model_id / {self.strides[MigratedModel]})"
        place = f"(({k} + model_id) % 8)"
        first = models.QuerySet(StageRecord).aggregate(first=models.Min("position"))["first"]
        here = f"(position - {first})"
        state = (f"CASE WHEN {here} < {place} THEN 'passed' WHEN {here} > {place} THEN "
                 f"'not_started' WHEN ({k} / 10) % 3 = 0 THEN 'submitted' WHEN ({k} / 10) % 3 = 1 "
                 f"THEN 'in_progress' ELSE 'sent_back' END")
        self._run(f"UPDATE engagements_stagerecord SET state = {state}, passed_at = CASE WHEN "
                  f"{here} < {place} THEN COALESCE(passed_at, started_at, CURRENT_TIMESTAMP) "
                  f"END WHERE model_id >= {self.strides[MigratedModel]} AND {k} % 10 < 3 "
                  f"AND state <> 'skipped'")
        self._open_work(rows)

    def _open_work(self, rows: dict[type[models.Model], list[int]]) -> None:
        """Open rows of engagements under way: quotes, documents, changes, to-dos, jobs, notices."""
        tables = {model._meta.label: model for model in rows}
        engagement = self.strides[tables["engagements.Engagement"]]
        k = f"(engagement_id / {engagement})"
        active = f"engagement_id >= {engagement} AND {k} % 10 < 3"
        for label, change in {
            "quotes.Quote": f"state = CASE ({k} / 10) % 5 WHEN 0 THEN 'draft' WHEN 1 THEN "
                            "'in_review' WHEN 2 THEN 'reviewed' WHEN 3 THEN 'approved' "
                            "ELSE 'issued' END",
            "reports.Document": f"state = CASE ({k} / 10) % 3 WHEN 0 THEN 'draft' "
                                "WHEN 1 THEN 'in_review' ELSE state END",
            "planning.Todo": "done_at = NULL, done_by_id = NULL",
            "planning.ProjectIssue": "closed_on = NULL",
            "planning.Risk": "state = 'open'",
            "surveys.Survey": f"state = CASE ({k} / 10) % 4 WHEN 0 THEN 'draft' WHEN 1 THEN "
                              "'submitted' ELSE state END",
        }.items():
            if label in tables:
                table = tables[label]._meta.db_table
                self._run(f"UPDATE {table} SET {change} WHERE {active}")
        self._run("UPDATE workers_job SET state = 'failed' WHERE id % 50 = 7 AND "
                  "state = 'succeeded'")
        self._run("UPDATE notices_notice SET read_at = NULL WHERE id % 10 = 3")

    def running_jobs(self) -> None:
        """The newest jobs of engagements under way run, one card each, on nodes of their own."""
        from workers.models import CardLease, Job

        running = min(round(JOBS_RUNNING * self.count / 10_000), self.node_count * CARDS)
        keys = list(models.QuerySet(Job).filter(
            gang=None, retry_of=None, engagement__state="active").order_by("-pk").values_list(
            "pk", flat=True)[:running])
        jobs = [Job(pk=key, state="running", node_id=self.first_node + n // CARDS, cards_wanted=1,
                    finished_at=None) for n, key in enumerate(keys)]
        models.QuerySet(Job).bulk_update(jobs, ["state", "node", "cards_wanted", "finished_at"],
                                         batch_size=500)
        now = models.QuerySet(Job).aggregate(now=models.Max("created_at"))["now"]
        self.counters()
        models.QuerySet(CardLease).bulk_create([CardLease(
            node_id=job.node_id, card_index=n % CARDS, job_id=job.pk, fence=n + 1, taken_at=now)
            for n, job in enumerate(jobs)], batch_size=500)

    def _number(self, model: type[models.Model]) -> str:
        return f"(id / {self.strides[model]})"

    def _run(self, statement: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement)

    # The end ------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Counters behind the last rows, and statistics for the planner."""
        from engagements.models import AuditChain, AuditEntry

        self.say("statistics")
        AuditChain.objects.update(number=after_the_last(AuditEntry) - 1)
        self.counters()
        self._run("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")

    def counters(self) -> None:
        """PostgreSQL counts keys beside the tables."""
        for model in template.copied_tables() if connection.vendor == "postgresql" else ():
            if model._meta.auto_field:
                self._run(f"SELECT setval(pg_get_serial_sequence('{model._meta.db_table}', "
                          f"'{model._meta.pk.column}'), {after_the_last(model)}, false)")
