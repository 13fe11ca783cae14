from delivery.knowledge.models.measured_figure import FigureRange, FiguresRead, ModelFigure
from delivery.knowledge.models.solved_case import CaseEvidence, SolvedCase

__all__ = ["CaseEvidence", "FigureRange", "FiguresRead", "ModelFigure", "SolvedCase"]
