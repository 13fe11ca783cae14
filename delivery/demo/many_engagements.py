"""A firm of many engagements, seeded: what a manager of forty of them looks at on a Monday.

People, customers, quotes, plans, risks, issues, absences and reservations are written by the
services that people use. What lies in the past (stages, time, verdicts, acceptances, card leases)
no service writes today: it is written as rows, and one audit entry per engagement holds them. All
of it is practice data and goes with it (`practice_removal`).
"""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone
from django.utils.translation import override

from assessments.models import CriteriaSet, Criterion, MetricDefinition, Outcome, Verdict
from assessments.services import load_standard_definitions
from delivery.acceptance.models import Condition, Review, WarrantyClaim
from delivery.demo.practice_removal import real_things
from delivery.demo.sample_firm import COMPANY, FIRM, MAIL, PASSWORD
from delivery.demo.sample_planning import DAY_COSTS
from delivery.demo.step_memory import begin_practice
from delivery.documents.models import CompanyProfile
from delivery.planning.models import Task, TimeEntry
from delivery.planning.people import planned_tasks
from delivery.planning.plan.working_days import firm_days, is_working_day
from delivery.planning.services import control, estimates, people, plans, time_entries
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine
from delivery.quotes.services import load_rate_cards
from delivery.reports.models import Document
from engagements import services
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import Customer, Engagement, MigratedModel, Role, User
from engagements.stages import Stage, StageState
from workers.models import CardLease, Job, Node
from workers.services import node_calendar

PEOPLE = {Role.ADMINISTRATOR: 1, Role.MANAGER: 4, Role.CONSULTANT: 12, Role.SALES: 2,
          Role.OPERATOR: 1, Role.REVIEWER: 8}
JOBS = {Role.ADMINISTRATOR: ("管理员", "Administrator"), Role.MANAGER: ("项目经理", "Manager"),
        Role.CONSULTANT: ("交付顾问", "Consultant"), Role.SALES: ("商务经理", "Sales"),
        Role.OPERATOR: ("节点管理员", "Operator"), Role.REVIEWER: ("客户评审", "Reviewer")}
CUSTOMERS = (("电力", "Power"), ("轨道交通", "Metro"), ("金融", "Bank"), ("制造", "Manufacturing"),
             ("医疗", "Hospital"), ("物流", "Logistics"), ("能源", "Energy"), ("通信", "Telecom"))
MODELS = (("LLM", "文本生成模型", "Text generation", "文本生成", "Text generation", "7.0"),
          ("DET", "目标检测模型", "Object detection", "目标检测", "Object detection", "0.044"),
          ("OCR", "票据识别模型", "Cheque reading", "OCR", "OCR", "0.028"),
          ("CLS", "图像分类模型", "Image classification", "图像分类", "Image classification",
           "0.025"))
RISKS = (("客户 NPU 资源到位延迟（演练）", "The customer's NPUs arrive late (practice)", 3, 4),
         ("三方算子缺少昇腾实现（演练）", "Third-party operators lack an Ascend version (practice)",
          4, 4),
         ("数据出域审批延迟（演练）", "Leave to take data outside comes late (practice)", 3, 3),
         ("GPU 基线曲线不完整（演练）", "The GPU baseline is incomplete (practice)", 2, 4))
SKILLS = ("MindSpeed", "ATC", "Ascend HCIP", "vLLM")
CURRENCIES = (("CNY", Decimal(1)), ("USD", Decimal("7.12")), ("EUR", Decimal("7.85")))
GRADES = ("expert", "senior", "engineer")
NODES = 3
DAYS_WORKED = 8  # of each engagement, before today
_LETTERS = "0123456789ABCDEFGHJKLMNPQRTUWXY"


def load_firm(*, engagements: int, seed: int, say: Callable[[str], None] = print) -> None:
    """Write the firm of the seed. Raises WrongState where the database holds anything real, or
    this firm already."""
    if found := real_things():
        raise WrongState(f"The database holds real data: {', '.join(found)}.")
    if Engagement.objects.filter(code__startswith="FM").exists():
        raise WrongState("The sample firm is there already.")
    with override("zh-hans"):
        firm = _Firm(Random(seed), timezone.localdate())
        firm.begin()
        for number in range(engagements):
            with transaction.atomic():
                firm.engagement(number)
            if number % 10 == 9:
                say(f"{number + 1} of {engagements} engagements")
        firm.finish()


