from delivery.reports.models.approval import ChainStep, Step, Turn
from delivery.reports.models.document import Document, DocumentFile, DocumentStep
from delivery.reports.models.render_job import RenderJob
from delivery.reports.models.standard_text import Wording

__all__ = [
    "ChainStep",
    "Document",
    "DocumentFile",
    "DocumentStep",
    "RenderJob",
    "Step",
    "Turn",
    "Wording",
]
