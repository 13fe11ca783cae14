from delivery.reports.models.approval import ApprovalStep, ApprovalTurn, Step
from delivery.reports.models.deliverable import Deliverable
from delivery.reports.models.document import Document, DocumentFile, DocumentStep
from delivery.reports.models.render_job import RenderJob
from delivery.reports.models.standard_text import StandardText

__all__ = [
    "ApprovalStep",
    "ApprovalTurn",
    "Deliverable",
    "Document",
    "DocumentFile",
    "DocumentStep",
    "RenderJob",
    "StandardText",
    "Step",
]
