"""Which quotes of an engagement hold when there are several: offered, accepted, taken back."""

from decimal import Decimal

import pytest

from delivery.documents.models import Currency
from delivery.quotes import services
from delivery.quotes.models import Quote
from delivery.quotes.rendering import in_language
from delivery.quotes.services.agreed_versions import require_in_force
from delivery.quotes.snapshot import agreed_facts
from delivery.quotes.transitions import ChecksFailed
from engagements.errors import WrongState
from engagements.models import Role

pytestmark = pytest.mark.django_db
S, R = Quote.State, Quote.Relation


@pytest.fixture
def accepted(issued, people):
    return services.answer_quote(actor=people[Role.REVIEWER], quote=issued, is_accepted=True)


@pytest.fixture
def second(people, engagement, accepted):
    """A draft of another number: one line of 1,000 yuan."""
    return small_draft(people, engagement)


def small_draft(people, engagement):
    draft = services.create_quote(actor=people[Role.SALES], engagement=engagement)
    services.add_free_line(actor=people[Role.SALES], quote=draft, name="培训", unit="once",
                           quantity=1, unit_price=1000, tax_rate=Decimal("0.06"))
    return Quote.objects.get(pk=draft.pk)


def relate(people, quote, relation):
    return services.update_quote(actor=people[Role.SALES], quote=quote, relation=relation)


def next_version(people, quote, issue):
    return issue(services.new_version(actor=people[Role.SALES], quote=quote, reason="价格"))


def in_force(engagement):
    return Quote.objects.agreed([engagement.pk])[engagement.pk]


@pytest.mark.parametrize("end", ["declined", "expired", "revoked", "issued", "draft"])
def test_a_later_version_takes_nothing_from_the_accepted_one(end, accepted, people, issue,
                                                            engagement):
    later = (services.new_version(actor=people[Role.SALES], quote=accepted, reason="价格")
             if end == "draft" else next_version(people, accepted, issue))
    if end == "declined":
        services.answer_quote(actor=people[Role.REVIEWER], quote=later, is_accepted=False,
                              reason="太贵")
    elif end == "revoked":
        services.move_quote(actor=people[Role.SALES], quote=later, move="revoke", reason="错价")
    elif end == "expired":
        services.expire_quotes(today=later.valid_until.replace(year=later.valid_until.year + 1))
    assert Quote.objects.get(pk=later.pk).state == end
    require_in_force(accepted)
    assert in_force(engagement) == [accepted]
    with pytest.raises(WrongState, match=r"is not in force .*V1 is"):
        require_in_force(later)


def test_an_offer_with_a_wrong_price_is_revoked_and_offered_anew(issued, people, issue,
                                                                engagement):
    gone = services.move_quote(actor=people[Role.MANAGER], quote=issued, move="revoke",
                               reason="单价错误")
    with pytest.raises(WrongState):
        services.answer_quote(actor=people[Role.REVIEWER], quote=gone, is_accepted=True)
    assert Quote.objects.agreed([engagement.pk]) == {}
    with pytest.raises(WrongState, match=r"not in force \(Revoked\)\. Create"):
        require_in_force(gone)
    anew = next_version(people, gone, issue)
    assert in_force(engagement) == [anew]


def test_a_version_begins_from_a_superseded_one(issued, people, issue):
    newer = next_version(people, issued, issue)
    issued.refresh_from_db()
    assert issued.state == S.SUPERSEDED
    again = services.new_version(actor=people[Role.SALES], quote=issued, reason="按第一版")
    assert (again.version, again.state) == (newer.version + 1, S.DRAFT)


def test_a_second_quote_says_what_becomes_of_the_accepted_one(second, people):
    with pytest.raises(ChecksFailed, match=r"R-QUO-13.*Say whether"):
        services.submit_quote(actor=people[Role.SALES], quote=second)


def test_quotes_that_stand_beside_each_other_add_up(second, accepted, people, issue, engagement):
    relate(people, second, R.ADDS)
    offered = issue(second)
    assert in_force(engagement) == [accepted]
    services.answer_quote(actor=people[Role.REVIEWER], quote=offered, is_accepted=True)
    found = in_force(engagement)
    assert [quote.pk for quote in found] == [accepted.pk, offered.pk]
    facts, parts = agreed_facts(found), [quote.snapshot for quote in found]
    for name in ("net", "tax", "gross"):
        assert Decimal(facts["totals"][name]) == sum(Decimal(p["totals"][name]) for p in parts)
    assert facts["lines"] == [*parts[0]["lines"], *parts[1]["lines"]]
    assert facts["payment"] == [*parts[0]["payment"], *parts[1]["payment"]]
    assert str(accepted) in facts["title"]
    assert str(offered) in facts["title"]
    assert in_language(parts[1], True)["relation_text"] == (
        f"Agreed on besides {accepted}, which stays in force.")


def test_a_quote_that_replaces_supersedes_the_accepted_one(second, accepted, people, issue,
                                                           engagement):
    relate(people, second, R.REPLACES)
    offered = issue(second)
    services.answer_quote(actor=people[Role.REVIEWER], quote=offered, is_accepted=True)
    accepted.refresh_from_db()
    assert accepted.state == S.SUPERSEDED
    assert [quote.pk for quote in in_force(engagement)] == [offered.pk]


def test_amounts_of_two_currencies_are_not_added_up(second, people):
    Currency.objects.get_or_create(code="USD", defaults={"name": "美元", "symbol": "$"})
    relate(people, second, R.ADDS)
    Quote.objects.filter(pk=second.pk).update(currency="USD")
    second.refresh_from_db()
    with pytest.raises(ChecksFailed, match=r"R-QUO-13.*another currency"):
        services.submit_quote(actor=people[Role.SALES], quote=second)


def test_an_offer_from_before_the_acceptance_is_not_accepted_unrelated(people, engagement, issued,
                                                                      issue):
    other = issue(small_draft(people, engagement))
    services.answer_quote(actor=people[Role.REVIEWER], quote=issued, is_accepted=True)
    with pytest.raises(WrongState, match="does not say whether it replaces"):
        services.answer_quote(actor=people[Role.REVIEWER], quote=other, is_accepted=True)
