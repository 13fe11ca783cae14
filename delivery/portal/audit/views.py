"""The page of the audit log, and its filter: actor, action, object and engagement."""

from django import forms
from django.db.models import Q, QuerySet
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from delivery.portal.audit.action_labels import AREAS
from delivery.portal.audit.log_check import check_log
from engagements.access import Can, require
from engagements.models import AuditArchive, AuditEntry, Engagement, User
from engagements.models.audit import AuditArchiveQuerySet
from engagements.web.paging import page_of
from engagements.web.suggest_field import SuggestField

ENTRIES_PER_PAGE = 50


@require_GET
def audit_page(request):
    """Entries, newest first; with `?check` the chain is verified."""
    require(request.user, Can.AUDIT)
    filters = AuditFilter(request.GET)
    entries = filters.chosen(AuditEntry.objects.visible_to(request.user))
    return render(request, "delivery/portal/audit.html", {
        "page": page_of(entries.select_related("actor", "engagement").defer("rows"), request.GET,
                        ENTRIES_PER_PAGE, 1 if filters.is_by_text else None),
        "filters": filters, "check": check_log() if "check" in request.GET else None,
        "archive": filters.archives(AuditArchive.objects.visible_to(request.user)).first()})


class AuditFilter(forms.Form):
    """Fields that hold nonsense are left out of the filter."""

    text = forms.CharField(label=_("Object"), required=False, max_length=80)
    action = forms.ChoiceField(label=_("Action taken"), required=False, choices=lambda: [
        ("", _("All")), *((area, list(labels.items())) for area, labels in AREAS.items())])
    actor = SuggestField(User.objects.order_by("full_name"), label=_("Performed by"),
                         required=False, to_field_name="username")
    engagement = SuggestField(Engagement.objects.all(), label=_("Engagement"), required=False,
                              to_field_name="code")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            is_choice = type(field) is forms.ChoiceField
            field.widget.attrs["class"] = "form-select" if is_choice else "form-control"

    @property
    def is_by_text(self) -> bool:
        return bool(self.data.get("text"))

    def archives(self, archives: AuditArchiveQuerySet) -> AuditArchiveQuerySet:
        """Those that may hold entries that fit, the newest first."""
        self.is_valid()
        engagement = self.cleaned_data.get("engagement")
        return (archives.of(engagement) if engagement else archives).order_by("-first_number")

    def chosen(self, entries: QuerySet) -> QuerySet:
        """The entries that fit."""
        self.is_valid()
        asked = self.cleaned_data
        fits = Q(**{name: asked[name] for name in ("action", "actor", "engagement")
                    if asked.get(name)})
        if asked.get("text"):
            fits &= Q(target_label__icontains=asked["text"])
        return entries.filter(fits)
