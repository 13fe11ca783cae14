"""Administration pages of channels and of what was sent."""

from django.db.models import Count, OuterRef, Q, Subquery
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.notices import services
from delivery.notices.forms import ChannelForm
from delivery.notices.models import Channel, Dispatch, SendAttempt
from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of


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
    form = ChannelForm(request.POST or None, user=request.user)
    if form.is_valid():
        channel = attempt_form(form, lambda: services.create_channel(
            actor=request.user, **form.cleaned_data))
        if channel:
            return redirect("notices:channel", channel.pk)
    return render(request, "delivery/notices/channel_form.html", {"form": form})


def _channel(request, pk: int) -> Channel:
    return get_object_or_404(
        Channel.objects.visible_to(request.user).select_related("engagement"), pk=pk)


@require_GET
def channel_page(request, pk):
    channel = _channel(request, pk)
    rows = channel.dispatches.select_related("event__engagement")
    return render(request, "delivery/notices/channel.html", {
        "channel": channel, "attempts": channel.attempts.all()[:20],
        "dead": rows.filter(state=Dispatch.State.DEAD)[:50],
        "page": page_of(rows, request.GET, 30)})


@require_http_methods(["GET", "POST"])
def channel_edit(request, pk):
    channel = _channel(request, pk)
    form = ChannelForm(request.POST or None, instance=channel, user=request.user)
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


@require_POST
def channel_test(request, pk):
    channel = _channel(request, pk)
    attempt(request, lambda: services.send_test_message(actor=request.user, channel=channel),
            _("The test message has arrived."))
    return redirect("notices:channel", pk)


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
