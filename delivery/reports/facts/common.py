"""Facts that every document carries (DOMAIN 9.1)."""

from datetime import datetime

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.definitions.route_aspects import sides_of
from delivery.documents.bilingual import both, instant, named, pair
from delivery.documents.branding.theme import theme_for
from delivery.documents.models import CompanyProfile
from delivery.reports.approvals.approval_steps import chain_of
from delivery.reports.facts.source import Source
from delivery.reports.models import ApprovalTurn, Document, Step
from engagements.models import Customer, Engagement, Role, User


def common_facts(source: Source) -> dict:
    """Parties, people, models, what the document refers to, and its earlier versions."""
    engagement = source.engagement
    return {
        "engagement": _engagement(engagement), "customer": _customer(engagement.customer),
        "supplier": _supplier(),
        "look": theme_for(engagement.customer), "people": _people(engagement),
        "models": [_model(model) for model in source.models],
        "deliveries": sorted({side.value for model in source.models for side in sides_of(model)}),
        "references": _references(source),
        "versions": versions(source.document),
    }


def identity(document: Document, now: datetime, approved_by: User | None = None) -> dict:
    """What the cover and the sign-off block say; a draft has no approval."""
    return {
        "kind": document.kind, "title": both(document.get_kind_display),
        "number": document.number, "version": document.version,
        "date": f"{timezone.localdate(now):%Y-%m-%d}", "issued_at": instant(now),
        "is_draft": approved_by is None,
        "prepared_by": _person(document.created_by),
        "prepared_on": _day(document.submitted_at),
        "reviewed_by": _person(document.reviewed_by), "reviewed_on": _day(document.reviewed_at),
        "approved_by": _person(approved_by), "signoffs": _signoffs(document, approved_by, now),
        "replaces": str(document.replaces) if document.replaces else "",
        "change_note": document.change_note, "portal_url": settings.PUBLIC_URL,
    }


def _signoffs(document: Document, approved_by: User | None, now: datetime) -> list[dict]:
    """Every step of the chain with who did it: the sign-off block of the document."""
    if not document.pk or not (turns := list(document.turns.select_related("done_by"))):
        turns = [ApprovalTurn(document=document, **step) for step in chain_of(document.kind)]
    return [{"step": pair(turn.title, turn.title_en),
             **(_signed(approved_by, now) if turn.action == Step.Action.APPROVE
                else _signed(turn.done_by, turn.done_at))} for turn in turns]


def _signed(user: User | None, at: datetime | None) -> dict:
    return {**_person(user), "date": _day(at) if user else ""}


def both_of(text) -> dict[str, str]:
    """A lazy text in both languages."""
    return both(lambda: text)


def _day(at: datetime | None) -> str:
    return instant(at)[:10]


def _person(user: User | None) -> dict:
    return {"name": named(user), "title": title_of(user), "organisation": organisation_of(user),
            } if user else {"name": "", "title": "", "organisation": ""}


def title_of(user: User) -> dict[str, str]:
    """The job title; in English the role, where there is only a Chinese title."""
    is_latin = user.job_title.isascii() and user.job_title
    return {"zh-hans": user.job_title or both(user.get_role_display)["zh-hans"],
            "en": user.job_title_en or (
                user.job_title if is_latin else both(user.get_role_display)["en"])}


def organisation_of(user: User) -> dict[str, str]:
    """The company; in English as the account says, else as the firm or customer of that name."""
    name = user.organisation
    if user.organisation_en:
        return pair(name or user.organisation_en, user.organisation_en)
    known = (CompanyProfile.objects.filter(name=name).first()
             or Customer.objects.filter(name=name).first()) if name else None
    return pair(name, known.name_en if known else "")


def _engagement(engagement: Engagement) -> dict:
    return {
        "code": engagement.code, "name": pair(engagement.name, engagement.name_en),
        "contract_number": engagement.contract_number,
        "scope": both(engagement.get_scope_display),
        "description": pair(engagement.description, engagement.description_en),
        "starts_on": f"{engagement.starts_on or ''}", "ends_on": f"{engagement.ends_on or ''}",
    }


def _customer(customer: Customer) -> dict:
    fields = ("credit_code", "contact_phone", "contact_email")
    return {"name": pair(customer.name, customer.name_en),
            "address": pair(customer.address, customer.address_en),
            "contact_name": pair(customer.contact_name, customer.contact_name_en),
            **{name: getattr(customer, name) for name in fields}}


def _supplier() -> dict:
    """The firm's own particulars."""
    profile = CompanyProfile.current()
    return {**{field: pair(getattr(profile, field), getattr(profile, f"{field}_en"))
               for field in ("name", "address", "contact_name")},
            **{field: getattr(profile, field) for field in ("credit_code", "phone", "email")}}


def _people(engagement: Engagement) -> list[dict]:
    """Who answers for the project on either side; others of the firm stay within it."""
    rows = engagement.memberships.filter(role__in=(Role.MANAGER, Role.REVIEWER)).select_related(
        "user")
    return [{**_person(row.user), "role": both(row.get_role_display),
             "is_customer": row.user.is_reviewer,
             "is_in_charge": row.role in (Role.MANAGER, Role.REVIEWER)} for row in rows]


def _model(model) -> dict:
    size = model.parameters_billion
    return {"code": model.code, "name": pair(model.name, model.name_en),
            "task": pair(model.task, model.task_en), "framework": model.framework,
            "scope": both(model.get_scope_display),
            "parameters_billion": "" if size is None else f"{size.normalize():f}"}


def _references(source: Source) -> list[dict]:
    """Contract, quote, signed criteria, and the documents this one rests on, with hashes."""
    engagement, rows = source.engagement, []
    if engagement.contract_number:
        rows.append(_reference(lambda: _("Contract"), engagement.contract_number))
    if source.quote:
        rows.append(_reference(lambda: _("Quotation"), source.quote.number,
                               source.quote.version, source.quote.content_hash,
                               source.quote.issued_at, is_delivered=False))
    if source.criteria and source.criteria.signed_at:
        rows.append(_reference(lambda: _("Signed acceptance criteria"), engagement.code,
                               source.criteria.version, source.criteria.content_hash,
                               source.criteria.signed_at))
    return rows + [_reference(other.get_kind_display, other.number, f"{other.version}.0",
                              other.content_hash, other.issued_at)
                   for other in _others(source.document)]


def _reference(title, number: str, version="", digest: str = "", at: datetime | None = None,
               *, is_delivered: bool = True) -> dict:
    return {"title": both(title), "number": number, "version": f"V{version}" if version else "",
            "hash": digest, "date": _day(at), "is_delivered": is_delivered and bool(digest)}


def _others(document: Document):
    """Documents of the engagement in force, without earlier versions of this one."""
    return document.engagement.documents.in_force().without_facts().exclude(
        pk__in=[document.pk, document.replaces_id]).order_by("pk")


def versions(document: Document) -> list[dict]:
    """The revision history, oldest first, this version last."""
    chain, current = [], document
    while current.replaces:
        current = current.replaces
        chain.append({"version": f"V{current.version}.0", "date": instant(current.issued_at)[:10],
                      "note": current.change_note, "who": named(current.created_by),
                      "approved": named(current.issued_by)})
    return chain[::-1]
