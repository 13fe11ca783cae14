"""What the shipped price list says of each resource (seed S0, chapter 2)."""

import pytest

from delivery.quotes.services import load_rate_cards
from engagements.models import Role


@pytest.mark.parametrize(("code", "system", "english"), [
    ("ECS", "操作系统 Linux", "OS Linux"), ("BMS", "操作系统 鲲鹏", "OS Kunpeng")])
def test_servers_name_region_network_and_operating_system(people, code, system, english):
    card = load_rate_cards(actor=people[Role.ADMINISTRATOR])
    line = card.lines.get(code=code)
    for message, wanted in ((line.specification, (system, "华北-北京四", "VPC-BJ4")),
                            (line.specification_en, (english, "North-Beijing4", "VPC-BJ4"))):
        assert [part for part in wanted if part not in message] == []
