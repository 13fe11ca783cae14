"""Price lists from xlsx: columns, arithmetic, and files that are not what they should be."""

import io
import zipfile
from datetime import date
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from openpyxl import Workbook

from delivery.quotes import services, standard_price_lists
from delivery.quotes.models import PriceImport, RateCard
from delivery.quotes.prices.table import price_table
from engagements.errors import DeskError, InvalidInput
from engagements.models import Role

HEAD = ["云资源", "规格", "数量", "每月费用 (元)"]


def workbook(rows, change=lambda sheet: None) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    change(book.active)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


@pytest.fixture
def start(people):
    def begin(content, name="清单 2025"):
        return services.start_import(
            actor=people[Role.SALES], upload=io.BytesIO(content), file_name="清单.xlsx",
            name=name, valid_from=date(2025, 1, 1))
    return begin


@pytest.fixture
def guide():
    """The solution guide's resource table with the total it prints."""
    rows = [[name, spec, quantity, float(fee)]
            for _code, name, _en, spec, _spec_en, quantity, fee in standard_price_lists.RESOURCES]
    return workbook([["资源和成本规划"], [], HEAD, *rows, ["总计: 92414.45 (每月)"]])


def test_printed_total_is_said_to_be_wrong_and_never_used(people, start, guide):
    source = start(guide)
    assert (source.header_row, source.columns) == (
        3, {"name": 0, "specification": 1, "quantity": 2, "fee": 3})
    table = price_table(source)
    assert (table.errors, len(table.lines)) == ([], 20)
    assert (table.printed_total, table.computed, table.times_quantity) == (
        Decimal("92414.45"), Decimal("88342.75"), Decimal("138130.75"))
    for figure in ("92,414.45", "88,342.75", "+4,071.70", "138,130.75"):
        assert figure in table.sentence
    card = services.confirm_import(actor=people[Role.SALES], source=source)
    assert services.source_difference(card) == Decimal("4071.70")
    assert card.lines.count() == 20
    assert card.lines.get(name="弹性云服务器 ECS").unit_price == Decimal("900")


def test_no_price_before_confirmation(people, start, guide):
    source = start(guide)
    assert RateCard.objects.count() == 0
    services.confirm_import(actor=people[Role.SALES], source=source)
    with pytest.raises(DeskError):
        services.confirm_import(actor=people[Role.SALES], source=source)
    assert RateCard.objects.count() == 1


def test_columns_are_chosen_by_hand(people, start):
    source = start(workbook([["甲", "乙", "丙"], ["评估", 2, 100.5], ["部署", 3, 50]]))
    assert price_table(source).errors
    source = services.map_columns(actor=people[Role.SALES], source=source, header_row=1,
                                  columns={"name": 0, "quantity": 1, "unit_price": 2})
    table = price_table(source)
    assert [(line.name, line.line_fee) for line in table.lines] == [
        ("评估", Decimal("201.00")), ("部署", Decimal("150.00"))]


def test_fee_that_is_not_quantity_times_price_is_named(start):
    table = price_table(start(workbook([["名称", "数量", "单价", "金额"], ["评估", 2, 100, 250]])))
    [warning] = table.warnings
    assert warning.startswith("Row 2: 2 × 100.00 is 200.00, the list prints 250.00")


@pytest.mark.parametrize(("cell", "word"), [
    ("abc", "abc"), (-5, "-5"), ("1e99", "1e99"), ("NaN", "NaN")])
def test_figure_that_is_none_names_its_row(people, start, cell, word):
    source = start(workbook([HEAD, ["ECS", "8U", 1, 10], ["EVS", "SSD", 1, cell]]))
    [error] = price_table(source).errors
    assert "Row 3" in error
    assert word in error
    with pytest.raises(InvalidInput, match="Row 3"):
        services.confirm_import(actor=people[Role.SALES], source=source)
    assert RateCard.objects.count() == 0


def test_merged_texts_are_spread_and_merged_figures_refused(start):
    rows = [["类别", "名称", "数量", "费用"], ["迁移", "评估", 1, 10], [None, "部署", 1, None]]
    merged = workbook([*rows[:2], [None, "部署", 1, 20]], lambda s: s.merge_cells("A2:A3"))
    table = price_table(start(merged))
    assert [line.category for line in table.lines] == ["migration", "migration"]
    assert "A2:A3" in table.warnings[0]
    table = price_table(start(workbook(rows, lambda s: s.merge_cells("D2:D3")), "另一"))
    assert "D2:D3" in table.errors[0]


def test_formulas_are_not_calculated(start):
    content = workbook([HEAD, ["ECS", "8U", 1, "=1+1"], ['=HYPERLINK("http://x","y")', "", 1, 3]])
    [error] = price_table(start(content)).errors
    assert "D2" in error


def ole(marker: bytes) -> bytes:
    return bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600 + marker


