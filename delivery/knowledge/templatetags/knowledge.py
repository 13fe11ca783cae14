"""What the firm knows already, on the pages where it helps."""

from django import template

from delivery.knowledge import figure_queries, queries
from delivery.knowledge.diagnosis_labels import diagnosis_label
from delivery.knowledge.models import CaseEvidence, SolvedCase
from delivery.knowledge.models.measured_figure import figure_in_unit
from engagements.access import Can, allowed
from engagements.models import Engagement
from workers.models import Job
from workers.models.job import TROUBLED_STATES

register = template.Library()
register.filter(figure_in_unit)
register.filter(diagnosis_label)
SHOWN = 3


@register.inclusion_tag("delivery/knowledge/proposed_cases.html", takes_context=True)
def proposed_cases(context, job: Job) -> dict:
    """Solved cases whose signature a failed job shows, for the firm's people; else nothing."""
    user = context["request"].user
    if not allowed(user, Can.VIEW_INTERNAL) or job.state not in TROUBLED_STATES:
        return {"is_shown": False}
    found = queries.matches_of(job, user)
    first = found[:SHOWN]
    counted = SolvedCase.objects.noted().in_bulk([match.case.pk for match in first])
    noted_with = set(CaseEvidence.objects.filter(job=job).values_list("case", flat=True))
    return {"is_shown": True, "job": job, "user": user, "more": len(found) - len(first),
            "csrf_token": context.get("csrf_token"),
            "matches": [(match, counted[match.case.pk], match.case.pk in noted_with)
                        for match in first]}


@register.inclusion_tag("delivery/knowledge/similar_effort.html")
def similar_effort(engagement: Engagement) -> dict:
    """What similar models took in other engagements; for pages of the firm's people."""
    return {"similar": figure_queries.similar_effort(engagement)}


@register.inclusion_tag("delivery/knowledge/risk_hints.html")
def risk_hints(engagement: Engagement) -> dict:
    """What the library says against the plan; for pages of the firm's people."""
    return {"hints": figure_queries.risk_hints(engagement)}
