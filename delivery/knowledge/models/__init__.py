from delivery.knowledge.models.solved_case import CaseEvidence, SolvedCase

__all__ = ["CaseEvidence", "SolvedCase"]
