"""Administration pages of channels and of what was sent."""

from django.contrib import messages
from django.db.models import Count, OuterRef, Q, Subquery
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.notices import services
from delivery.notices.forms import ChannelForm, ReplayForm
from delivery.notices.models import Channel, Dispatch, SendAttempt
from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of
from engagements.web.row_pages import MoveRow


@require_GET
def channel_list(request):
    require(request.user, Can.MANAGE)
    newest = SendAttempt.objects.filter(channel=OuterRef("pk")).order_by("-pk").values("is_ok")
    return render(request, "delivery/notices/channels.html", {
        "channels": Channel.objects.visible_to(request.user).select_related("engagement").annotate(
            is_last_ok=Subquery(newest[:1]),
            given_up=Count("dispatches", filter=Q(dispatches__state=Dispatch.State.DEAD)))})


@require_http_methods(["GET", "POST"])
def channel_new(request):
    require(request.user, Can.MANAGE)
    form = ChannelForm(request.POST or None, of=request.user)
    if form.is_valid():
        channel = attempt_form(form, lambda: services.create_channel(
            actor=request.user, **form.cleaned_data))
        if channel and channel.new_secret:
            return _shown(request, channel)
        if channel:
            return redirect("notices:channel", channel.pk)
    return render(request, "delivery/notices/channel_form.html", {"form": form})


def _channel(request, pk: int) -> Channel:
    return get_object_or_404(
        Channel.objects.visible_to(request.user).select_related("engagement"), pk=pk)


@require_GET
def channel_page(request, pk):
    return _shown(request, _channel(request, pk))


def _shown(request, channel: Channel):
    rows = channel.dispatches.select_related("event__engagement")
    return render(request, "delivery/notices/channel.html", {
        "channel": channel, "attempts": channel.attempts.all()[:20],
        "overlaps": len(channel.signing_secrets(timezone.now())) > 1,
        "replay_form": ReplayForm(prefix="replay"),
        "dead": rows.filter(state=Dispatch.State.DEAD)[:50],
        "page": page_of(rows, request.GET, 30)})


@require_POST
def channel_rotate(request, pk):
    """A new secret, shown on the page that answers and never again."""
    channel = _channel(request, pk)
    rotated = attempt(request, lambda: services.rotate_secret(
        actor=request.user, channel=channel), _("The signing secret was replaced."))
    return _shown(request, rotated) if rotated else redirect("notices:channel", pk)


@require_POST
def channel_replay(request, pk):
    channel = _channel(request, pk)
    form, counts = ReplayForm(request.POST, prefix="replay"), []
    if form.is_valid():
        attempt(request, lambda: counts.append(services.replay(
            actor=request.user, channel=channel, since=form.cleaned_data["since"])),
            lambda: ngettext("%(n)s event is sent again.", "%(n)s events are sent again.",
                             counts[0]) % {"n": counts[0]})
    else:
        messages.error(request, _("Enter the time from which events are to be sent again."))
    return redirect("notices:channel", pk)


@require_GET
def attempt_page(request, pk):
    """One entry of the delivery log: what was sent, and how the answer began."""
    sent = get_object_or_404(SendAttempt.objects.visible_to(request.user).select_related(
        "channel"), pk=pk)
    return render(request, "delivery/notices/attempt.html", {"attempt": sent})


@require_http_methods(["GET", "POST"])
def channel_edit(request, pk):
    channel = _channel(request, pk)
    form = ChannelForm(request.POST or None, instance=channel, of=request.user)
    if form.is_valid() and attempt_form(form, lambda: services.update_channel(
            actor=request.user, channel=channel, **form.cleaned_data)):
        return redirect("notices:channel", pk)
    return render(request, "delivery/notices/channel_form.html",
                  {"form": form, "channel": channel})


@require_POST
def channel_switch(request, pk):
    channel = _channel(request, pk)
    attempt(request, lambda: services.switch_channel(
        actor=request.user, channel=channel, is_on=request.POST.get("on") == "yes"), _("Saved."))
    return redirect("notices:channel", pk)


channel_test = MoveRow.as_view(
    model=Channel, page="notices:channel", service=services.send_test_message,
    row_name="channel", success=_("The test message has arrived."))


@require_GET
def mail_log(request):
    """E-mails to people: what waits, was sent, was given up."""
    require(request.user, Can.MANAGE)
    rows = Dispatch.objects.visible_to(request.user).filter(channel=None).select_related(
        "event__engagement", "recipient")
    return render(request, "delivery/notices/mails.html", {
        "page": page_of(rows, request.GET, 30)})


@require_POST
def dispatch_again(request, pk):
    dispatch = get_object_or_404(Dispatch.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.send_again(actor=request.user, dispatch=dispatch),
            _("Sent again."))
    if dispatch.channel_id:
        return redirect("notices:channel", dispatch.channel_id)
    return redirect("notices:mails")
