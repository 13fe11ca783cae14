"""What a month's timesheet says: half-days, corrections, sums, contract days (DOMAIN 9.10)."""

from collections import defaultdict
from datetime import date
from decimal import Decimal

from delivery.planning.effort.margins import HALF_DAY
from delivery.planning.effort.usage import confirmed_days, quoted_days
from delivery.planning.models import TimeEntry
from engagements.models import Engagement

ZERO = Decimal(0)


def timesheet_facts(engagement: Engagement, month: date, number: int, entries: list[TimeEntry]
                    ) -> dict:
    """Plain data; days are strings with one decimal, those of a corrected entry negative.

    Nothing in it is a cost or a price: the customer confirms it.
    """
    rows = sorted((row for entry in entries for row in _rows(entry)),
                  key=lambda row: (row["date"], row["person"], row["half"], row["days"]))
    return {
        "engagement": {"code": engagement.code, "name": engagement.name,
                       "name_en": engagement.name_en, "contract": engagement.contract_number},
        "customer": {"name": engagement.customer.name, "name_en": engagement.customer.name_en},
        "month": f"{month:%Y-%m}", "number": number, "rows": rows,
        "people": _people(rows), "grades": _grades(engagement, rows),
        "days": _text(sum((Decimal(row["days"]) for row in rows), ZERO))}


def _rows(entry: TimeEntry) -> list[dict]:
    """One row; for a correction also what it takes back."""
    rows = [] if entry.is_taken_back else [_row(entry, HALF_DAY, entry.note)]
    if entry.corrects:
        rows.append({**_row(entry.corrects, -HALF_DAY, entry.note),
                     "corrects": str(entry.corrects.timesheet)})
    return rows


def _row(entry: TimeEntry, days: Decimal, note: str) -> dict:
    return {"date": f"{entry.work_date}", "half": entry.half,
            "person": entry.person.get_full_name(), "person_en": entry.person.full_name_en,
            "grade": entry.grade, "item": entry.item, "stage": entry.stage,
            "model": entry.model.code if entry.model else "", "note": note, "days": _text(days),
            "corrects": ""}


def _people(rows: list[dict]) -> list[dict]:
    days = _sums(rows, lambda row: (row["person"], row["person_en"], row["grade"]))
    return [{"person": person, "person_en": english, "grade": grade, "days": _text(sums)}
            for (person, english, grade), sums in sorted(days.items())]


def _grades(engagement: Engagement, rows: list[dict]) -> list[dict]:
    """Days of this sheet, confirmed before, together, and of the contract, per grade."""
    now, before = _sums(rows, lambda row: row["grade"]), confirmed_days(engagement)
    contract = quoted_days(engagement)
    return [{"grade": grade, "days": _text(now.get(grade, ZERO)),
             "before": _text(before.get(grade, ZERO)),
             "total": _text(now.get(grade, ZERO) + before.get(grade, ZERO)),
             "contract": _text(contract.get(grade, ZERO))}
            for grade in sorted({*now, *before, *contract})]


def _sums(rows: list[dict], key) -> dict:
    found = defaultdict(Decimal)
    for row in rows:
        found[key(row)] += Decimal(row["days"])
    return dict(found)


def _text(days: Decimal) -> str:
    return f"{days:.1f}"
