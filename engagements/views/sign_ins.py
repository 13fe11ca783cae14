"""Pages of what signs in: API tokens, and one's own browsers."""

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements import services
from engagements.access import require_administrator
from engagements.forms import ApiTokenForm
from engagements.models import ApiToken, AuditEntry, SignIn, User
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of

LOG_INS_PER_PAGE = 50


@require_http_methods(["GET", "POST"])
def own_tokens(request):
    return _tokens(request, request.user)


@require_http_methods(["GET", "POST"])
def tokens(request, pk):
    """Those of somebody else: an administrator makes a service account's, and revokes anybody's."""
    require_administrator(request.user)
    return _tokens(request, get_object_or_404(User, pk=pk))


def _tokens(request, owner: User):
    form = ApiTokenForm(request.POST or None, owner=owner, initial={
        name: request.GET[name] for name in ("scope", "engagement") if name in request.GET})
    made = None
    if form.is_valid():
        made = attempt_form(form, lambda: services.create_token(
            actor=request.user, owner=owner, **form.cleaned_data))
    return render(request, "engagements/tokens.html", {
        "owner": owner, "key": made[1] if made else "",
        "is_calendar": bool(made) and made[0].scope == ApiToken.Scope.CALENDAR,
        "form": ApiTokenForm(owner=owner) if made else form,
        "may_create": owner == request.user or owner.is_service,
        "tokens": owner.api_tokens.select_related("engagement")})


@require_POST
def token_revoke(request, pk):
    token = get_object_or_404(ApiToken.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.revoke_token(actor=request.user, token=token),
            _("The token is revoked."))
    own = token.owner_id == request.user.pk
    return redirect("people:own_tokens") if own else redirect("people:tokens", token.owner_id)


@require_GET
def sign_ins(request):
    return render(request, "engagements/sign_ins.html", {
        "sign_ins": SignIn.objects.visible_to(request.user),
        "current": request.session.session_key})


@require_POST
def sign_ins_end(request, pk: int | None = None):
    """End one sign-in, or all but this one."""
    found = SignIn.objects.visible_to(request.user).exclude(session=request.session.session_key)
    if pk is not None:
        found = [get_object_or_404(found, pk=pk)]
    count = services.end_sign_ins(actor=request.user, sign_ins=list(found))
    messages.success(request, ngettext("%(n)s sign-in is ended.", "%(n)s sign-ins are ended.",
                                       count) % {"n": count})
    return redirect("people:sign_ins")


@require_GET
def log_ins(request):
    """Who signed in, out, or was refused, when and from where; `?person=` narrows to one."""
    require_administrator(request.user)
    entries = AuditEntry.objects.filter(action__in=[
        "user.login", "user.login_refused", "user.logout"]).select_related("actor")
    person = User.objects.filter(username=request.GET.get("person", "")).first()
    if person:
        entries = entries.filter(target_type=person._meta.label_lower, target_id=person.pk)
    return render(request, "engagements/log_ins.html", {
        "person": person, "page": page_of(entries, request.GET, LOG_INS_PER_PAGE)})
