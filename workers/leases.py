"""Leases of cards. A database constraint allows one holder per card."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from workers.models import CardLease, Job, Node

RING = 4  # Ascend 910 servers: two rings of four cards; up to four cards stay in one ring


def take_cards(job: Job) -> list[int] | None:
    """Lease the cards the job wants; None while too few are free. Calling twice is harmless."""
    held = held_cards(job)
    if job.cards_wanted == 0 or len(held) == job.cards_wanted:
        return held
    cards = choose_cards(free_cards(job.node), job.cards_wanted)
    if cards is None:
        return None
    try:
        with transaction.atomic():
            CardLease.objects.bulk_create(
                CardLease(node=job.node, card_index=card, job=job, taken_at=timezone.now())
                for card in cards
            )
    except IntegrityError:  # another worker was quicker
        return None
    return cards


def release_cards(job: Job) -> None:
    """Give the job's cards back."""
    job.leases.filter(released_at=None).update(released_at=timezone.now())


def held_cards(job: Job) -> list[int]:
    return sorted(job.leases.filter(released_at=None).values_list("card_index", flat=True))


def free_cards(node: Node) -> list[int]:
    """Cards of the node that no job holds and whose last known health is not an alarm."""
    busy = set(node.leases.filter(released_at=None).values_list("card_index", flat=True))
    known = {card.index: card.health for card in node.cards.all()}
    indexes = sorted(known) or range(node.cards_total)
    return [i for i in indexes
            if i not in busy and known.get(i, "OK") in ("OK", "Warning", "UNKNOWN", "")]


def choose_cards(free: list[int], wanted: int) -> list[int] | None:
    """Cards for a job: inside one ring where the number allows it."""
    if wanted <= RING:
        rings = sorted({card // RING for card in free})
        by_ring = [[c for c in free if c // RING == r] for r in rings]
        fitting = [cards for cards in by_ring if len(cards) >= wanted]
        return min(fitting, key=len)[:wanted] if fitting else None
    return free[:wanted] if len(free) >= wanted else None
