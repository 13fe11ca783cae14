"""From the cells of a price sheet and a choice of columns to priced lines, and their arithmetic."""

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.quotes.models import PriceImport, PriceLine, RateCard
from delivery.quotes.money import to_cents
from engagements.stages import Stage
from engagements.text.text_joining import listed

# field: (label, heading words that mean it)
FIELDS = {
    "name": (gettext_lazy("Item"), "云资源|资源|报价项|服务项|名称|项目|item|name|resource"),
    "name_en": (gettext_lazy("Item (English)"), "英文|english"),
    "code": (gettext_lazy("Code"), "编码|编号|代码|code|sku"),
    "category": (gettext_lazy("Category"), "类别|分类|category"),
    "specification": (gettext_lazy("Specification"), "规格|配置|工作内容|交付物|描述|spec|desc"),
    "grade": (gettext_lazy("Grade"), "级别|职级|grade|level"),
    "unit": (gettext_lazy("Unit"), "单位|量纲|unit$|uom"),
    "quantity": (gettext_lazy("Quantity"), "数量|qty|quantity"),
    "stage": (gettext_lazy("Stage"), "阶段|stage|phase"),
    "unit_cost": (gettext_lazy("Internal cost per unit"), "成本|(internal|unit) cost"),
    "unit_price": (gettext_lazy("Unit price (excl. tax)"), "单价|unit price|price|费率|rate"),
    "fee": (gettext_lazy("Fee of the whole line"), "费用|金额|小计|合价|fee|amount|cost"),
}
NUMERIC = ("quantity", "unit_cost", "unit_price", "fee")
PER_UNIT = ("unit_cost", "unit_price")
TOTAL = re.compile(r"^\W*(?:总\s*计|合\s*计|grand total|total)", re.IGNORECASE)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
UNITS = (("人天", "person_day"), ("人日", "person_day"), ("person", "person_day"),
         ("月", "month"), ("month", "month"), ("次", "once"), ("套", "once"), ("once", "once"),
         ("one-off", "once"))
CATEGORIES = (("迁移", "migration"), ("migration", "migration"), ("调优", "tuning"),
              ("tuning", "tuning"), ("资源", "resource"), ("resource", "resource"))
STAGES = (("调研", Stage.SURVEY), ("设计", Stage.DESIGN), ("环境", Stage.ENV),
          ("训练适配", Stage.TRAIN_ADAPT), ("训练迁移", Stage.TRAIN_ADAPT),
          ("训练调优", Stage.TRAIN_TUNE), ("推理迁移", Stage.INFER_MIGRATE),
          ("推理调优", Stage.INFER_TUNE), ("验收", Stage.ACCEPT),
          ("运维", Stage.OPERATION),
          *((stage.value, stage) for stage in Stage))
GRADES = {"项目经理": "manager", "专家": "expert", "架构师": "expert", "高级": "senior",
          "中级": "engineer", "初级": "junior", "测试": "junior"}
MAX_FIGURE = Decimal(10) ** 10
FEW = 5


@dataclass
class PriceTable:
    """What an import would create, what stands in its way, and what its own total is worth."""

    lines: list[PriceLine] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    printed_total: Decimal | None = None
    computed: Decimal = Decimal(0)  # fees read as line totals
    times_quantity: Decimal = Decimal(0)  # fees read as unit prices

    @property
    def difference(self) -> Decimal:
        """Printed minus computed; 0 where they agree or none is printed."""
        return Decimal(0) if self.printed_total is None else self.printed_total - self.computed

    @property
    def sentence(self) -> str:
        """The arithmetic in words."""
        facts = {"n": len(self.lines), "computed": f"{self.computed:,.2f}"}
        if self.printed_total is None:
            return _("%(n)d lines add up to %(computed)s. The list prints no total.") % facts
        facts |= {"stated": f"{self.printed_total:,.2f}", "difference": f"{self.difference:+,.2f}",
                  "other": f"{self.times_quantity:,.2f}"}
        if not self.difference:
            return _("%(n)d lines add up to %(computed)s, as the list prints.") % facts
        return _("The list prints a total of %(stated)s, but its %(n)d lines add up to "
                 "%(computed)s (%(difference)s). Read as unit prices times quantity they would be "
                 "%(other)s. Quotes are computed from the lines.") % facts


