"""The pages of the audit log, its filter (time, actor, agent, action, object, engagement), export.
"""

from datetime import date, datetime, time, timedelta

from django import forms
from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_GET

from delivery.portal.audit import entry_details
from delivery.portal.audit.action_labels import AREAS
from delivery.portal.audit.log_check import check_log
from engagements.access import Can, require
from engagements.audit import audit_log, log_extracts
from engagements.errors import InvalidInput
from engagements.models import Agent, AuditArchive, AuditEntry, Engagement, User
from engagements.models.audit import AuditArchiveQuerySet
from engagements.web.paging import counted, page_of
from engagements.web.suggest_field import SuggestField

ENTRIES_PER_PAGE = 50
MOST_EXPORTED = 100_000


@require_GET
def audit_page(request):
    """Entries, newest first; with `?check` the chain is verified."""
    require(request.user, Can.AUDIT)
    filters = AuditFilter(request.user, request.GET)
    entries = filters.chosen(AuditEntry.objects.visible_to(request.user))
    if not request.user.is_outside:
        entries = entries.defer("rows")
    page = page_of(entries.select_related("actor", "engagement"), request.GET, ENTRIES_PER_PAGE,
                   1 if filters.is_by_text else None)
    entry_details.withhold(request.user, page.object_list)
    return render(request, "delivery/portal/audit.html", {
        "page": page,
        "filters": filters, "check": check_log() if "check" in request.GET else None,
        "archive": filters.archives(AuditArchive.objects.visible_to(request.user)).first()})


@require_GET
def audit_entry(request, pk):
    """One entry: what it says, and the rows it holds with their values before."""
    require(request.user, Can.AUDIT)
    entry = get_object_or_404(AuditEntry.objects.visible_to(request.user).select_related(
        "actor", "engagement"), pk=pk)
    count = sum(map(len, entry.rows.values()))
    entry_details.withhold(request.user, [entry])
    return render(request, "delivery/portal/audit_entry.html", {
        "entry": entry, "facts": entry_details.facts_of(entry),
        "not_shown": entry_details.NOT_SHOWN, "changes": entry_details.changes_of(entry),
        "more": 0 if entry.is_withheld else max(0, count - entry_details.MOST_ROWS)})


@require_GET
def audit_export(request):
    """The entries that fit, as a file that `verify.pyz` recomputes."""
    require(request.user, Can.AUDIT)
    entries = AuditFilter(request.user, request.GET).chosen(
        AuditEntry.objects.visible_to(request.user))
    asked = {name: value for name, value in request.GET.items() if value}
    return export_of(request.user, entries, asked)


def export_of(user: User, entries: QuerySet, asked: dict) -> StreamingHttpResponse:
    """The entries and those that name published heads. Raises InvalidInput for too many."""
    if counted(entries, MOST_EXPORTED) > MOST_EXPORTED:
        raise InvalidInput(_("More than %(n)d entries fit; narrow the time.") % {
            "n": MOST_EXPORTED})
    rows = (entries | AuditEntry.objects.filter(action=log_extracts.PUBLISHED)).order_by("pk")
    opens = log_extracts.is_open if user.is_outside else lambda entry: True
    lines = log_extracts.extract(rows.iterator(chunk_size=audit_log.ENTRIES_AT_ONCE), asked, opens)
    return StreamingHttpResponse(
        (line.encode(errors="surrogatepass") for line in lines),
        content_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="audit-log.jsonl"'})


class AuditFilter(forms.Form):
    """Fields that hold nonsense are left out of the filter."""

    text = forms.CharField(label=_("Object"), required=False, max_length=80)
    action = forms.ChoiceField(label=_("Action taken"), required=False, choices=lambda: [
        ("", _("All")), *((area, list(labels.items())) for area, labels in AREAS.items())])
    actor = SuggestField(User.objects.order_by("full_name"), label=_("Performed by"),
                         required=False, to_field_name="username")
    engagement = SuggestField(Engagement.objects.all(), label=_("Engagement"), required=False,
                              to_field_name="code")
    agent = SuggestField(Agent.objects.all(), label=_("Agent"), required=False, to_field_name="id")
    since = forms.DateField(label=pgettext_lazy("first day", "From"), required=False,
                            widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=pgettext_lazy("last day", "Until"), required=False,
                            widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, user: User, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.user = user
        if not user.sees_every_engagement:
            mine = Engagement.objects.visible_to(user)
            self.fields["engagement"].queryset = mine
            self.fields["agent"].queryset = Agent.objects.visible_to(user)
            self.fields["actor"].queryset = User.objects.filter(
                memberships__engagement__in=mine).distinct().order_by("full_name")
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
        if asked.get("agent"):
            fits &= by_agent(asked["agent"].pk)
        if asked.get("text"):
            fits &= Q(target_label__icontains=asked["text"])
            if self.user.is_outside:  # a name that is withheld is not found by its words
                fits &= log_extracts.open_targets()
        if asked.get("since"):
            fits &= Q(at__gte=_begin(asked["since"]))
        if asked.get("until"):
            fits &= Q(at__lt=_begin(asked["until"] + timedelta(days=1)))
        return entries.filter(fits)


def by_agent(agent: int) -> Q:
    """Entries of what the agent with this number did; its engagement's index leads to them."""
    return Q(engagement__in=Agent.objects.filter(pk=agent).values("engagement"),
             data__by__agent=agent)


def _begin(day: date) -> datetime:
    """Of a day where people are."""
    return timezone.make_aware(datetime.combine(day, time.min))
