"""Person-days of a statement of work agree in sum (DOMAIN R-QUO-08)."""

from copy import deepcopy
from decimal import Decimal

from django.utils.translation import override

from delivery.reports.kinds.statement_of_work import days_agree
from tests.delivery.reports.test_kinds import drafted, planned  # noqa: F401  (fixture)


def sentences(document) -> list[str]:
    with override("en"):
        return [problem.sentence for problem in days_agree(document)]


def test_tasks_and_personnel_agree_as_estimated(planned, people):  # noqa: F811
    assert sentences(drafted(planned, people, "SOW")) == []


def test_half_a_day_of_difference_is_named(planned, people):  # noqa: F811
    document = drafted(planned, people, "SOW")
    rows = document.snapshot["tables"]["tasks"]["rows"]
    total = sum(Decimal(row[-1]) for row in rows)
    rows[0] = [*rows[0][:-1], f"{Decimal(rows[0][-1]) + Decimal('0.5')}"]
    assert sentences(document) == [
        f"The tasks add up to {(total + Decimal('0.5')).normalize():f} person-days, the personnel "
        f"to {total.normalize():f}; bring estimate and quotation into line."]


def test_without_personnel_there_is_nothing_to_compare(planned, people):  # noqa: F811
    document = drafted(planned, people, "SOW")
    document.snapshot = deepcopy(document.snapshot)
    document.snapshot["tables"]["staffing"]["rows"] = []
    assert sentences(document) == []
