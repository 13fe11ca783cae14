"""One query over engagements, models, nodes, jobs, quotes and documents.

Every word has to be found in the row, in its own fields or in those of its engagement. Nothing is
found that the user's own lists would not show.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models import Quote
from delivery.reports.models import Document
from delivery.reports.registry import all_kinds as document_kinds
from engagements.models import Engagement, MigratedModel, User
from engagements.stages import DONE
from workers.kinds.base import all_kinds as job_kinds
from workers.kinds.base import title_of
from workers.models import Job, Node

MAX_HITS = 6  # of one source
MAX_QUERY_LENGTH = 80  # characters
ENGAGEMENT = ("code", "name", "name_en", "contract_number", "customer__name", "customer__name_en")
OF_ENGAGEMENT = tuple(f"engagement__{field}" for field in ENGAGEMENT)


@dataclass(frozen=True)
class Hit:
    """A row that was found. `state` is its code, `label` the state in words."""

    url: str
    title: str
    detail: str
    state: str = ""
    label: str = ""


@dataclass(frozen=True)
class Source:
    """One kind of row that is searched: the rows, the fields to look in, how a hit is shown.

    `kinds`: (code, title) of kinds that a row only names by code; `is_numbered`: #12 finds row 12.
    """

    title: Any
    icon: str
    rows: Callable[[User], QuerySet]
    fields: tuple[str, ...]
    hit: Callable[[Any], Hit]
    kinds: Callable[[], Iterable[tuple[str, str]]] = tuple
    is_numbered: bool = False


def search(user: User, text: str) -> list[tuple[Source, list[Hit]]]:
    """Sorts with at most MAX_HITS hits, one query each; empty sources are left out."""
    words = text[:MAX_QUERY_LENGTH].split()
    found = [(source, [source.hit(row) for row in _matching(source, user, words)])
             for source in SOURCES]
    return [(source, hits) for source, hits in found if hits] if words else []


def search_or_newest(user: User, text: str) -> list[tuple[Source, list[Hit]]]:
    """The hits of a query; before anything is typed, the user's newest engagements."""
    return search(user, text) if text else newest(user)


def newest(user: User) -> list[tuple[Source, list[Hit]]]:
    """The user's newest engagements, offered before anything is typed."""
    source = SOURCES[0]
    hits = [source.hit(row) for row in source.rows(user)[:MAX_HITS]]
    return [(source, hits)] if hits else []


def _matching(source: Source, user: User, words: list[str]) -> QuerySet:
    rows = source.rows(user)
    for word in words:
        rows = rows.filter(_condition(source, word))
    return rows[:MAX_HITS]


def _condition(source: Source, word: str) -> Q:
    """The word is in a field, in the title of the row's kind, or is the row's number."""
    condition = Q()
    for field in source.fields:
        condition |= Q(**{f"{field}__icontains": word})
    codes = [code for code, title in source.kinds()
             if word.casefold() in f"{code} {title}".casefold()]
    if codes:
        condition |= Q(kind__in=codes)
    if source.is_numbered and re.fullmatch(r"#?[0-9]{1,18}", word):
        condition |= Q(pk=int(word.lstrip("#")))
    return condition


def _engagement(row: Engagement) -> Hit:
    return Hit(reverse("engagements:engagement", args=[row.code]), row.localized_name,
               f"{row.code} · {row.customer.localized_name}", row.state, row.get_state_display())


def _model(row: MigratedModel) -> Hit:
    """Leads to the stage the model stands in."""
    records = list(row.stages.all())
    here = next((one for one in records if one.state not in DONE), records[-1])
    return Hit(reverse("engagements:stage", args=[row.engagement.code, row.code, here.stage]),
               f"{row.code} {row.localized_name}",
               f"{row.engagement.code} · {here.get_stage_display()}", here.state,
               here.get_state_display())


def _job(row: Job) -> Hit:
    place = [row.engagement and row.engagement.code, row.model and row.model.code,
             row.node and row.node.name]
    return Hit(reverse("workers:job", args=[row.pk]), f"#{row.pk} {title_of(row.kind)}",
               " · ".join(filter(None, place)), row.state, row.get_state_display())


def _node(row: Node) -> Hit:
    return Hit(reverse("workers:node", args=[row.pk]), row.name, f"{row.host}:{row.port}",
               row.state, row.get_state_display())


def _quote(row: Quote) -> Hit:
    return Hit(reverse("quotes:quote", args=[row.pk]), str(row),
               f"{row.engagement.code} · {row.engagement.customer.localized_name}",
               row.current_state, row.get_current_state_display())


def _document(row: Document) -> Hit:
    return Hit(reverse("reports:document", args=[row.pk]), str(row),
               f"{row.engagement.code} · {row.get_kind_display()}", row.state,
               row.get_state_display())


def _engagements(user: User) -> QuerySet:
    return Engagement.objects.visible_to(user).select_related("customer")


def _models(user: User) -> QuerySet:
    return (MigratedModel.objects.visible_to(user).current().select_related("engagement")
            .prefetch_related("stages").order_by("engagement__code", "position", "pk"))


def _jobs(user: User) -> QuerySet:
    return Job.objects.whole().visible_to(user).select_related("engagement", "model", "node")


def _quotes(user: User) -> QuerySet:
    quotes = Quote.objects.visible_to(user).select_related("engagement__customer")
    return quotes.defer("snapshot")


def _documents(user: User) -> QuerySet:
    return Document.objects.visible_to(user).select_related("engagement").defer("snapshot", "words")


def _job_titles() -> list[tuple[str, str]]:
    return [(kind.code, str(kind.title)) for kind in job_kinds()]


def _document_titles() -> list[tuple[str, str]]:
    return [(kind.code, str(kind.title)) for kind in document_kinds()]


SOURCES = (
    Source(_("Engagements"), "briefcase", _engagements, ENGAGEMENT, _engagement),
    Source(_("Models"), "cpu", _models,
           ("code", "name", "name_en", "task", "framework", *OF_ENGAGEMENT[:3]), _model),
    Source(_("Documents"), "file-certificate", _documents, ("number", *OF_ENGAGEMENT), _document,
           _document_titles),
    Source(_("Quotes"), "file-invoice", _quotes, ("number", "subject", *OF_ENGAGEMENT), _quote),
    Source(_("Jobs"), "terminal-2", _jobs,
           ("model__code", "model__name", "node__name", "engagement__code"), _job,
           _job_titles, is_numbered=True),
    Source(_("Nodes"), "server-2", Node.objects.visible_to, ("name", "host"), _node),
)
