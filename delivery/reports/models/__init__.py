from delivery.reports.models.chain import ChainStep, Step, Turn
from delivery.reports.models.document import Document, DocumentFile, DocumentStep
from delivery.reports.models.identity import Identity
from delivery.reports.models.rendering import RenderOrder
from delivery.reports.models.wording import Wording

__all__ = ["ChainStep", "Document", "DocumentFile", "DocumentStep", "Identity", "RenderOrder",
           "Step", "Turn", "Wording"]
