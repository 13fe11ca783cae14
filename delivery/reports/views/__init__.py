"""Pages of documents: doors that parse, call one service and answer."""

from delivery.reports.views.common import LANGUAGE_NAMES

__all__ = ["LANGUAGE_NAMES"]
