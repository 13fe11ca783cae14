"""Pages on which an administrator sets who reviews and approves which kind."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.reports import registry, services
from delivery.reports.approvals import approval_steps
from delivery.reports.approvals.approval_steps import MOST_STEPS
from delivery.reports.models import Step
from engagements.access import require_administrator
from engagements.errors import InvalidInput
from engagements.models import Role
from engagements.models.engagement import localized
from engagements.web.form_actions import attempt


@require_GET
def chain_list(request):
    require_administrator(request.user)
    kinds = registry.all_kinds()
    chains = approval_steps.chains_of([kind.code for kind in kinds])
    return render(request, "delivery/reports/chains.html", {"rows": [
        {"kind": kind, "is_own": not is_shipped, "steps": _shown(steps)}
        for kind in kinds for steps, is_shipped in [chains[kind.code]]]})


def _shown(steps: list[dict]) -> list[dict]:
    """Steps with their words; `is_together` where one is co-signed with the step before."""
    return [{**step, "label": localized(step["title"], step["title_en"]),
             "who": Role(step["role"]).label if step["role"] else _("anyone permitted"),
             "is_together": n > 0 and step["position"] == steps[n - 1]["position"]}
            for n, step in enumerate(steps)]


@require_http_methods(["GET", "POST"])
def chain_edit(request, code):
    require_administrator(request.user)
    kind = _kind(code)
    steps, is_shipped = approval_steps.chains_of([code])[code]
    steps = _posted(request.POST) if request.method == "POST" else _shown(steps)
    if request.method == "POST" and attempt(
            request, lambda: services.save_chain(actor=request.user, kind=code, steps=steps),
            _("Saved; documents submitted from now on follow it.")):
        return redirect("reports:chains")
    blanks = [{"action": Step.Action.REVIEW}] * (MOST_STEPS - len(steps))
    return render(request, "delivery/reports/chain.html", {
        "kind": kind, "steps": [*steps[:-1], *blanks, *steps[-1:]],
        "actions": Step.Action.choices, "roles": Step._meta.get_field("role").choices,
        "is_own": not is_shipped})


def _kind(code: str):
    try:
        return registry.get(code)
    except InvalidInput as error:
        raise Http404 from error


def _posted(posted) -> list[dict]:
    """The rows of the form that have a title; the last row of the form approves."""
    rows = [{name: posted.get(f"{name}-{n}", "") for name in ("title", "title_en", "role")}
            | {"is_together": bool(posted.get(f"together-{n}"))} for n in range(MOST_STEPS)]
    last = MOST_STEPS - 1
    return [{**row, "action": Step.Action.APPROVE if n == last else Step.Action.REVIEW}
            for n, row in enumerate(rows) if row["title"].strip() or n == last]


@require_POST
def chain_reset(request, code):
    kind = _kind(code).code
    attempt(request, lambda: services.reset_chain(actor=request.user, kind=kind) or True,
            _("Default chain restored."))
    return redirect("reports:chains")
