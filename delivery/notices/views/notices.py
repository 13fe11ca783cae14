"""Pages of the inbox: each parses its request, calls one service and answers."""

from datetime import datetime

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.notices import queries, services
from delivery.notices.event_kinds import kinds_for
from delivery.notices.forms import MailSettingForm, PreferenceRow
from delivery.notices.models import Notice
from delivery.notices.transport.send_dispatches import mail_setting
from engagements.models import Engagement
from engagements.web.form_actions import attempt
from engagements.web.offered_choices import offered
from engagements.web.paging import page_of
from engagements.web.undo_note import write_note


@require_GET
def inbox(request):
    """The important ones, or those asked for; the others as a digest."""
    mine = Notice.objects.visible_to(request.user)
    if not {"all", "kind"} & {name for name, value in request.GET.items() if value}:
        mine = mine.important()
    return render(request, "delivery/notices/inbox.html", {
        "page": page_of(queries.filtered(mine, request.GET), request.GET, 30),
        "unread": queries.unread_count(request.user), "digest": queries.digest(request.user),
        "kinds": kinds_for(request.user),
        "engagements": offered(Engagement.objects.visible_to(request.user))})


@require_POST
def notice_open(request, pk):
    """Mark it read and go to the page it is about."""
    notice = get_object_or_404(Notice.objects.visible_to(request.user), pk=pk)
    was_unread = notice.read_at is None
    notice = services.mark_read(actor=request.user, notice=notice)
    if request.POST.get("stay") != "yes":
        return redirect(notice.event.path)
    if was_unread:
        _offer_unread(request, 1, notice.read_at)
    return redirect("notices:inbox")


@require_POST
def all_read(request):
    now = timezone.now()
    if count := services.mark_all_read(actor=request.user, at=now):
        _offer_unread(request, count, now)
    return redirect("notices:inbox")


def _offer_unread(request, count: int, read_at: datetime) -> None:
    messages.success(
        request, ngettext("%(n)d notice is marked as read.", "%(n)d notices are marked as read.",
                          count) % {"n": count},
        extra_tags=write_note(request.user, "notices.read", {"read_at": read_at.isoformat()}))


@require_http_methods(["GET", "POST"])
def preferences(request):
    """What one wants to hear: in general, or of the engagement named by the query string."""
    engagements = Engagement.objects.visible_to(request.user).order_by("code")
    code = request.GET.get("engagement", "")
    engagement = get_object_or_404(engagements, code=code) if code else None
    if request.method == "POST" and "mail-setting" in request.POST:
        return _mail_setting(request)
    rows = [PreferenceRow(request.POST or None, preference=preference)
            for preference in queries.preference_rows(request.user, engagement)]
    if request.method == "POST" and all(row.is_valid() for row in rows):
        attempt(request, lambda: services.set_preferences(
            actor=request.user, engagement=engagement,
            choices={row.kind.code: row.cleaned_data for row in rows}), _("Saved."))
        return redirect(request.get_full_path())
    return render(request, "delivery/notices/preferences.html", {
        "rows": rows, "engagement": engagement, "engagements": offered(engagements),
        "mail_form": MailSettingForm(instance=mail_setting(request.user))})


def _mail_setting(request):
    form = MailSettingForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: services.set_mail_setting(
            actor=request.user, **form.cleaned_data), _("Saved."))
    else:
        messages.error(request, _("Enter hours as 22:00, or leave both empty."))
    return redirect(request.get_full_path())
