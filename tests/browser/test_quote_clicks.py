"""From a survey handed in to an issued quote: every click of every person is counted."""

import pytest

from delivery.demo.sample_firm import CODE
from delivery.quotes.models import Quote
from delivery.surveys.services import reopen_survey, submit_survey
from engagements.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS = 10


class Clicks:
    """People who start at their desk; counts what they click."""

    def __init__(self, visit):
        self.visit, self.steps, self.people = visit, [], {}

    def at_desk(self, username: str):
        self.name = username
        if username not in self.people:
            self.people[username] = self.visit(username)
        self.page = self.people[username].open("/")

    def click(self, selector: str, what: str) -> None:
        with self.page.expect_navigation():
            self.page.locator(selector).first.click()
        self.steps.append(f"{self.name}: {what}")

    def from_desk(self, username: str, item: str) -> None:
        """Open what waits for the person."""
        self.at_desk(username)
        self.click(f"main a.list-group-item:has-text('{item}')", item)


@pytest.fixture
def survey(sample):
    """The customer has handed the sample's survey in; nobody has confirmed it yet."""
    consultant, customer = (User.objects.get(username=name) for name in ("consultant", "reviewer"))
    survey = reopen_survey(actor=consultant, survey=sample.survey)
    return submit_survey(actor=customer, survey=survey)


def test_clicks_from_the_survey_to_the_issued_quote(visit, survey, capsys):
    clicks = Clicks(visit)
    clicks.from_desk("consultant", CODE)
    clicks.click("form[action$='/confirm/'] button", "confirm the survey")
    clicks.from_desk("sales", CODE)
    clicks.click("form[action$='/effort/quote/'] button", "quote from the estimate")
    clicks.click("form[action$='/submit/'] button", "submit for review")
    clicks.from_desk("consultant", "QT-")
    clicks.click("form[action$='/review/'] button", "confirm the review")
    clicks.from_desk("manager", "QT-")
    clicks.click("form[action$='/approve/'] button", "approve")
    clicks.click("form[action$='/issue/'] button", "issue")
    quote = Quote.objects.get()
    assert quote.state == Quote.State.ISSUED, clicks.page.locator(".alert").all_inner_texts()
    assert quote.lines.count() == 9  # one per service; no API analysis was read
    with capsys.disabled():
        print(f"\n{len(clicks.steps)} clicks:", *clicks.steps, sep="\n  ")
    assert len(clicks.steps) <= MOST_CLICKS
    assert [error for person in clicks.people.values() for error in person.errors] == []
