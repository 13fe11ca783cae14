"""docs/state-machines.md: a picture and a table of every state machine, drawn from its rows."""

from collections.abc import Iterable, Iterator
from functools import partial

from django.db.models import TextChoices
from django.utils import translation

from delivery.acceptance.review import transitions as reviews
from delivery.notices.event_kinds import KINDS
from delivery.planning.changes import proposal_transitions
from delivery.planning.changes import transitions as changes
from delivery.planning.control import transitions as weekly_reports
from delivery.planning.time import transitions as timesheets
from delivery.quotes import transitions as quotes
from delivery.reports import transitions as documents
from delivery.surveys import transitions as surveys
from engagements import closing, stages
from engagements.permissions import Can
from engagements.transitions import Transition, TransitionTable
from workers.dispatch import transitions as jobs
from workers.models import JobState

# Title, module of the table, states in their order.
MACHINES = (
    ("Engagements", closing, closing.State),
    ("Stages", stages, stages.StageState), ("Jobs", jobs, JobState),
    ("Surveys", surveys, surveys.State), ("Quotes", quotes, quotes.State),
    ("Change requests", changes, changes.State),
    ("Change proposals", proposal_transitions, proposal_transitions.State),
    ("Timesheets", timesheets, timesheets.State),
    ("Weekly reports", weekly_reports, weekly_reports.State),
    ("Documents", documents, documents.State), ("Reviews", reviews, reviews.ReviewState),
)
HEAD = """# State machines

Written by `manage.py regenerate` from the tables themselves. A row says from which states a move
leads where, with which label, who may make it (a right of `engagements/permissions.py` or a rule of
the table's module), which guards have to let it pass, what it does besides (a function there), the
action that the audit log keeps, and the event that people hear of. What nobody decides on stands
without a person: it follows from something else.
"""
COLUMNS = ("Move", "Label", "From", "To", "Who", "Guards", "Effect", "Audit action", "Event")


def as_markdown() -> str:
    """The document in English."""
    with translation.override("en"):
        return HEAD + "".join(_section(title, module.TRANSITIONS, states, module.__name__)
                              for title, module, states in MACHINES)


def _section(title: str, table: TransitionTable, states: type[TextChoices], module: str) -> str:
    order = partial(sorted, key=list(states).index)
    rows = [*table.items(), *table.automatic.items()]
    lines = [f"\n## {title}\n", f"`{module.replace('.', '/')}.py`\n", "```mermaid",
             "stateDiagram-v2", *(f"    {state}: {state.label}" for state in states),
             *_arrows(rows, order), "```\n",
             "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|",
             *(f"| {' | '.join(_cells(move, row, order))} |" for move, row in rows)]
    return "\n".join(lines) + "\n"


def _arrows(rows: Iterable[tuple[str, Transition]], order) -> Iterator[str]:
    """One arrow for all moves between the same two states."""
    moves: dict[tuple[str, str], list[str]] = {}
    for move, row in rows:
        for source in order(row.sources):
            if row.target and row.target != source:
                moves.setdefault((source, row.target), []).append(str(move))
    for (source, target), names in moves.items():
        yield f"    {source} --> {target}: {', '.join(dict.fromkeys(names))}"


def _cells(move: str, row: Transition, order) -> Iterator[str]:
    is_named = isinstance(move, TextChoices)
    yield f"`{move}`" if is_named else move
    yield str(row.label or move.label) if is_named else ""
    yield ", ".join(order(row.sources))
    yield row.target or "stays"
    yield ", ".join(right.value if isinstance(right, Can) else _name(right)
                    for right in row.permissions) or "–"
    yield ", ".join([*map(_name, row.guards), *["reason"] * row.needs_reason])
    yield _name(row.effect) if row.effect else ""
    yield f"`{row.audit.code}`" if row.audit else ""
    yield ", ".join(f"`{kind.code}`" for kind in KINDS.values()
                    if row.audit and kind.action == row.audit.code)


def _name(function) -> str:
    return function.__name__.strip("_").replace("_", " ")