def guess_header(rows: list[list[str]]) -> int:
    """The row (from 1) whose cells look most like headings, among the first thirty."""
    scores = [len(guess_columns(row)) for row in rows[:30]]
    return scores.index(max(scores)) + 1 if scores else 1


def guess_columns(headings: list[str]) -> dict[str, int]:
    """{field: column from 0} by the words of the headings; each column serves one field."""
    found: dict[str, int] = {}
    for name, (_label, words) in FIELDS.items():
        for column, heading in enumerate(headings):
            if (name not in found and column not in found.values() and len(heading) <= 40
                    and re.search(words, heading, re.IGNORECASE)):
                found[name] = column
    return found


def price_table(source: PriceImport) -> PriceTable:
    """Parse the stored rows by the chosen columns. Never raises: faults are in `errors`."""
    table = PriceTable()
    columns = source.columns
    if "name" not in columns or not {"unit_price", "fee"} & set(columns):
        table.errors.append(_("Choose the columns of the item and of its price or fee."))
        return table
    headings = source.rows[source.header_row - 1] if source.header_row <= len(source.rows) else []
    codes: set[str] = set()
    for number, row in enumerate(source.rows[source.header_row:], source.header_row + 1):
        cells = {name: row[c] if c < len(row) else "" for name, c in columns.items()}
        first = next((cell for cell in row if cell), "")
        if TOTAL.match(first):
            _read_total(table, row, number, columns)
        elif cells["name"] and row != headings:
            _read_line(table, cells, number, codes)
    _remark(table, source, headings)
    if not table.lines and not table.errors:
        table.errors.append(_("No line was found below row %(n)d.") % {"n": source.header_row})
    return table


def _read_total(table: PriceTable, row: list[str], number: int, columns: dict) -> None:
    own = row[columns["fee"]] if "fee" in columns and columns["fee"] < len(row) else ""
    for text in (own, *row):
        printed = NUMBER.search(text)
        if printed:
            table.printed_total = to_cents(Decimal(printed[0].replace(",", "")))
            return
    table.warnings.append(_("Row %(n)d is a total without a figure.") % {"n": number})


def _read_line(table: PriceTable, cells: dict, number: int, codes: set[str]) -> None:
    try:
        figures = {name: _figure(cells[name], name, number) for name in NUMERIC if name in cells}
    except ValueError as error:
        table.errors.append(str(error))
        return
    quantity = figures.get("quantity") or Decimal(1)
    fee, price = figures.get("fee"), figures.get("unit_price")
    if fee is None and price is not None:
        fee = to_cents(price * quantity)
    elif fee is not None and price is None:
        price = fee / quantity
    elif fee is not None and to_cents(price * quantity) != to_cents(fee):
        table.warnings.append(
            _("Row %(n)d: %(quantity)s × %(price)s is %(product)s, the list prints %(fee)s.")
            % {"n": number, "quantity": quantity.normalize(), "price": f"{price:,.2f}",
               "product": f"{price * quantity:,.2f}", "fee": f"{fee:,.2f}"})
    code = (cells.get("code") or f"R{number:04}")[:40]
    if code in codes:
        table.errors.append(_("Row %(n)d repeats the code “%(code)s”.")
                            % {"n": number, "code": code})
        return
    codes.add(code)
    table.computed += fee or 0
    table.times_quantity += (fee or 0) * quantity
    stage = cells.get("stage", "").strip()
    if stage and not _match(_plain(stage), STAGES, ""):
        table.warnings.append(_("Row %(n)d: “%(stage)s” is no stage; the line is priced for "
                                "several at once.") % {"n": number, "stage": stage[:40]})
    table.lines.append(_line(cells, number, code, quantity, figures, price, fee))


