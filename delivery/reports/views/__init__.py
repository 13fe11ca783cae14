"""Pages of documents: doors that parse, call one service and answer."""

from delivery.reports.views.common import in_reading_order

__all__ = ["in_reading_order"]
