"""All rules, in the order in which an engagement goes its way."""

from delivery.next_steps import agreements, control, documents, milestones, work
from delivery.next_steps.rules import NextStep

RULES: tuple[NextStep, ...] = (
    *milestones.RULES, *agreements.RULES, *work.RULES, *documents.RULES, *control.RULES)