def bomb() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<a/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"\0" * (60 * 2**20))
    return data.getvalue()


@pytest.mark.parametrize(("content", "sentence"), [
    (b"", "is empty"), (b"a,b\n1,2\n", "not an .xlsx workbook"),
    (ole("EncryptedPackage".encode("utf-16-le")), "protected by a password"),
    (ole(b"Workbook"), "old .xls format"), (b"PK\x03\x04garbage", "damaged"),
    (b"x" * (10 * 2**20 + 1), "larger than 10 MB"), (bomb(), "far more than its size"),
    (workbook([["a"]] * 6001), "more than 6000 rows"), (workbook([[None]]), "no cell with text"),
])
def test_hostile_files_each_get_a_sentence(start, content, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        start(content)
    assert PriceImport.objects.count() == 0


def test_import_in_the_browser(client, people, guide):
    client.force_login(people[Role.SALES])
    answer = client.post(reverse("quotes:import_new"), {
        "name": "指南清单", "valid_from": "2025-01-01",
        "file": SimpleUploadedFile("清单.xlsx", guide)}, follow=True)
    assert "92,414.45" in answer.content.decode()
    source = PriceImport.objects.get()
    form = {"header_row": 3, "name": "0", "specification": "1", "quantity": "2", "fee": "3"}
    assert client.post(reverse("quotes:import", args=[source.pk]), form).status_code == 302
    answer = client.post(reverse("quotes:import_confirm", args=[source.pk]), follow=True)
    assert "88,342.75" in answer.content.decode()
    assert RateCard.objects.get().lines.count() == 20


def test_broken_upload_stays_on_the_form(client, people):
    client.force_login(people[Role.SALES])
    answer = client.post(reverse("quotes:import_new"), {
        "name": "x", "valid_from": "2025-01-01", "file": SimpleUploadedFile("a.xlsx", b"zzz")})
    assert answer.status_code == 200
    assert "a.xlsx" in answer.content.decode()


def test_workbooks_are_for_who_prices(client, people, guide):
    client.force_login(people["sales"])
    client.post("/api/v1/price-imports/", {
        "file": SimpleUploadedFile("x.xlsx", guide), "name": "x", "valid_from": "2026-01-01"})
    for role, count in (("sales", 1), ("manager", 1), ("consultant", 0), ("operator", 0)):
        client.force_login(people[role])
        assert client.get("/api/v1/price-imports/").json()["count"] == count, role


def test_api_import(client, people, guide):
    client.force_login(people[Role.SALES])
    made = client.post("/api/v1/price-imports/", {
        "name": "清单", "valid_from": "2025-01-01",
        "file": SimpleUploadedFile("清单.xlsx", guide)}).json()
    assert (made["table"]["computed"], made["table"]["difference"]) == ("88342.75", "4071.70")
    answer = client.post(f"/api/v1/price-imports/{made['id']}/columns/", {
        "header_row": 3, "columns": {"name": 0, "fee": 3}}, content_type="application/json")
    assert answer.json()["columns"] == {"name": 0, "fee": 3}
    assert client.post(f"/api/v1/price-imports/{made['id']}/confirm/").status_code == 201
    client.force_login(people[Role.REVIEWER])
    assert client.get("/api/v1/price-imports/").json()["count"] == 0
    assert client.post("/api/v1/price-imports/", {}).status_code == 403


def test_stage_and_cost_are_taken_and_other_columns_are_named(people, start):
    source = start(workbook([
        ["名称", "单位", "阶段", "人天单价", "内部成本", "备注"],
        ["训练迁移", "人天", "训练适配", 3000, "1200.1234", "含差旅"],
        ["推理迁移", "人天", "Infer-Migrate", 3000, None, ""],
        ["项目管理", "人天", "全程", 2500, 900, ""]]))
    table = price_table(source)
    assert [(line.stage, line.unit_cost) for line in table.lines] == [
        ("train_adapt", Decimal("1200.1234")), ("infer_migrate", None), ("", Decimal(900))]
    assert (table.errors, len(table.warnings)) == ([], 2)
    assert "全程" in table.warnings[0]
    assert "F 备注" in table.warnings[1]
    card = services.confirm_import(actor=people[Role.SALES], source=source)
    assert card.lines.get(name="训练迁移").unit_cost == Decimal("1200.1234")


@pytest.mark.parametrize(("first", "last", "is_said"), [
    (date(2024, 1, 1), None, True), (date(2024, 1, 1), date(2024, 12, 31), False),
    (date(2025, 6, 1), date(2025, 7, 1), True)])
def test_another_list_of_the_same_days_is_remarked(start, guide, first, last, is_said):
    RateCard.objects.create(name="现行", valid_from=first, valid_to=last)
    warnings = price_table(start(guide)).warnings
    assert any("现行" in sentence for sentence in warnings) == is_said