class _Firm:
    """What the engagements of one seed draw from."""

    def __init__(self, random: Random, today: date) -> None:
        self.random, self.today, self.firm_days = random, today, firm_days()
        self.people: dict[str, list[User]] = {}
        self.booked: set[tuple[int, date]] = set()

    def begin(self) -> None:
        """The firm: people with skills and absences, customers, costs, price lists, nodes."""
        load_standard_definitions()
        if not CompanyProfile.objects.exists():
            CompanyProfile.objects.create(**COMPANY)
        begin_practice()
        with transaction.atomic():
            password = make_password(PASSWORD)
            self.people = {role: [self._person(role, n, password) for n in range(1, count + 1)]
                           for role, count in PEOPLE.items()}
            self.admin = self.people[Role.ADMINISTRATOR][0]
            audit_log.record(actor=self.admin, action="sample.load", target=self.admin)
        load_rate_cards(actor=self.admin)
        manager = self.people[Role.MANAGER][0]
        for grade, cost in DAY_COSTS.items():
            time_entries.set_grade_cost(actor=manager, grade=grade, day_cost=Decimal(cost))
        people.set_margin_floor(actor=manager, percent=Decimal(25))
        for n, person in enumerate(self.people[Role.CONSULTANT]):
            for name in self.random.sample(SKILLS, 2):
                people.set_skill(actor=manager, person=person, name=name,
                                 certificate=f"PRACTICE-{n:03}" if "HCIP" in name else "")
        for n, person in enumerate(self.people[Role.CONSULTANT][-3:]):
            first = self._monday() + timedelta(days=7 + n)
            people.add_absence(actor=manager, person=person, first=first,
                               last=first + timedelta(days=2), note="演练")
        self.customers = [self._customer(n, *names) for n, names in enumerate(CUSTOMERS)]
        self.nodes = [Node.objects.create(
            name=f"practice-firm-{n}", host=f"practice-{n}.invalid", username="practice",
            cards_total=8, is_practice=True, state=Node.State.MAINTENANCE)
            for n in range(1, NODES + 1)]

    def finish(self) -> None:
        """Reservations, of which maintenance meets one on the first node."""
        operator, starts = self.people[Role.OPERATOR][0], timezone.now() + timedelta(days=1)
        rows = list(Engagement.objects.filter(code__startswith="FM", state="active")[:2 * NODES])
        for n, engagement in enumerate(rows):
            node_calendar.reserve(actor=operator, node=self.nodes[n % NODES], cards=4,
                                  engagement=engagement, starts_at=starts,
                                  ends_at=starts + timedelta(days=3), reason="性能调优（演练）")
        node_calendar.reserve(actor=operator, node=self.nodes[0], reason="固件升级（演练）",
                              is_over_reservations=True,
                              starts_at=starts + timedelta(days=1),
                              ends_at=starts + timedelta(days=2))
        planned_tasks.rebuild()

    def _monday(self) -> date:
        return self.today - timedelta(days=self.today.weekday())

    def _person(self, role: str, n: int, password: str) -> User:
        zh, en = JOBS[role]
        side = FIRM if role != Role.REVIEWER else CUSTOMERS[n - 1]
        return User.objects.create(
            username=f"firm-{role}-{n}", role=role, password=password,
            email=f"firm-{role}-{n}{MAIL}",
            full_name=f"{zh}{n:02}", full_name_en=f"{en} {n:02}", job_title=zh, job_title_en=en,
            organisation=side[0], organisation_en=side[-1],
            is_staff=role == Role.ADMINISTRATOR, is_superuser=role == Role.ADMINISTRATOR)

    def _customer(self, n: int, zh: str, en: str) -> Customer:
        return services.create_customer(
            actor=self.admin, name=f"某{zh}公司（演练）", name_en=f"{en} company (practice)",
            industry=zh, credit_code=_credit_code(f"9111000012345{n:03}X"))

    # One engagement --------------------------------------------------------------------------

    def engagement(self, n: int) -> None:
        """Number, order and luck say what it is: late, closed, offered, accepted, under way."""
        random, today = self.random, self.today
        manager = self.people[Role.MANAGER][n % 4]
        team = random.sample(self.people[Role.CONSULTANT], 2)
        sales, reviewer = self.people[Role.SALES][n % 2], self.people[Role.REVIEWER][n % 8]
        zh, en = CUSTOMERS[n % 8]
        begins = today - timedelta(days=random.randint(45, 120))
        ends = today + timedelta(days=-random.randint(2, 40) if n % 5 == 0 else
                                 random.randint(10, 120))
        made = services.create_engagement(
            actor=manager, code=f"FM{n + 1:04}", name=f"{zh}模型昇腾迁移 {n + 1}（演练）",
            name_en=f"{en}: migration to Ascend {n + 1} (practice)", customer=self.customers[n % 8],
            contract_number=f"HT-PRACTICE-{n + 1:03}", starts_on=begins, ends_on=ends)
        services.mark_practice(engagement=made)
        services.add_members(actor=manager, engagement=made, users=[*team, sales, reviewer])
        models = [self._model(manager, made, row) for row in
                  random.sample(MODELS, random.randint(1, 2))]
        estimate = estimates.draft_estimate(actor=team[0], engagement=made)
        estimates.approve_estimate(actor=manager, estimate=estimate)
        plan = plans.draft_plan(actor=manager, engagement=made, starts_on=begins)
        here = random.randint(1, 6)
        for model in models:
            self._stages(model, here, begins)
        for task in plan.tasks.filter(model=models[0], stage__in=Stage.values[here:here + 2]):
            Task.objects.filter(pk=task.pk).update(
                owner=random.choice(team), days=random.randint(3, 8),
                not_before=today + timedelta(days=random.randint(0, 42)))
        self._quote(n, made, manager, team[0], sales, reviewer)
        self._time(made, models[0], team)
        self._control(n, made, models[0], manager, team)
        self._verdicts(n, made, models[0])
        self._leases(n, made, models[0], team[0])
        if n // 2 % 8 == 3:
            self._acceptance(n, made, models[0], manager, reviewer, team[0])
        if n % 10 == 9:
            Engagement.objects.filter(pk=made.pk).update(
                state=Engagement.State.CLOSED, ended_at=timezone.now())
        audit_log.record(actor=manager, action="sample.load", target=made, engagement=made)

    def _model(self, manager: User, made: Engagement, row: tuple[str, ...]) -> MigratedModel:
        code, name, name_en, task, task_en, size = row
        return services.add_model(
            actor=manager, engagement=made, code=code, name=name, name_en=name_en, task=task,
            task_en=task_en, framework="PyTorch 2.1.0", parameters_billion=Decimal(size),
            training_route="tool", inference_route="offline")

    def _stages(self, model: MigratedModel, here: int, begins: date) -> None:
        """The stages before `here` are passed, it is under way or submitted."""
        for record in model.stages.all():
            day = min(begins + timedelta(days=7 * record.position), self.today)
            at = timezone.make_aware(datetime.combine(day, time(12)))
            if record.position > here:
                continue
            record.started_at = at
            record.state = StageState.PASSED
            if record.position == here:
                record.state = self.random.choice((StageState.IN_PROGRESS, StageState.SUBMITTED))
            submitted = record.state != StageState.IN_PROGRESS
            record.submitted_at = at if submitted else None
            record.passed_at = at if record.state == StageState.PASSED else None
            record.save()

    def _quote(self, n: int, made: Engagement, manager: User, consultant: User, sales: User,
               reviewer: User) -> None:
        currency, rate = CURRENCIES[n % 3]
        quote = quoting.create_quote(
            actor=sales, engagement=made, currency=currency, exchange_rate=rate,
            valid_until=self.today + timedelta(days=self.random.randint(3, 45)))
        price = Decimal(self.random.choice((900, 1400, 2200, 3000)))
        for grade in GRADES:
            quoting.add_free_line(
                actor=sales, quote=quote, category=PriceLine.Category.MIGRATION, name="迁移服务",
                name_en="Migration service", stage=Stage.TRAIN_ADAPT, grade=grade,
                unit="person_day", quantity=Decimal(self.random.randint(8, 40)),
                unit_price=(price / rate).quantize(Decimal("0.01")))
        quoting.add_free_line(
            actor=sales, quote=quote, category=PriceLine.Category.RESOURCE,
            name="NPU 服务器（8 卡）",
            name_en="NPU server, 8 cards", unit="server", quantity=Decimal(1), months=Decimal(2),
            unit_price=(Decimal(60000) / rate).quantize(Decimal("0.01")))
        quote.refresh_from_db()
        quoting.submit_quote(actor=sales, quote=quote)
        quoting.review_quote(actor=consultant, quote=quote)
        quoting.approve_quote(actor=manager, quote=quote)
        quote.refresh_from_db()
        quoting.issue_quote(actor=sales, quote=quote)
        if n // 4 % 3 != 1:
            quoting.answer_quote(actor=reviewer, quote=quote, is_accepted=True)

    def _time(self, made: Engagement, model: MigratedModel, team: list[User]) -> None:
        day, rows = self.today, []
        while len(rows) < 4 * DAYS_WORKED and day > made.starts_on:
            day -= timedelta(days=1)
            if not is_working_day(day, self.firm_days):
                continue
            rows += [TimeEntry(
                engagement=made, person=person, work_date=day, half=half, model=model,
                stage=Stage.SURVEY, item="survey", grade=GRADES[person.pk % 3], note="演练")
                for person in team if (person.pk, day) not in self.booked
                for half in ("am", "pm")]
            self.booked |= {(person.pk, day) for person in team}
        TimeEntry.objects.bulk_create(rows)

    def _control(self, n: int, made: Engagement, model: MigratedModel, manager: User,
                 team: list[User]) -> None:
        for title, title_en, probability, impact in self.random.sample(RISKS, 1 + n % 3):
            control.add_risk(actor=manager, engagement=made, owner=team[0], title=title,
                             title_en=title_en, probability=probability, impact=impact,
                             review_on=self.today + timedelta(days=10))
        if n % 3 == 0:
            control.add_issue(actor=team[0], engagement=made, level="major", owner=team[1],
                              model=model, description="基线需要重测（演练）",
                              raised_on=made.starts_on,
                              due_on=self.today + timedelta(days=self.random.randint(-9, 5)))

    def _verdicts(self, n: int, made: Engagement, model: MigratedModel) -> None:
        """A signed set with one criterion; a fourth failed, an eighth after it had passed."""
        signed = CriteriaSet.objects.create(
            engagement=made, version=1, state=CriteriaSet.State.SIGNED, signed_at=timezone.now(),
            content_hash="0" * 64, customer_signatory="演练",
            signed_by=self.people[Role.MANAGER][n % 4])
        criterion = Criterion.objects.create(
            criteria_set=signed, model=model, stage=Stage.TRAIN_TUNE, threshold=Decimal("0.02"),
            definition=MetricDefinition.objects.order_by("pk").first())
        outcomes = [Outcome.FAILED if n // 4 % 4 == 2 else Outcome.PASSED]
        if n // 4 % 4 == 3 and n % 2:
            outcomes = [Outcome.PASSED, Outcome.FAILED]
        for outcome in outcomes:
            Verdict.objects.create(
                criterion=criterion, outcome=outcome, figure=0.01 if outcome == Outcome.PASSED
                else 0.04, reason="judged", engine_version="practice", is_practice=True)

    def _leases(self, n: int, made: Engagement, model: MigratedModel, person: User) -> None:
        node, ended = self.nodes[n % NODES], timezone.now() - timedelta(hours=2 + 9 * n)
        job = Job.objects.create(
            kind="adapt.pytorch_train", engagement=made, model=model, stage=Stage.TRAIN_ADAPT,
            node=node, is_practice=True, created_by=person, cards_wanted=2, state="succeeded",
            started_at=ended - timedelta(hours=6), finished_at=ended)
        for card in range(2):
            CardLease.objects.create(node=node, card_index=card, job=job, fence=2 * n + card + 1,
                                     taken_at=job.started_at, released_at=ended)

    def _acceptance(self, n: int, made: Engagement, model: MigratedModel, manager: User,
                    reviewer: User, consultant: User) -> None:
        """Accepted with a condition near its day, and a claim that is open."""
        now = timezone.now()
        document = Document.objects.create(
            engagement=made, kind=Document.Kind.ACCEPTANCE, number=f"FA-{made.code}-01",
            state=Document.State.SIGNED, is_practice=True, created_by=manager,
            reviewed_by=consultant, reviewed_at=now, issued_by=manager, issued_at=now,
            content_hash="0" * 64)
        review = Review.objects.create(
            document=document, decision=Review.Decision.CONDITIONAL, reason="演练",
            decided_by=reviewer, decided_at=now)
        Condition.objects.create(
            review=review, model=model, description="补充并发压测（演练）", owner=str(consultant),
            due_on=self.today + timedelta(days=self.random.randint(-3, 6)))
        WarrantyClaim.objects.create(
            engagement=made, number=1, model=model, description="推理服务偶发超时（演练）",
            found_on=self.today - timedelta(days=n), is_covered=True, raised_by=reviewer,
            owner=consultant)


def _credit_code(text: str) -> str:
    """Seventeen characters with the check character of GB 32100 behind them."""
    total = sum(_LETTERS.index(letter) * pow(3, place, 31) for place, letter in enumerate(text))
    return text + _LETTERS[-total % 31]

