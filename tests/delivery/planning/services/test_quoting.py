"""One step from the estimate to a quote's lines."""

from decimal import Decimal

import pytest
from django.urls import reverse

from delivery.planning.models import EffortEstimate
from delivery.planning.services import estimates
from delivery.planning.services import quoting as pricing
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine, Quote
from delivery.quotes.quote_checks import failed_checks
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Role
from tests.cached_fixtures import cached_fixture


@pytest.fixture
@cached_fixture
def priced(people):
    return quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])


def test_lines_hold_the_days_of_the_estimate(people, engagement, llm, detector, priced, client):
    estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    quote = pricing.quote_estimate(actor=people[Role.SALES], engagement=engagement)
    estimate = EffortEstimate.objects.get()
    likely = sum(line.likely for line in estimate.lines.all())
    assert sum(line.quantity for line in quote.lines.all()) == likely
    assess = quote.lines.get(code="S-ASSESS")  # survey and plan of both models
    assert (assess.quantity, assess.grade, assess.remark) == (Decimal("7.00"), "expert",
                                                              "LLM, DET")
    assert quote.lines.get(code="S-PM").remark == ""
    assert failed_checks(quote) == []
    assert "V1" in quote.internal_note
    sent = quoting.submit_quote(actor=people[Role.SALES], quote=quote)
    assert sent.state == Quote.State.IN_REVIEW
    said = "The lines are taken from effort estimate V1, a draft"
    assert said in page_of(client, people[Role.MANAGER], sent)
    assert said not in page_of(client, people[Role.REVIEWER], sent)
    quoting.review_quote(actor=people[Role.ADMINISTRATOR], quote=sent)
    quoting.approve_quote(actor=people[Role.MANAGER], quote=sent)
    estimate.refresh_from_db()
    assert (estimate.state, estimate.approved_by) == ("approved", people[Role.MANAGER])
    assert said not in page_of(client, people[Role.MANAGER], sent)


def page_of(client, user, quote) -> str:
    client.force_login(user)
    return client.get(reverse("quotes:quote", args=[quote.pk]),
                      headers={"accept-language": "en"}).content.decode()


def test_estimate_is_computed_where_there_is_none(people, engagement, llm, priced):
    quote = pricing.quote_estimate(actor=people[Role.SALES], engagement=engagement)
    assert (EffortEstimate.objects.get().created_by, quote.lines.count() > 8) == (
        people[Role.SALES], True)


def test_another_grade_costs_what_that_grade_costs(people, engagement, llm, priced):
    consultant = people[Role.CONSULTANT]
    estimate = estimates.draft_estimate(actor=consultant, engagement=engagement)
    estimates.add_effort_line(actor=consultant, estimate=estimate, stage="env", item="env",
                           grade="expert", low=1, likely=Decimal("1.5"), high=2, reason="内网隔离",
                           model=llm)
    quote = pricing.quote_estimate(actor=people[Role.SALES], engagement=engagement)
    prices = {line.grade: line.unit_price for line in quote.lines.filter(code="S-ENV")}
    listed = {grade: PriceLine.objects.filter(grade=grade).first().unit_price
              for grade in ("engineer", "expert")}
    assert prices == listed


def test_what_no_list_prices_is_named_and_nothing_is_left(people, engagement, llm, priced):
    PriceLine.objects.filter(code="S-ACC").update(unit_price=None)
    with pytest.raises(InvalidInput, match="S-ACC"):
        pricing.quote_estimate(actor=people[Role.SALES], engagement=engagement)
    assert (Quote.objects.count(), EffortEstimate.objects.count()) == (0, 0)


@pytest.mark.slow
def test_many_models_are_counted(people, engagement, priced):
    from engagements import services

    for n in range(14):
        services.add_model(actor=people[Role.MANAGER], engagement=engagement, code=f"M{n}",
                           name="x")
    quote = pricing.quote_estimate(actor=people[Role.SALES], engagement=engagement)
    assert quote.lines.get(code="S-ENV").remark == "14 个模型 / models"


def test_by_page_and_by_whom(client, people, engagement, llm, priced):
    for role in (Role.CONSULTANT, Role.OPERATOR, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            pricing.quote_estimate(actor=people[role], engagement=engagement)
    client.force_login(people[Role.SALES])
    answer = client.post(reverse("planning:effort_quote", args=["EP2501"]))
    assert answer.url == reverse("quotes:quote", args=[Quote.objects.get().pk])
    made = client.post(f"/api/v1/effort-estimates/{EffortEstimate.objects.get().pk}/quote/")
    assert (made.status_code, len(made.json()["lines"])) == (
        201, Quote.objects.first().lines.count())


def test_findings_of_the_source_scan_reach_the_quote(people, engagement, llm, priced):
    import io
    import zipfile

    from django.core.files.uploadedfile import SimpleUploadedFile

    from workers.services.scans import scan_upload

    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("train.py", "import torch\nmodel = torch.nn.DataParallel(net)\n"
                                     "torch.cuda.nvtx.range_push('x')\n")
        archive.writestr("ops/scale.cu", "__global__ void scale(float *x) { x[0] *= 2; }\n")
    scan_upload(actor=people[Role.CONSULTANT], engagement=engagement, model=llm,
                upload=SimpleUploadedFile("source.zip", packed.getvalue()))
    estimate = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    operators = estimate.lines.get(item="operators")
    assert "source.zip" in operators.basis_sentences[0]
    quote = pricing.quote_estimate(actor=people[Role.SALES], engagement=engagement)
    line = quote.lines.get(code="S-OPS")
    assert (line.quantity, line.quantity >= 2, line.grade) == (operators.likely, True, "expert")
