"""The cards of a node as npu-smi shows them."""

from typing import Any

from django.utils import timezone

from workers.models import Card, Node
from workers.nodes.cards import alarms
from workers.nodes.cards.looks import CardLook, Look


def keep_cards(node: Node, chips: list[dict[str, Any]]) -> None:
    """Keep the chips of a reading of npu-smi, in their order, as the node's cards; their alarms
    open and end by it."""
    now = timezone.now()
    alarms.update(node, Look(0, {index: CardLook(
        temperature_c=chip.get("temperature_c"), health=chip.get("health") or "")
        for index, chip in enumerate(chips)}), now)
    for index, chip in enumerate(chips):
        used = chip.get("hbm_used_mb") if chip.get("hbm_total_mb") else chip.get("memory_used_mb")
        total = chip.get("hbm_total_mb") or chip.get("memory_total_mb")
        Card.objects.update_or_create(node=node, index=index, defaults={
            "npu_id": chip.get("npu") or 0, "chip_name": chip.get("name") or "",
            "health": chip.get("health") or "", "temperature_c": chip.get("temperature_c"),
            "power_w": chip.get("power_w"), "memory_used_mb": used, "memory_total_mb": total,
            "read_at": now})
