"""Which planning documents are stored, and the bytes of each.

| Document       | Working copy, rendered on request     | Issued, stored                          |
|----------------|---------------------------------------|-----------------------------------------|
| weekly report  | draft                                 | frozen                                  |
| change order   | draft                                 | submitted, with each approval, in force |
|                |                                       | or rejected, with each recorded result  |
| timesheet      | –                                     | submitted, answered, withdrawn          |
| minutes        | always: they have no state, and who   | –                                       |
|                | may write them may correct them       |                                         |
| plan (xlsx)    | always: it shows today's dates        | each baseline, the dates agreed on      |

An effort estimate is not printed; what the customer gets of it is the quote. Working copies say
that they are one, and the day.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Model

from delivery.documents.issued_files import stored_content
from delivery.planning import pdf_documents
from delivery.planning.models import ChangeRequest, Meeting, PlanBaseline, Timesheet, WeeklyReport
from delivery.planning.models.issued import IssuedRow


@dataclass(frozen=True)
class PrintedKind:
    """A kind of planning document.

    `page` is the name of the URL of a row's page, `engagement` the path from a row to its own.
    """

    model: type[Model]
    render: Callable[[Model, str], bytes]
    page: str = ""
    form: str = "pdf"
    engagement: str = "engagement"

    @property
    def is_issued(self) -> bool:
        """Whether its rows have a state in which files are stored."""
        return issubclass(self.model, IssuedRow)


def baseline_workbook(baseline: PlanBaseline, language: str) -> bytes:
    """As `baseline_xlsx`, whose library is loaded by the first call."""
    from delivery.planning.plan.plan_xlsx import baseline_xlsx  # openpyxl: not at start

    return baseline_xlsx(baseline, language)


KINDS = {
    "minutes": PrintedKind(Meeting, pdf_documents.minutes_pdf, "planning:meeting"),
    "weekly": PrintedKind(WeeklyReport, pdf_documents.weekly_pdf, "planning:weekly"),
    "change": PrintedKind(ChangeRequest, pdf_documents.change_pdf, "planning:change"),
    "timesheet": PrintedKind(Timesheet, pdf_documents.timesheet_pdf, "planning:timesheet"),
    "plan_baseline": PrintedKind(PlanBaseline, baseline_workbook, form="xlsx",
                                 engagement="plan__engagement"),
}


def kind_of(row: Model) -> str:
    """The key of a row's kind in KINDS."""
    return next(key for key, kind in KINDS.items() if isinstance(row, kind.model))


def planning_file(row: Model, language: str) -> bytes:
    """The document of a row: the stored one of an issued row, else a working copy rendered now.

    Raises FileNotReady until a worker has stored it, FileDamaged if it has changed since,
    DeskError for a draft that cannot be printed.
    """
    kind = KINDS[kind_of(row)]
    if kind.is_issued and not row.is_working_copy:
        return stored_content(row, row.files.filter(**row.edition), language, kind.form)
    return kind.render(row, language)
