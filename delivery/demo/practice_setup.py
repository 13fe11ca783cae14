"""Sets up an engagement of the first start through the services people use."""

from datetime import date, timedelta

from django.utils import timezone
from django.utils.translation import override

from delivery.demo.practice_engagements import CUSTOMERS, PEOPLE, PracticeEngagement
from delivery.demo.sample_engagement import MAIL, PASSWORD, person_facts
from delivery.demo.sample_survey import load_survey
from delivery.demo.step_memory import StepMemory
from delivery.planning.plan.working_days import is_working_day
from delivery.planning.services import control, estimates, plans, time_entries
from engagements import services
from engagements.audit import audit_log
from engagements.models import Customer, Engagement, User
from engagements.stages import Scope, Stage

TEAM = ("lead", "consultant", "sales", "operator", "reviewer", "admin")
DAYS_A_STEP = 8  # working days that are booked in one transaction


def load_people(memory: StepMemory, admin: User) -> None:
    """The people that the sample engagement does not have."""
    for username in PEOPLE:
        memory.once(f"person.{username}", lambda name=username: _person(name, admin).pk)


def _person(username: str, admin: User) -> User:
    """The address comes second: next to it the password of the practice would be too weak."""
    person = services.add_person(
        actor=admin, username=username, password=PASSWORD, **person_facts(*PEOPLE[username]))
    return services.update_person(actor=admin, person=person, email=f"{username}{MAIL}")


def crew_of(spec: PracticeEngagement) -> dict[str, User]:
    """Everybody by the part they play in the engagement."""
    users = {user.username: user for user in User.objects.all()}
    return {part: users[spec.username(part)]
            for part in ("admin", "manager", "lead", "consultant", "sales", "operator",
                         "reviewer")}


def set_up(spec: PracticeEngagement, memory: StepMemory, who: dict[str, User]) -> Engagement:
    """Customer, engagement, models, survey, estimate, plan, risks, time; what exists stays."""
    with override("zh-hans"):
        today = date.fromisoformat(memory.once("today", lambda: str(timezone.localdate())))
        pk = memory.once("engagement", lambda: _engagement(spec, who, today).pk)
        engagement = Engagement.objects.get(pk=pk)
        memory.once("answers", lambda: load_survey(
            engagement, who["reviewer"], who["consultant"],
            {**spec.survey, "deadline": str(engagement.ends_on)}).pk)
        memory.once("plan", lambda: _plan(engagement, who))
        memory.once("control", lambda: _control(spec, engagement, who, today))
        days = _working_days(spec.worked, today + timedelta(days=spec.worked_until))
        for first in range(0, len(days), DAYS_A_STEP):
            memory.once("time", lambda some=days[first:first + DAYS_A_STEP]: _time(
                some, engagement, who["consultant"]))
    return engagement


def _engagement(spec: PracticeEngagement, who: dict[str, User], today: date) -> Engagement:
    manager = who["manager"]
    customer = Customer.objects.filter(name=spec.customer).first() or services.create_customer(
        actor=manager, name=spec.customer, **CUSTOMERS[spec.customer])
    engagement = services.create_engagement(
        actor=manager, code=spec.code, name=spec.name, name_en=spec.name_en, customer=customer,
        contract_number=spec.contract_number, scope=spec.scope,
        starts_on=today + timedelta(days=spec.began), ends_on=today + timedelta(days=spec.ends),
        description=spec.description, description_en=spec.description_en)
    services.mark_practice(engagement=engagement)
    services.add_members(actor=manager, engagement=engagement, users=[who[p] for p in TEAM])
    for model in spec.models:
        services.add_model(
            actor=manager, engagement=engagement, code=model.code, name=model.name,
            name_en=model.name_en, task=model.task, task_en=model.task_en,
            framework=model.framework, parameters_billion=model.size, scope=model.scope,
            inference_route=model.inference,
            training_route="" if model.scope == Scope.INFERENCE else model.training)
    audit_log.record(actor=manager, action="sample.load", target=engagement,
                     engagement=engagement)
    return engagement


def _plan(engagement: Engagement, who: dict[str, User]) -> None:
    estimate = estimates.draft_estimate(actor=who["consultant"], engagement=engagement)
    estimates.approve_estimate(actor=who["manager"], estimate=estimate)
    made = plans.draft_plan(actor=who["manager"], engagement=engagement,
                            starts_on=engagement.starts_on)
    plans.take_baseline(actor=who["manager"], plan=made)
    first = made.tasks.select_related("plan__engagement", "model").first()
    plans.update_task(actor=who["manager"], task=first, owner=who["consultant"],
                      started_on=engagement.starts_on)


def _control(spec: PracticeEngagement, engagement: Engagement, who: dict[str, User],
             today: date) -> None:
    soon = today + timedelta(days=10)
    for risk in spec.risks:
        control.add_risk(actor=who["manager"], engagement=engagement, owner=who["lead"],
                         review_on=soon, **risk)
    for description in spec.issues:
        control.add_issue(actor=who["consultant"], engagement=engagement, level="major",
                          owner=who["consultant"], description=description,
                          effect="影响训练调优进度（演练）", raised_on=today - timedelta(days=6),
                          due_on=today + timedelta(days=4 if spec.ends > 0 else -2))


def _working_days(count: int, before: date) -> list[date]:
    """The last working days before a day, oldest first."""
    found, day = [], before
    while len(found) < count:
        day -= timedelta(days=1)
        if is_working_day(day):
            found.append(day)
    return found[::-1]


def _time(days: list[date], engagement: Engagement, consultant: User) -> None:
    models = list(engagement.models.all())
    for day in days:
        time_entries.record_day(
            halves=["am", "pm"], actor=consultant, engagement=engagement, work_date=day,
            item="survey", grade="senior", model=models[day.toordinal() % len(models)],
            stage=Stage.SURVEY, note="调研、方案与适配（演练）")
