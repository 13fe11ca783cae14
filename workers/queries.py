"""Reads that several doors share."""

from django.db.models import QuerySet

from workers.models import Node


def filtered_jobs(jobs: QuerySet, params) -> QuerySet:
    """The list's filter: engagement code, kind, state, node."""
    for name, field in (("engagement", "engagement__code"), ("kind", "kind"),
                        ("state", "state"), ("node", "node__name")):
        if params.get(name):
            jobs = jobs.filter(**{field: params[name]})
    return jobs.select_related("engagement", "model", "node", "created_by")


def cards_with_holders(node: Node) -> list[dict]:
    """The node's cards with the job that holds each; known by number where never read."""
    holders = {lease.card_index: lease.job for lease in
               node.leases.filter(released_at=None).select_related("job")}
    known = {card.index: card for card in node.cards.all()}
    indexes = sorted(known) or range(node.cards_total)
    return [{"index": i, "card": known.get(i), "job": holders.get(i)} for i in indexes]
