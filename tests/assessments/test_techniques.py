"""Techniques of memory and communication recorded with a round, and the HBM hit rate."""

import json

import pytest
from django.urls import reverse
from django.utils.translation import override
from rest_framework.test import APIClient

from assessments.performance.rounds import history
from assessments.performance.techniques import settings_in, typed_settings
from assessments.services import measure_artifact
from engagements.errors import InvalidInput
from engagements.models import AuditEntry, Role

COMPRESSION = {"method": "topk", "ratio": "0.3", "overlap_compute": "on"}


@pytest.fixture(autouse=True)
def english():
    with override("en"):
        yield


@pytest.mark.parametrize(("technique", "given", "stored"), [
    ("adaptive_memory", {"memory_reuse": "auto", "fragment_optimize": "ON", "slice_dim": "0"},
     {"memory_reuse": "auto", "fragment_optimize": "on", "slice_dim": 0}),
    ("tiered_memory", {"hbm_reserved_mb": 2048, "ddr_priority": "low"},
     {"hbm_reserved_mb": 2048, "ddr_priority": "low"}),
    ("compression", COMPRESSION, {"method": "topk", "ratio": 0.3, "overlap_compute": "on"}),
    ("", {}, {})])
def test_settings_are_typed(technique, given, stored):
    assert typed_settings(technique, given) == stored


@pytest.mark.parametrize(("technique", "given", "message"), [
    ("compression", {"ratio": "1.3"}, "ratio = 1.3: allowed range: 0–1"),
    ("compression", {"ratio": "NaN"}, "0–1"),
    ("tiered_memory", {"hbm_reserved_mb": "2 GB"}, "1–1048576 MB"),
    ("tiered_memory", {"hbm_reserved_mb": "2.5"}, "1–1048576 MB"),
    ("adaptive_memory", {"reserved": "1"}, "no setting reserved"),
    ("adaptive_memory", {}, "at least one setting"), ("other", {"x": "1"}, "Unknown technique"),
    ("", {"ratio": "1"}, "Name the technique")])
def test_what_a_technique_does_not_have_is_refused(technique, given, message):
    with pytest.raises(InvalidInput, match=message):
        typed_settings(technique, given)


def test_a_line_without_a_value_is_named():
    assert settings_in("ratio = 0.3\n\nmethod=topk") == {"ratio": "0.3", "method": "topk"}
    with pytest.raises(InvalidInput, match=r"ratio 0\.3"):
        settings_in("ratio 0.3")


# The files of seed 003 as it prints them.
AMC = """{
  "memory_reuse": "auto",
  "fragment_optimize": "enable",
  "tensor_slice": {
    "enable": true,
    "slice_dim": 0
  }
}"""
PRINTED = [
    ("adaptive_memory", AMC, {"memory_reuse": "auto", "fragment_optimize": "enable",
                              "tensor_slice": {"enable": True, "slice_dim": 0}}),
    ("parallel", """{
  "data_parallel": 8, "model_parallel": 4,
  "pipeline_parallel": 2,
  "tensor_parallel_mode": "row_split"  # 模型并行按行切分
}""", {"data_parallel": 8, "model_parallel": 4, "pipeline_parallel": 2,
       "tensor_parallel_mode": "row_split"}),
    ("quantisation", "quantization:\n  enable: True\n  bit_num: 8\n  quant_delay: 1000\n"
     "  per_channel: True\n", {"quantization": {
         "enable": True, "bit_num": 8, "quant_delay": 1000, "per_channel": True}}),
    ("tiered_memory", "[HBM]\nreserved_size = 2048  # 保留2GB HBM给热数据\n[DDR]\n"
     "priority = low  # 冷数据优先级降低\n",
     {"HBM": {"reserved_size": 2048}, "DDR": {"priority": "low"}}),
    ("compression", 'compression="topk",\ntopk_ratio=0.3\n[COMMUNICATION]\n'
     "overlap_compute = true\n",
     {"compression": "topk", "topk_ratio": 0.3, "COMMUNICATION": {"overlap_compute": True}}),
    ("compilation", "graph_op_shrink=enable\nfusion_switch_file=fusion_switch.cfg\n"
     "enable_graph_kernel = True", {"graph_op_shrink": "enable", "enable_graph_kernel": True,
                                    "fusion_switch_file": "fusion_switch.cfg"})]


