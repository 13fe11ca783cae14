"""From an empty database to the first issued quote, the shortest way a new firm can take.

Counted is every click of every person, choices and ticks of forms included; signing in is not.
"""

import pytest

from delivery.demo.sample_firm import PASSWORD
from delivery.quotes.models import Quote
from engagements.models import Engagement
from tests.browser.browser_session import BrowserSession
from tests.browser.test_manager_whole_project import (
    CREDIT_CODE,
    MODELS,
    PROJECT,
    TEAM,
    answered,
    empty_portal,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS = 60


@pytest.mark.parametrize("walk", ["zh-CN"], indirect=True)
def test_first_quote_of_an_empty_database(walk, tmp_path, capsys):
    company_and_people(walk)
    engagement_models_and_survey(walk)
    survey_by_workbook(walk, tmp_path)
    walk.part = "survey received to quote issued"
    quote_issued(walk)
    with capsys.disabled():
        print(f"\n{walk.table()}")
    assert Quote.objects.get().state == Quote.State.ISSUED
    assert [model.code for model in Engagement.objects.get().models.all()] == ["M01", "M02", "M03"]
    clicks = {part: count["clicks"] + count["picks"] for part, count in walk.counts.items()
              if part != "sign-in"}
    assert sum(clicks.values()) <= MOST_CLICKS, clicks
    assert [error for window in walk.windows.values() for error in window.errors] == []


@pytest.fixture
def walk(chromium, live_server, db, monkeypatch, request) -> BrowserSession:
    return empty_portal(chromium, live_server, monkeypatch, request.param)


def company_and_people(walk: BrowserSession) -> None:
    walk.at("admin")
    walk.press("Set up")
    walk.fill({"Registered name": "昇腾迁移交付有限公司",
               "Unified social credit code": CREDIT_CODE})
    walk.press("Save")
    walk.press("My desk")
    walk.press("Set up")
    for n, (username, (name, role)) in enumerate(TEAM.items(), 1):
        walk.fill({"Log-in name": username, "Password": PASSWORD, "Full name": name,
                   "Role": role})
        walk.press("Save" if n == len(TEAM) else "Save and add another")


def engagement_models_and_survey(walk: BrowserSession) -> None:
    walk.at("manager")
    walk.press("New engagement")
    walk.fill({"Name": PROJECT[walk.language], "Customer": "某电力公司"})
    for username in ("consultant", "sales", "reviewer"):
        walk.tick(TEAM[username][0])
    walk.press("Create and add models")
    for n, (_code, name, name_en, size, scope) in enumerate(MODELS, 1):
        walk.fill({"Name": name, "English name": name_en, "Parameters (billion)": size})
        if scope == "Inference only":
            walk.fill({"Scope": scope})
        walk.press("Add the model" if n == len(MODELS) else "Add and add another")
    walk.press("某电力公司")
    walk.fill({"Unified social credit code": CREDIT_CODE})  # of the buyer on the invoice
    walk.press("Save")
    walk.desk("consultant", PROJECT[walk.language])
    walk.take_next_step()
    walk.press("Start the survey")


def survey_by_workbook(walk: BrowserSession, folder) -> None:
    """The customer takes the workbook home, fills it in and hands it in."""
    walk.desk("reviewer", PROJECT[walk.language])
    path = folder / "survey.xlsx"
    walk.download("中文 xlsx", path)
    answered(path, deadline="2027-06-30")
    walk.press("Import questionnaire")
    walk.fill({"Filled-in workbook (.xlsx)": str(path)})
    walk.press("Show what would change")
    walk.press("Import these changes")
    walk.press("Submit")


def quote_issued(walk: BrowserSession) -> None:
    code = Engagement.objects.get().code
    walk.desk("consultant", f"{code} · ")
    walk.press("Confirm")
    walk.desk("sales", f"{code} · ")
    walk.press("Quote from the estimate")
    walk.press("Submit for review")
    walk.desk("consultant", f"QT-{code}-")
    walk.press("Confirm the review")
    walk.desk("manager", f"QT-{code}-")
    walk.press("Approve")
    walk.press("Issue to the customer")