def _figure(text: str, name: str, row: int) -> Decimal | None:
    if not text.strip("-— "):
        return None
    try:
        value = Decimal(text.replace(",", "").replace("，", "").strip("¥￥元 "))
        if not value.is_finite() or not 0 <= value < MAX_FIGURE or (
                name == "quantity" and value == 0):
            raise InvalidOperation
    except InvalidOperation:
        raise ValueError(_("Row %(n)d: “%(text)s” is not a valid %(field)s.") % {
            "n": row, "text": text[:40], "field": FIELDS[name][0]}) from None
    return value.quantize(Decimal("0.0001") if name in PER_UNIT else Decimal("0.01"))


def _plain(text: str) -> str:
    """A stage as tables write it: "Train-Adapt", "train adapt"."""
    return re.sub(r"[\s-]+", "_", text.strip().lower())


def _line(cells: dict, number: int, code: str, quantity: Decimal, figures: dict,
          price: Decimal | None, fee: Decimal | None) -> PriceLine:
    unit = _match(cells.get("unit", ""), UNITS, "month")
    fallback = "resource" if unit == "month" else "other"
    grade = cells.get("grade", "")
    return PriceLine(
        position=min(number, 32_000), code=code, name=cells["name"][:120],
        name_en=cells.get("name_en", "")[:120], unit=unit, quantity=quantity,
        specification=cells.get("specification", "")[:240],
        category=_match(cells.get("category", ""), CATEGORIES, fallback),
        grade=next((g for word, g in GRADES.items() if word in grade), grade[:40]),
        stage=_match(_plain(cells.get("stage", "")), STAGES, ""),
        unit_price=None if price is None else price.quantize(Decimal("0.0001")),
        unit_cost=figures.get("unit_cost"), line_fee=fee)


def _match(text: str, table: tuple, fallback: str) -> str:
    return next((code for word, code in table if word in text.lower()), fallback)


def _remark(table: PriceTable, source: PriceImport, headings: list[str]) -> None:
    """Columns that nothing takes; another list of the same days; formulas and merged cells:
    harmless in texts, a fault where a figure hangs on them."""
    from openpyxl.utils import get_column_letter  # slow to import: not at start
    from openpyxl.utils.cell import coordinate_from_string

    left_out = [f"{get_column_letter(n + 1)} {heading[:30]}" for n, heading in enumerate(headings)
                if heading and n not in source.columns.values()]
    if left_out:
        table.warnings.append(_("Columns that are left out: %(columns)s.") % {
            "columns": listed(left_out)})
    others = RateCard.objects.valid_between(source.valid_from, source.valid_to).exclude(
        pk=source.card_id).values_list("name", flat=True)[:FEW]
    if others:
        table.warnings.append(_("Valid on the same days: %(lists)s. Whoever quotes chooses a list; "
                                "end the older one if this one takes its place.") % {
            "lists": listed(others)})
    numeric = {get_column_letter(source.columns[name] + 1) for name in NUMERIC
               if name in source.columns}
    formulas = [cell for code, cell in source.remarks if code == "formula"]
    if formulas:
        table.warnings.append(
            _("%(n)d cells hold formulas (%(cells)s); the values stored in "
              "the file were read, nothing was recalculated.")
            % {"n": len(formulas), "cells": _some(formulas)})
    for code, place in source.remarks:
        column, row = coordinate_from_string(place.split(":")[0])
        if row <= source.header_row:
            continue
        if code == "formula_empty" and column in numeric:
            table.errors.append(_("Cell %(cell)s holds a formula without a stored value. Open the "
                                  "file, save it, or paste values only.") % {"cell": place})
        if code == "merged" and column in numeric:
            table.errors.append(_("Cells %(cells)s are merged: it is not clear which line the "
                                  "figure belongs to. Split them.") % {"cells": place})
        elif code == "merged":
            table.warnings.append(_("Cells %(cells)s are merged; their text was taken for each "
                                    "of the rows.") % {"cells": place})


def _some(cells: list[str]) -> str:
    return ", ".join(cells[:5]) + ("…" if len(cells) > 5 else "")
