"""Leases of cards. A database constraint allows one holder per card; fences grow per node."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from engagements.audit import audit_log
from workers.models import CardLease, Job, Node


def take_cards(job: Job) -> list[int] | None:
    """Lease the cards the job wants; None while too few are free. Calling twice is harmless.

    Only the worker that holds the job's claim can take cards for it: one that was away too long
    gets None.
    """
    with transaction.atomic():
        node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=job.node_id)
        if not Job.objects.select_for_update(of=("self",), no_key=True).filter(
                pk=job.pk, claim_token=job.claim_token).exists():
            return None
        held = held_cards(job)
        if len(held) == job.cards_wanted:
            return held
        cards = choose_cards(free_cards(node), job.cards_wanted, node.ring_size)
        return _lease(job, node, cards) if cards else None


def take_cards_of_all(job: Job, members: list[Job]) -> dict[int, list[int]]:
    """Lease the cards of a job on several nodes: of all members or of none.

    The cards by member; empty while one of the nodes has too few free. Nodes are locked by their
    numbers, so that two such jobs do not wait for each other.
    """
    with transaction.atomic():
        nodes = {node.pk: node for node in Node.objects.select_for_update(
            of=("self",), no_key=True).filter(pk__in=[m.node_id for m in members]).order_by("pk")}
        if not Job.objects.select_for_update(of=("self",), no_key=True).filter(
                pk=job.pk, claim_token=job.claim_token).exists():
            return {}
        chosen = {}
        for member in members:
            node = nodes[member.node_id]
            cards = held_cards(member) or choose_cards(
                free_cards(node), member.cards_wanted, node.ring_size)
            if not cards:
                return {}
            chosen[member.pk] = cards
        for member in members:
            if not held_cards(member):
                _lease(member, nodes[member.node_id], chosen[member.pk])
        return chosen


def _lease(job: Job, node: Node, cards: list[int]) -> list[int]:
    Node.objects.filter(pk=node.pk).update(lease_counter=F("lease_counter") + 1)
    CardLease.objects.bulk_create(
        CardLease(node=node, card_index=card, job=job, fence=node.lease_counter + 1,
                  taken_at=timezone.now())
        for card in cards)
    audit_log.record(actor=None, action="cards.lease", target=job, engagement=job.engagement,
                     data={"node": node.name, "cards": cards, "fence": node.lease_counter + 1})
    return cards


def release_cards(job: Job) -> None:
    """Give the job's cards back; the caller's audit entry holds it."""
    job.leases.filter(released_at=None).update(released_at=timezone.now())


def held_cards(job: Job) -> list[int]:
    return sorted(job.leases.filter(released_at=None).values_list("card_index", flat=True))


def free_cards(node: Node) -> list[int]:
    """Cards of the node that no job holds and that are in no alarm."""
    busy = set(node.leases.filter(released_at=None).values_list("card_index", flat=True))
    return [card for card in usable_cards(node) if card not in busy]


def usable_cards(node: Node) -> list[int]:
    """Cards whose last known health is good and that are in no alarm, held or not."""
    known = {card.index: card.is_usable for card in node.cards.all()}
    indexes = sorted(known) or range(node.cards_total or 0)
    return [i for i in indexes if known.get(i, True)]


def choose_cards(free: list[int], wanted: int, ring_size: int = 4) -> list[int] | None:
    """Cards for a job: inside one ring where the number allows it, and the fullest ring first.

    Ascend 910 servers have two rings of four cards; the size of a ring is data of the node.
    """
    if wanted <= ring_size:
        rings = sorted({card // ring_size for card in free})
        by_ring = [[c for c in free if c // ring_size == r] for r in rings]
        fitting = [cards for cards in by_ring if len(cards) >= wanted]
        return min(fitting, key=len)[:wanted] if fitting else None
    return free[:wanted] if len(free) >= wanted else None
