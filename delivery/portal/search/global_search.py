"""One query over engagements, models, nodes, jobs, quotes and documents.

Every word has to be found in the row, in its own words or in those of its engagement. Nothing is
found that the user's own lists would not show. Of more than MOST_LOOKED_AT rows that fit some are
shown, not the newest of all.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models import WarrantyClaim
from delivery.planning.models import Risk
from delivery.planning.people.capacity import people_of_the_firm
from delivery.quotes.models import Quote
from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.models import Engagement, MigratedModel, User
from engagements.search_index import entries_holding
from engagements.stages import DONE, StageState
from workers.kinds.base import all_kinds as job_kinds
from workers.kinds.base import title_of
from workers.models import Job, Node

MAX_HITS = 6  # of one source
MAX_QUERY_LENGTH = 80  # characters
MOST_LOOKED_AT = 200  # rows of one source that fit


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
    """One kind of row that is searched: the rows, how a hit is shown, and the query for a text
    where it is not that of the index."""

    title: Any
    icon: str
    table: type[Model]
    rows: Callable[[User], QuerySet]
    hit: Callable[[Any], Hit]
    matching: Callable[[User, str], QuerySet] | None = None

    def found(self, user: User, text: str) -> list[Hit]:
        if self.matching:
            rows = self.matching(user, text)
        else:
            keys = sorted(_keys(self.table, user, text), reverse=True)
            rows = self.rows(user).filter(pk__in=keys)[:MAX_HITS]
        return [self.hit(row) for row in rows]


def search(user: User, text: str) -> list[tuple[Source, list[Hit]]]:
    """Sorts with at most MAX_HITS hits; empty sources are left out."""
    text = text[:MAX_QUERY_LENGTH].strip()
    found = [(source, source.found(user, text)) for source in SOURCES] if text else []
    return [(source, hits) for source, hits in found if hits]


def search_or_newest(user: User, text: str) -> list[tuple[Source, list[Hit]]]:
    """The hits of a query; before anything is typed, the user's newest engagements."""
    return search(user, text) if text else newest(user)


def newest(user: User) -> list[tuple[Source, list[Hit]]]:
    """The user's newest engagements, offered before anything is typed."""
    source = SOURCES[0]
    hits = [source.hit(row) for row in source.rows(user)[:MAX_HITS]]
    return [(source, hits)] if hits else []


def _matching_jobs(user: User, text: str) -> QuerySet:
    """Jobs have no words of their own: they are found by kind and number, and by the words of
    their engagement, model and node."""
    rows = Job.objects.whole().visible_to(user).listed()
    words = text.split()
    for word in words:
        rows = rows.filter(_job_condition(user, word, is_alone=len(words) == 1))
    return rows[:MAX_HITS]


def _job_condition(user: User, word: str, is_alone: bool) -> Q:
    if re.fullmatch(r"#[0-9]{1,18}", word):
        return Q(pk=int(word[1:]))
    codes = [kind.code for kind in job_kinds()
             if word.casefold() in f"{kind.code} {kind.title}".casefold()]
    nodes = list(Node.objects.filter(name__icontains=word).values_list("pk", flat=True))
    fits = Q(kind__in=codes) | Q(node__in=nodes)
    if re.fullmatch(r"[0-9]{1,18}", word):
        fits |= Q(pk=int(word))
    for table, column in ((Engagement, "engagement"), (MigratedModel, "model")):
        keys = _keys(table, user, word)
        fits |= Q(**{f"{column}__in": _with_newest_jobs(table, column, keys) if is_alone else keys})
    return fits


def _with_newest_jobs(table: type[Model], column: str, keys: list[int]) -> list[int]:
    """Of these rows the few whose jobs are the newest: no job of the others would be shown."""
    newest = Job.objects.whole().filter(**{column: OuterRef("pk")}).order_by("-pk").values("pk")[:1]
    return list(table.objects.filter(pk__in=keys).annotate(newest_job=Subquery(newest)).exclude(
        newest_job=None).order_by("-newest_job").values_list("pk", flat=True)[:MAX_HITS])


def _keys(table: type[Model], user: User, text: str) -> list[int]:
    entries = entries_holding(table, text).visible_to(user)
    return list(entries.values_list("key", flat=True)[:MOST_LOOKED_AT])


def _engagement(row: Engagement) -> Hit:
    return Hit(reverse("engagements:engagement", args=[row.code]), row.localized_name,
               f"{row.code} · {row.customer.localized_name}", row.state, row.get_state_display())


def _model(row: MigratedModel) -> Hit:
    """Leads to the stage the model stands in: the first that is open, else the last in scope."""
    records = list(row.stages.all())
    here = next((one for one in records if one.state not in DONE), None) or next(
        (one for one in reversed(records) if one.state != StageState.SKIPPED), records[-1])
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


def _quotes(user: User) -> QuerySet:
    quotes = Quote.objects.visible_to(user).select_related("engagement__customer")
    return quotes.without_facts()


def _documents(user: User) -> QuerySet:
    return Document.objects.visible_to(user).select_related("engagement").defer("snapshot", "words")


def _risk(row: Risk) -> Hit:
    return Hit(reverse("planning:risk", args=[row.pk]), str(row), row.engagement.code, row.state,
               row.get_state_display())


def _claim(row: WarrantyClaim) -> Hit:
    return Hit(reverse("acceptance:warranty", args=[row.engagement.code]), str(row),
               row.description[:80])


def _person(row: User) -> Hit:
    return Hit(reverse("planning:person", args=[row.username]), str(row),
               row.localized_job_title)


def _people(user: User) -> QuerySet:
    """Colleagues who work on engagements; a customer finds nobody."""
    return people_of_the_firm({}) if allowed(user, Can.VIEW_INTERNAL) else User.objects.none()


SOURCES = (
    Source(_("Engagements"), "briefcase", Engagement, _engagements, _engagement),
    Source(_("Models"), "cpu", MigratedModel, _models, _model),
    Source(_("Documents"), "file-certificate", Document, _documents, _document),
    Source(_("Quotes"), "file-invoice", Quote, _quotes, _quote),
    Source(_("Risks"), "alert-triangle", Risk,
           lambda user: Risk.objects.visible_to(user).select_related("engagement"), _risk),
    Source(_("Warranty claims"), "gavel", WarrantyClaim,
           lambda user: WarrantyClaim.objects.visible_to(user).select_related("engagement"),
           _claim),
    Source(_("People"), "users", User, _people, _person),
    Source(_("Jobs"), "terminal-2", Job, Job.objects.visible_to, _job, _matching_jobs),
    Source(_("Nodes"), "server-2", Node, Node.objects.visible_to, _node),
)
