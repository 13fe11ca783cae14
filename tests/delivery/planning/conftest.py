from datetime import date

import pytest

from delivery.documents.models import CompanyProfile
from delivery.planning.plan import task_dates
from engagements import services
from engagements.models import Role
from engagements.stages import Scope
from tests.cached_fixtures import cached_fixture


@pytest.fixture(autouse=True)
def firm(db):
    """The firm's particulars, without which no quote leaves the house."""
    return CompanyProfile.objects.create(
        name="昇腾迁移交付有限公司", name_en="Ascend Migration Ltd.", bank="某银行上海分行",
        bank_account="6222 0000")


@pytest.fixture
@cached_fixture
def llm(people, engagement):
    return services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                              name="大模型", parameters_billion="13")


@pytest.fixture
@cached_fixture
def detector(people, engagement):
    return services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="DET",
                              name="检测模型", scope=Scope.INFERENCE)


@pytest.fixture(autouse=True)
def on_day(monkeypatch):
    """Plans are scheduled as on the Monday on which those of these tests begin; or on a day."""
    def be(day: date) -> None:
        monkeypatch.setattr(task_dates, "today", lambda: day)

    be(date(2025, 9, 22))
    return be
