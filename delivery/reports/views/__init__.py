"""Pages of documents; each view calls one service."""

from delivery.reports.views.common import in_reading_order

__all__ = ["in_reading_order"]
