"""R-QUO-01 to 15 (DOMAIN 9.4): each met by a sound quote, each broken by one fault of its own."""

import copy
import io
import zipfile
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from delivery.documents.models import CompanyProfile
from delivery.quotes import services, snapshot
from delivery.quotes.models import DiscountLimit, PriceLine, Quote, QuoteLine, RateCard
from delivery.quotes.quote_checks import run_checks
from delivery.quotes.xlsx.workbook import quote_xlsx
from engagements import services as engagement_services
from engagements.models import Customer, Role
from tests.cached_fixtures import cached_fixture

RULES = [f"R-QUO-{n:02}" for n in range(1, 16)]


@pytest.fixture
@cached_fixture
def sound(people, engagement, quote):
    """Every rule has something to judge: a discount, a staffing plan, a model, milestones."""
    engagement_services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                                  name="模型")
    quote.refresh_from_db()
    days: dict[str, Decimal] = {}
    for line in quote.lines.filter(unit="person_day"):
        days[line.grade] = days.get(line.grade, Decimal(0)) + line.quantity
    return services.update_quote(
        actor=people[Role.SALES], quote=quote, source_note="以各行为准",
        discount_rate=Decimal("0.05"), discount_reason="框架协议",
        staffing=[{"grade": grade, "people": 1, "days": str(n)} for grade, n in days.items()])


def broken(quote, **given) -> set[str]:
    return {check.code for check in run_checks(Quote.objects.get(pk=quote.pk), **given)
            if not check.is_met}


def test_a_sound_quote_meets_every_rule(sound):
    found = run_checks(Quote.objects.get(pk=sound.pk))
    assert {check.code for check in found if check.is_met} >= set(RULES)
    assert broken(sound) == set()


def changed_facts(quote, **totals):
    """The summary as it would be printed, with other totals or words."""
    facts = copy.deepcopy(snapshot.summary(quote, *parts(quote)))
    words = totals.pop("words", facts["words"])
    facts["totals"] |= totals
    return {**facts, "words": words}


def parts(quote):
    lines = snapshot.line_rows(quote)
    return lines, snapshot.all_amounts(quote, lines)


def cent(text: str) -> str:
    return f"{Decimal(text) + Decimal('0.01'):.2f}"


def test_01_a_total_that_is_not_the_sum(sound):
    totals = snapshot.summary(sound, *parts(sound))["totals"]
    facts = changed_facts(sound, net=cent(totals["net"]), tax=f"{Decimal(totals['tax'])-1:.2f}",
                          gross=f"{Decimal(totals['gross']) - Decimal('0.99'):.2f}")
    assert broken(sound, facts=facts) == {"R-QUO-01", "R-QUO-03"}


def test_01_a_source_whose_total_differs_is_explained(people, sound):
    services.update_quote(actor=people[Role.SALES], quote=sound, source_note=" ")
    assert broken(sound) == {"R-QUO-01"}


def test_02_parts_that_are_not_the_whole(sound):
    totals = snapshot.summary(sound, *parts(sound))["totals"]
    assert broken(sound, facts=changed_facts(sound, tax=cent(totals["tax"]))) == {
        "R-QUO-01", "R-QUO-02"}


def test_03_words_of_another_figure(sound):
    assert broken(sound, facts=changed_facts(sound, words="人民币壹佰元整")) == {"R-QUO-03"}


@pytest.mark.parametrize(("percents", "found"), [
    (["30", "40", "30"], set()), (["30", "40", "29.99"], {"R-QUO-04"}),
    (["60", "41"], {"R-QUO-04"}), ([], {"R-QUO-04"})])
def test_04_milestones_make_a_hundred(sound, percents, found):
    terms = [{"percent": percent, "name": "x", "name_en": "x", "trigger": "", "due_days": 30}
             for percent in percents]
    Quote.objects.filter(pk=sound.pk).update(payment_terms=terms)
    assert broken(sound) == found


def test_05_validity(sound):
    today = timezone.localdate()
    for quoted, until, found in ((0, 0, set()), (-30, -1, {"R-QUO-05"}), (-30, 0, set())):
        Quote.objects.filter(pk=sound.pk).update(quote_date=today + timedelta(quoted),
                                                 valid_until=today + timedelta(until))
        assert broken(sound) == found


@pytest.mark.parametrize(("rate", "limit", "reason", "found"), [
    ("0", "0", "", set()), ("0.05", "0.05", "x", set()), ("0.0501", "0.05", "x", {"R-QUO-06"}),
    ("0.05", "0.05", " ", {"R-QUO-06"})])
def test_06_discount_within_a_limit_and_with_its_reason(sound, rate, limit, reason, found):
    DiscountLimit.objects.update(rate=Decimal(limit))
    Quote.objects.filter(pk=sound.pk).update(discount_rate=Decimal(rate), discount_reason=reason)
    assert broken(sound) == found


def test_06_the_approvers_own_limit(people, sound):
    DiscountLimit.objects.filter(role=Role.MANAGER).update(rate=Decimal("0.04"))
    Quote.objects.filter(pk=sound.pk).update(approved_by=people[Role.ADMINISTRATOR])
    assert broken(sound) == set()
    Quote.objects.filter(pk=sound.pk).update(approved_by=people[Role.MANAGER])
    assert broken(sound) == {"R-QUO-06"}


