"""Sets up the sample firm and its engagements through the services that people use."""

from datetime import date, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import override

from assessments.services import load_standard_definitions
from delivery.demo.sample_firm import (
    COMPANY,
    CUSTOMERS,
    MAIL,
    NODE_NAME,
    PASSWORD,
    PEOPLE,
    SAMPLE,
    SampleEngagement,
    day_of,
)
from delivery.demo.sample_planning import load_control, load_plan, load_records, load_time
from delivery.demo.sample_survey import load_survey
from delivery.demo.step_memory import StepMemory, begin_practice
from delivery.documents.models import CompanyProfile
from delivery.planning.plan.working_days import firm_days, is_working_day
from delivery.quotes.services import load_rate_cards
from engagements import services
from engagements.audit import audit_log
from engagements.models import Customer, Engagement, Role, User
from engagements.stages import Scope
from workers.models import Node

PARTS = ("admin", "manager", "lead", "consultant", "sales", "operator", "reviewer")
DAYS_A_STEP = 8  # working days that are booked in one transaction


@transaction.atomic
def load_sample() -> Engagement:
    """Create the firm, its people, rate cards and definitions, and its first engagement.

    Safe to repeat: what exists stays as it is.
    """
    load_standard_definitions()
    if not CompanyProfile.objects.exists():
        CompanyProfile.objects.create(**COMPANY)
    is_new = [_add_person(username) for username in PEOPLE]
    admin = User.objects.get(username="admin")
    if any(is_new):
        audit_log.record(actor=admin, action="sample.load", target=admin)
    load_rate_cards(actor=admin)
    begin_practice()
    return (Engagement.objects.filter(code=SAMPLE.code).first()
            or set_up(SAMPLE, StepMemory(SAMPLE.code), crew_of(SAMPLE)))


def _add_person(username: str) -> bool:
    """Whether the person was not there."""
    role, *texts = PEOPLE[username]
    in_both = {name: text for field, (zh, en) in zip(
        ("full_name", "job_title", "organisation"), texts, strict=True)
        for name, text in ((field, zh), (f"{field}_en", en))}
    user, created = User.objects.get_or_create(username=username, defaults={
        **in_both, "role": role, "email": f"{username}{MAIL}",
        "is_staff": role == Role.ADMINISTRATOR, "is_superuser": role == Role.ADMINISTRATOR})
    if created:
        user.set_password(PASSWORD)
        user.save()
    return created


def crew_of(spec: SampleEngagement) -> dict[str, User]:
    """Everybody by the part they play in the engagement."""
    users = {user.username: user for user in User.objects.all()}
    return {part: users[spec.username(part)] for part in PARTS}


def set_up(spec: SampleEngagement, memory: StepMemory, who: dict[str, User]) -> Engagement:
    """Customer, engagement, models, survey, estimate, plan, risks, time; what exists stays."""
    with override("zh-hans"):
        today = date.fromisoformat(memory.once("today", lambda: str(timezone.localdate())))
        pk = memory.once("engagement", lambda: _engagement(spec, who, today).pk)
        engagement = Engagement.objects.get(pk=pk)
        memory.once("answers", lambda: load_survey(
            engagement, who["reviewer"], who["consultant"],
            {**spec.survey, "deadline": str(engagement.ends_on)}).pk)
        memory.once("plan", lambda: load_plan(spec, engagement, who))
        memory.once("control", lambda: load_control(spec, engagement, who, today))
        days = _working_days(spec.worked, today + timedelta(days=spec.worked_until))
        for first in range(0, len(days), DAYS_A_STEP):
            memory.once("time", lambda some=days[first:first + DAYS_A_STEP]: load_time(
                some, engagement, who["consultant"]))
        if spec.has_records:
            memory.once("records", lambda: load_records(engagement, who))
    return engagement


def _engagement(spec: SampleEngagement, who: dict[str, User], today: date) -> Engagement:
    manager = who["manager"]
    customer = Customer.objects.filter(name=spec.customer).first() or services.create_customer(
        actor=manager, name=spec.customer, **CUSTOMERS[spec.customer])
    engagement = services.create_engagement(
        actor=manager, code=spec.code, name=spec.name, name_en=spec.name_en, customer=customer,
        contract_number=spec.contract_number, scope=Scope.FULL,
        starts_on=day_of(spec.began, today), ends_on=day_of(spec.ends, today),
        description=spec.description, description_en=spec.description_en)
    services.mark_practice(engagement=engagement)
    services.add_members(actor=manager, engagement=engagement,
                         users=[who[part] for part in PARTS if part != "manager"])
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


def _working_days(count: int, before: date) -> list[date]:
    """The last working days before a day, oldest first."""
    found, day, firm = [], before, firm_days()
    while len(found) < count:
        day -= timedelta(days=1)
        if is_working_day(day, firm):
            found.append(day)
    return found[::-1]


def holds_real_work() -> bool:
    """Whether people were entered without the sample, as `manage.py begin` does."""
    return (User.objects.exists()
            and not User.objects.filter(email__endswith=MAIL).exists())


def practice_node_is_enrolled() -> bool:
    """Whether the sample's node is there."""
    return Node.objects.filter(name=NODE_NAME).exists()
