from delivery.reports.models.document import Document, DocumentFile, DocumentStep
from delivery.reports.models.rendering import RenderOrder
from delivery.reports.models.wording import Wording

__all__ = ["Document", "DocumentFile", "DocumentStep", "RenderOrder", "Wording"]