@pytest.mark.parametrize("field", ["unit", "grade"])
def test_07_a_line_without_unit_or_grade(sound, field):
    Quote.objects.filter(pk=sound.pk).update(staffing=[])
    QuoteLine.objects.filter(quote=sound, code="S-TRAIN").update(**{field: ""})
    assert broken(sound) == {"R-QUO-07"}


def test_07_no_line(sound):
    Quote.objects.filter(pk=sound.pk).update(staffing=[])
    sound.lines.all().delete()
    assert "R-QUO-07" in broken(sound)


def test_08_days_of_lines_and_staffing(sound):
    line = sound.lines.get(code="S-TRAIN")
    QuoteLine.objects.filter(pk=line.pk).update(quantity=line.quantity + Decimal("0.5"))
    assert broken(sound) == {"R-QUO-08"}


def test_09_a_stage_that_no_model_goes_through(sound, engagement):
    engagement.models.get().stages.filter(stage="train_adapt").update(state="skipped")
    assert broken(sound) == {"R-QUO-09"}


@pytest.mark.slow
def test_nothing_of_cost_or_margin_in_any_part_of_the_workbook(people, sound, issue):
    """Hidden sheets, defined names, comments and properties are all parts of the package."""
    line = sound.lines.get(code="S-TRAIN")
    services.update_line(actor=people[Role.SALES], line=line, unit_cost=Decimal("777.77"))
    services.update_quote(actor=people[Role.SALES], quote=Quote.objects.get(pk=sound.pk),
                          internal_note="毛利三成")
    issued = issue(Quote.objects.get(pk=sound.pk))
    for language in ("zh-hans", "en"):
        with zipfile.ZipFile(io.BytesIO(quote_xlsx(issued, language))) as package:
            names = package.namelist()
            text = "".join(package.read(name).decode() for name in names
                           if name.endswith((".xml", ".rels")))
        assert [word for word in ("777.77", "7777.7", "毛利", "margin of", "unit_cost", "internal",
                                  'state="hidden"', "veryHidden") if word in text] == []
        assert not [name for name in names if "comment" in name or "external" in name.lower()]
        assert people[Role.SALES].username not in package_part(issued, language)


def package_part(quote, language) -> str:
    """docProps: title, author and who saved last."""
    with zipfile.ZipFile(io.BytesIO(quote_xlsx(quote, language))) as package:
        return "".join(package.read(name).decode() for name in package.namelist()
                       if name.startswith("docProps/"))


def test_10_an_exchange_rate_that_changed_after_pricing(people, engagement, card):
    sales = people[Role.SALES]
    quote = services.create_quote(actor=sales, engagement=engagement, currency="USD",
                                  exchange_rate=Decimal("7.1"))
    line = services.add_line(actor=sales, quote=quote, quantity=Decimal(10),
                             price=PriceLine.objects.get(code="S-TRAIN"))
    assert "R-QUO-10" not in broken(quote)
    services.update_quote(actor=sales, quote=quote, exchange_rate=Decimal("7.4"))
    assert "R-QUO-10" in broken(quote)
    services.update_line(actor=sales, line=line, unit_price=line.unit_price - 1)
    assert "R-QUO-10" not in broken(quote)


def test_10_two_price_lists_that_contradict_each_other_on_the_date(sound, card):
    other = RateCard.objects.create(name="2025 新价目表", valid_from=card.valid_from)
    listed = PriceLine.objects.get(card=card, code="S-TRAIN")
    again = PriceLine.objects.create(card=other, code=listed.code, name=listed.name,
                                     category=listed.category, unit=listed.unit,
                                     unit_price=listed.unit_price)
    assert broken(sound) == set()
    PriceLine.objects.filter(pk=again.pk).update(unit_price=listed.unit_price + 1)
    assert broken(sound) == {"R-QUO-10"}
    RateCard.objects.filter(pk=other.pk).update(valid_to=other.valid_from)
    assert broken(sound) == set()


def test_11_a_tax_rate_that_is_not_valid_on_the_date(people, sound):
    line = services.add_free_line(actor=people[Role.SALES], quote=sound, name="培训", unit="once",
                                  quantity=1, unit_price=100, tax_rate=Decimal("0.17"))
    assert broken(sound) == {"R-QUO-11"}
    services.update_line(actor=people[Role.SALES], line=line, tax_rate=Decimal("0.06"))
    assert broken(sound) == set()


def test_12_a_draft_that_was_overtaken(sound):
    Quote.objects.create(
        engagement=sound.engagement, number=sound.number, version=2, state="accepted",
        quote_date=sound.quote_date, valid_until=sound.valid_until, created_by=sound.created_by)
    assert broken(sound) == {"R-QUO-12"}


def test_what_the_notes_exclude_is_not_priced(sound):
    Quote.objects.filter(pk=sound.pk).update(notes="不含云资源，按实际账单另计。")
    assert broken(sound) == {"R-QUO-14"}
    sound.lines.filter(category="resource").delete()
    assert "R-QUO-14" not in broken(sound)


@pytest.mark.parametrize("invoice", Quote.Invoice.values)
def test_an_invoice_names_the_tax_numbers_of_both(sound, invoice):
    Quote.objects.filter(pk=sound.pk).update(invoice=invoice)
    assert broken(sound) == set()
    CompanyProfile.objects.update(credit_code="")
    assert broken(sound) == {"R-QUO-15"}
    CompanyProfile.objects.update(credit_code="91350100M000100Y43")
    Customer.objects.update(credit_code="")
    assert broken(sound) == {"R-QUO-15"}
