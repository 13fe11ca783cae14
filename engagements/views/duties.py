"""The page on which an administrator says how many people write, review and approve."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from engagements import duties, services
from engagements.access import require_administrator
from engagements.web.form_actions import attempt


@require_GET
def duty_list(request):
    require_administrator(request.user)
    return render(request, "engagements/duties.html", {
        "rows": [(rule, duties.people_of(rule)) for rule in duties.settable_rules()],
        "choices": duties.People.choices})


@require_POST
def duty_set(request, code):
    if code not in {rule.code for rule in duties.settable_rules()}:
        raise Http404
    attempt(request, lambda: services.set_people(
        actor=request.user, kind=code, people=request.POST.get("people", "")),
            _("Saved; applies to steps from now on."))
    return redirect("people:duties")
