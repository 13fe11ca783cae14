"""Next steps: what waits for one person, and how an engagement goes on and by whom."""

from delivery.next_steps.engagement_steps import EngagementStep, engagement_steps
from delivery.next_steps.inbox import inbox_items
from delivery.next_steps.items import InboxItem

__all__ = ["EngagementStep", "InboxItem", "engagement_steps", "inbox_items"]