@pytest.mark.parametrize(("technique", "text", "stored"), PRINTED)
def test_files_are_entered_and_stored_as_they_are_printed(technique, text, stored):
    assert typed_settings(technique, settings_in(text)) == stored


def test_rounds_show_what_of_the_settings_changed(client, people, model, run, record):
    record(run(500))
    record(run(400), technique="adaptive_memory", configuration=settings_in(AMC))
    record(run(300), technique="adaptive_memory", configuration=settings_in(AMC.replace(
        '"slice_dim": 0', '"slice_dim": 1').replace('"memory_reuse": "auto",', "")))
    assert [(name, old, new) for name, old, new in history(model).rows[2].settings
            if old != new] == [("tensor_slice.slice_dim", 0, 1), ("memory_reuse", "auto", None)]
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("assessments:model_performance", args=[model.pk]),
                      headers={"accept-language": "en"}).content.decode()
    assert "<code>tensor_slice.enable = true</code>" in page
    assert 'slice_dim = 1</code> <span class="text-secondary">(was 0)</span>' in page


def test_damaged_json_is_refused():
    with pytest.raises(InvalidInput, match="JSON is damaged"):
        settings_in('{"memory_reuse": ')


def test_a_round_shows_what_was_configured(client, people, model, run, record):
    record(run(500))
    client.force_login(people[Role.CONSULTANT])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    address = reverse("assessments:round_new", args=[model.pk])
    form = {"area": "communication", "change": "top-k", "artifact": run(400).pk,
            "technique": "compression"}
    refused = client.post(address, {**form, "configuration": "ratio = 3"})
    assert "ratio = 3: allowed range: 0–1" in refused.content.decode()
    assert client.post(address, {**form, "configuration": "ratio = 0.3\nmethod = topk"}
                       ).status_code == 302
    entry = model.optimisation_rounds.get(number=1)
    assert entry.configuration == {"ratio": 0.3, "method": "topk"}
    assert AuditEntry.objects.get(action="round.record", target_id=entry.pk).data[
        "configuration"] == entry.configuration
    page = client.get(reverse("assessments:model_performance", args=[model.pk])).content.decode()
    assert "Compressed communication" in page
    assert "<code>ratio = 0.3</code>" in page


def test_the_api_takes_and_gives_settings(people, model, run, record):
    record(run(500))
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    given = {"model": model.pk, "artifact": run(400).pk, "area": "memory", "change": "tiers",
             "technique": "tiered_memory", "configuration": {"hbm_reserved_mb": 2048}}
    made = api.post("/api/v1/optimisation-rounds/", given, format="json")
    assert (made.status_code, made.json()["configuration"]) == (201, {"hbm_reserved_mb": 2048})
    refused = api.post("/api/v1/optimisation-rounds/", {
        **given, "artifact": run(300).pk, "configuration": {"hbm_reserved_mb": -1}}, format="json")
    assert refused.status_code == 400


@pytest.mark.parametrize(("hits", "accesses", "rate"), [(92, 100, 0.92), (0, 5, 0.0),
                                                        (3, 0, None), (6, 5, None)])
def test_hbm_hit_rate_is_a_share_of_two_counters(store, model, hits, accesses, rate):
    content = json.dumps({"desk_report": "memory_tiers", "hbm_hits": hits, "accesses": accesses})
    artifact = store("memory_tiers.json", content.encode(), model)
    measure_artifact(artifact)
    found = artifact.measurements.filter(quantity="hbm_hit_rate").first()
    assert (found and (found.value, found.unit)) == (None if rate is None else (rate, "%"))
