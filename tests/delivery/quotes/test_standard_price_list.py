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


@pytest.mark.parametrize(("code", "wanted"), [
    ("VPC", ("172.16.0.0/16", "默认配置")), ("SUBNET", ("172.16.0.0/24", "默认配置")),
    ("ELB", ("8,000 HTTP / 800 HTTPS", "800,000", "16,000", "200 Mbit/s", "40 LCU")),
    ("DMS", ("rocketmq.4u8g.cluster.small", "代理 1 个", "超高 IO 300 GB")),
    ("DCS", ("主备", "X86", "DRAM", "512 MB"))])
def test_other_resources_keep_the_guides_figures(people, code, wanted):
    """A quote of the list names what is ordered as the console asks for it."""
    line = load_rate_cards(actor=people[Role.ADMINISTRATOR]).lines.get(code=code)
    assert [part for part in wanted if part not in line.specification] == []
