"""Overflow files: status bits decoded, unknown ones never dropped (DOMAIN 5.6)."""

import json
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.translation import override

from assessments.accuracy import overflow
from engagements.models import Role

SAMPLES = Path(__file__).parents[1] / "samples" / "accuracy" / "overflow"


@pytest.fixture(autouse=True)
def _in_english():
    with override("en"):
        yield



def found(store, model, data: bytes, name="o.json"):
    return overflow.findings(store(name, data, model).readings.get())


def opdebug(status: int) -> bytes:
    return json.dumps({"AI Core": {"model id": 1, "stream_id": 2, "task_id": 3, "status": status,
                                   "kernel_code": "0x12", "block_idx": 4}}).encode()


@pytest.mark.parametrize(("status", "bits"), [
    (272, [(16, True), (256, True)]), (32, [(32, True)]), (0, []),
    (0x800 | 0x400, [(1024, True), (2048, False)])])
def test_every_set_bit_is_shown(store, model, status, bits):
    [finding] = found(store, model, opdebug(status))
    assert [(bit.decimal, bit.is_known) for bit in finding.bits] == bits
    assert finding.has_overflow == (status != 0)
    assert ("Kernel code", "0x12") in finding.facts


@pytest.mark.parametrize("name", ["doc-sample.json", "new-AIC.json", "new-SDMA.json",
                                  "old-dha.json", "summary.txt", "anomaly.json"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_of_every_form(client, people, store, model, name, language):
    artifact = store(name, (SAMPLES / name).read_bytes(), model)
    client.force_login(people[Role.REVIEWER])
    answer = client.get(reverse("assessments:overflow", args=[artifact.pk]),
                        headers={"accept-language": language})
    assert answer.status_code == 200
    assert answer.context["findings"]


def test_the_table_in_both_languages():
    with override("en"):
        english = [bit.text for bit in overflow.bit_table()]
    with override("zh-hans"):
        chinese = [bit.text for bit in overflow.bit_table()]
    assert (english[-1], chinese[-1]) == ("CUBE accumulation", "CUBE 累加溢出")


def test_strangers_and_other_files(client, people, stranger, store, model):
    artifact = store("o.json", opdebug(32), model)
    client.force_login(stranger)
    assert client.get(reverse("assessments:overflow", args=[artifact.pk])).status_code == 404
    client.force_login(people[Role.MANAGER])
    other = store("x.txt", b"hello", model)
    assert client.get(reverse("assessments:overflow", args=[other.pk])).status_code == 404
