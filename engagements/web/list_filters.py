"""The filters that every list of the API has where its rows know what is asked."""

from typing import Any

import django_filters
from django.db.models import Model, Value
from django.db.models.constants import LOOKUP_SEP
from django.db.models.functions import Coalesce
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django_filters.filterset import FilterSet
from django_filters.utils import get_model_field

from engagements.audit.changed_rows import keys_changed_since, known_from, newest_entry_since
from engagements.audit_rows.tracking import tracked_tables
from engagements.errors import InvalidInput
from engagements.web.engagement_codes import EngagementFilter

# Filter → columns that hold it, the first that the rows have.
PATHS = {
    "model": ("model", "record__model", "criterion__model", "artifact__model", "evaluation__model"),
    "stage": ("stage", "record__stage", "criterion__stage"),
    "state": ("state",),
}
OWNERS = ("", "model", "record__model", "artifact", "criteria_set", "criterion__criteria_set",
          "plan", "after__plan", "document", "review__document", "evaluation__model", "quote",
          "archived_engagements")
CREATED = ("created_at", "computed_at", "drafted_at", "recorded_at", "proposed_at", "opened_at",
           "review__opened_at", "raised_at", "imported_at", "indexed_at", "made_at", "started_at",
           "set_at", "found_at", "agreed_at", "at")
# Names of before, by the filter that every list has now.
DEPRECATED = {
    "engagement__code": "engagement", "model__engagement": "engagement",
    "artifact__engagement": "engagement", "record__model__engagement": "engagement",
    "archived_engagements__engagement": "engagement", "artifact__model": "model",
    "record__model": "model"}


class ChangedFilter(django_filters.IsoDateTimeFilter):
    """By the entries of the audit log that hold a row: those since a time, or none since then."""

    def filter(self, qs, value):
        if not value:
            return qs
        if value < (known := known_from()):
            raise InvalidInput(_(
                "Changes can be asked for from %(time)s on; read the whole list for what was "
                "before.") % {"time": localtime(known).isoformat(timespec="seconds")})
        changed: Any = {"pk__in": keys_changed_since(qs.model, value)}
        return qs.exclude(**changed) if self.exclude else qs.filter(**changed)


class ListOrder(django_filters.OrderingFilter):
    """By time of creation, or by the newest entry of the audit log that holds a row; rows of one
    moment, and those of which no entry since `known_from` tells, by key."""

    def filter(self, qs, value):
        if not value:
            return qs
        if {"changed", "-changed"} & set(value):
            qs = qs.annotate(changed_entry=Coalesce(
                newest_entry_since(qs.model, known_from()), Value(0)))
        return super().filter(qs, [*value, "-pk" if value[-1].startswith("-") else "pk"])

    def get_ordering_value(self, param: str) -> str:
        return param if param.endswith("pk") else super().get_ordering_value(param)


def common_filters(table: type[Model], base: type[FilterSet]) -> dict[str, django_filters.Filter]:
    """By name, those that the rows of a table can answer."""
    found = {name: base.filter_for_field(get_model_field(table, path), path)
             for name, paths in PATHS.items() if (path := _first(table, paths))}
    if engagement := _first(table, [f"{owner}{LOOKUP_SEP}engagement".removeprefix(LOOKUP_SEP)
                                    for owner in OWNERS]):
        found["engagement"] = EngagementFilter(engagement)
    if created := _first(table, CREATED):
        found["created_after"] = django_filters.IsoDateTimeFilter(
            field_name=created, lookup_expr="gte", help_text="Made at this time or later.")
        found["created_before"] = django_filters.IsoDateTimeFilter(
            field_name=created, lookup_expr="lt", help_text="Made before this time.")
    if table in tracked_tables():
        found["changed_after"] = ChangedFilter(
            field_name="changed_after", help_text="Written at this time or later, as the audit log "
            "has it: progress of a job is no change, its end is one.")
        found["changed_before"] = ChangedFilter(
            field_name="changed_before", exclude=True, help_text="Not written since this time.")
    fields = [(created or "pk", "created")]
    words = "`created`: the oldest first; `-created`: the newest."
    if "changed_after" in found:
        fields.append(("changed_entry", "changed"))
        words += (" `changed`: by the last change that `changed_after` can ask for; rows without "
                  "one come first.")
    found["ordering"] = ListOrder(fields=fields, help_text=words)
    return found


def _first(table: type[Model], paths) -> str | None:
    return next((path for path in paths if get_model_field(table, path)), None)
