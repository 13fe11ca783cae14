"""Facts that every document carries (DOMAIN 9.1)."""

from datetime import datetime

from django.conf import settings
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from assessments.definitions.route_aspects import sides_of
from delivery.documents.bilingual import both, in_language, instant, named, pair
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
        "engagement": _engagement(source),
        "customer": _party(source, "customer", engagement.customer,
                           ("contact_phone", "contact_email")),
        "supplier": _party(source, "supplier", CompanyProfile.current(), ("phone", "email")),
        "look": theme_for(engagement.customer), "people": _people(engagement),
        "models": [_model(model) for model in source.models],
        "deliveries": sorted({side.value for model in source.models for side in sides_of(model)}),
        "references": _references(source),
        "versions": versions(source.document),
    }


def identity(document: Document, now: datetime, approved_by: User | None = None) -> dict:
    """What the cover and the sign-off block say; a draft has no approval."""
    turns = _turns(document)
    return {
        "kind": document.kind, "title": both(document.get_kind_display),
        "number": document.number, "version": document.version,
        "date": f"{timezone.localdate(now):%Y-%m-%d}", "issued_at": instant(now),
        "is_draft": approved_by is None,
        "prepared_by": _person(document.created_by),
        "prepared_on": _day(document.submitted_at),
        "reviewed_by": _person(document.reviewed_by), "reviewed_on": _day(document.reviewed_at),
        "approved_by": _person(approved_by, turns[-1].holder),
        "signoffs": [{
            "step": pair(turn.title, turn.title_en),
            **(_signed(approved_by, now, turn) if turn.action == Step.Action.APPROVE
               else _signed(turn.done_by, turn.done_at, turn))} for turn in turns],
        "replaces": str(document.replaces) if document.replaces else "",
        "change_note": document.change_note, "portal_url": settings.PUBLIC_URL,
    }


def _turns(document: Document) -> list[ApprovalTurn]:
    """The steps of the document's chain, the approval last; of a draft those that it would get."""
    found = list(document.turns.select_related("done_by", "holder")) if document.pk else []
    return found or [ApprovalTurn(document=document, **step) for step in chain_of(document.kind)]


def _signed(user: User | None, at: datetime | None, turn: ApprovalTurn) -> dict:
    return {**_person(user, turn.holder), "date": _day(at) if user else ""}


def both_of(text) -> dict[str, str]:
    """A lazy text in both languages."""
    return both(lambda: text)


def _day(at: datetime | None) -> str:
    return instant(at)[:10]


def _person(user: User | None, holder: User | None = None) -> dict:
    """Who did something; who did it in somebody's place (see `Delegation`) with that name."""
    if user is None:
        return {"name": "", "title": "", "organisation": ""}
    name = both(lambda: _("%(person)s (for %(absent)s)") % {
        "person": in_language(named(user), get_language()),
        "absent": in_language(named(holder), get_language())}
                ) if holder and holder != user else named(user)
    return {"name": name, "title": title_of(user), "organisation": organisation_of(user)}


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


def _engagement(source: Source) -> dict:
    engagement, agreed = source.engagement, source.agreement
    return {
        "code": engagement.code, "name": pair(engagement.name, engagement.name_en),
        "contract_number": agreed.value("contract_number") or "",
        "scope": both(engagement.get_scope_display),
        "description": pair(engagement.description, engagement.description_en),
        "starts_on": agreed.value("starts_on") or "", "ends_on": agreed.value("ends_on") or "",
    }


def _party(source: Source, name: str, row: Customer | CompanyProfile, fields: tuple[str, ...]
           ) -> dict:
    """Name and tax number as agreed; where to reach the party as its data say now."""
    return {**(source.agreement.value(name) or {"name": pair("", ""), "credit_code": ""}),
            **{field: pair(getattr(row, field), getattr(row, f"{field}_en"))
               for field in ("address", "contact_name")},
            **{field: getattr(row, field) for field in fields}}


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
    if number := source.agreement.value("contract_number"):
        rows.append(_reference(lambda: _("Contract"), number))
    rows += [_reference(lambda: _("Quotation"), quote.number, quote.version, quote.content_hash,
                        quote.issued_at, is_delivered=False) for quote in source.quotes]
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
