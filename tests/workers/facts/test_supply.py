"""Every rule can be fed by something that the desk reads, is told, or derives."""

import pytest

from tests.workers.facts.test_fed_rules import CASES
from toolreaders.scan import CHECKS
from workers import kinds
from workers.rules import RULES, Facts, Origin, check
from workers.rules.base import _FORMULAS, with_derived
from workers.rules.facts import Observed, Seen, given_names, load_all, observed, observes
from workers.rules.facts.base import _observers
from workers.rules.facts.of_job import ALIASES

load_all()
kinds.load_all()
# of preflight and the job's own environment; of models, from `of_model` and the assessments
STATED = {"cards_per_node", "world_size", "cards_required", "baseline_runs",
          "container_image", "container_engines",
          "is_evaluation_accepted", "source_dtype", "tool_options",
          "is_weights_deliverable", "parameters_billion"}


def supplied() -> set[str]:
    names = given_names() | set(ALIASES.values()) | set(_FORMULAS) | STATED
    for kind in kinds.all_kinds():
        if kind.code.startswith("test."):
            continue
        values = kind.clean(kind.example_parameters())
        names |= set(kind.facts(values))
    return names


@pytest.mark.django_db
def test_no_rule_is_without_supply():
    names, scanned = supplied(), {check.rule for check in CHECKS.values()}
    starving = {code for code, rule in RULES.items()
                if code not in scanned and not set(rule.needs) <= names}
    assert starving == set()


def test_every_rule_that_readings_or_jobs_feed_has_its_cases():
    """What only parameters feed is tried in test_preflight, what scans feed in the scan's tests."""
    needed = {code for code, rule in RULES.items() if set(rule.needs) & set(given_names())}
    plain = {"R-SCR", "R-PAR"}
    options = {"R-CFG-02", "R-CFG-03", "R-CFG-04", "R-CFG-05", "R-CFG-14", "R-CFG-15", "R-CFG-18",
               "R-INF-01"}
    left = {code for code in needed - set(CASES) - options if RULES[code].family not in plain}
    assert left == set()


def test_undeclared_facts_are_an_error():
    @observes("made_up", gives="torch")
    def wrong(seen):
        yield Observed("cann", "8.0.0")

    with pytest.raises(ValueError, match="cann"):
        list(observed(Seen("made_up", "x", {})))
    _observers.pop("made_up")


def test_newer_facts_count_and_keep_their_origin():
    newer = Facts({"cann": "8.5.0"}, origins={"cann": Origin("new.info", 2, 7)})
    older = Facts({"cann": "6.0.0", "torch": "2.1.0"},
                  origins={"cann": Origin("old.info", 2, 6), "torch": Origin("pip.txt", 1, 6)})
    facts = newer.over(older)
    assert (facts["cann"], str(facts.origins["cann"])) == ("8.5.0", "new.info:2")
    assert str(facts.origins["torch"]) == "pip.txt:1"


DISKS = [{"device": "/dev/sda2", "mount": "/"}, {"device": "/dev/nvme0n1p1", "mount": "/data"},
         {"device": "/dev/mapper/vg", "mount": "/lvm"}]


@pytest.mark.parametrize(("path", "storage"), [
    ("/data/a", "nvme"), ("/database/a", "/dev/sda2"), ("/lvm/a", None), ("~/a", None)])
def test_storage_of_the_data(path, storage):
    facts = with_derived(Facts({"data_path": path, "disks": DISKS}))
    assert facts.get("data_storage") == storage


def test_another_cann_than_published_is_a_warning_only():
    hits = check({"torch": "2.1.0", "torch_npu": "2.1.0.post12", "cann": "8.0.0"},
                 ["R-ENV-18"]).hits
    assert [(hit.severity, hit.place) for hit in hits] == [("warn", "torch_npu, cann")]
    hits = check({"torch": "2.1.0", "torch_npu": "2.1.0.post12", "python": "3.12.1"},
                 ["R-ENV-18"]).hits
    assert [(hit.severity, hit.place) for hit in hits] == [("warn", "torch, python")]


def test_reviewed_differences_of_a_configuration_are_no_hits():
    sheet = {"passed": False, "line": 2, "items": ["HCCL_ALGO", "ASCEND_LAUNCH_BLOCKING"]}
    facts = {"config_check": {"env": sheet}}
    assert [hit.severity for hit in check(facts, ["R-ACC-02"]).hits] == ["warn"]
    facts["reviewed_differences"] = ["hccl_algo"]
    assert len(check(facts, ["R-ACC-02"]).hits) == 1
    facts["reviewed_differences"] = ["hccl_algo", "ascend_launch_blocking"]
    assert check(facts, ["R-ACC-02"]).clear == ["R-ACC-02"]


def test_what_was_found_by_looking_at_files_only_warns():
    order = {"install_order": ["kernels", "toolkit"]}
    assert [hit.severity for hit in check(order, ["R-ENV-06"]).hits] == ["block"]
    assert [hit.severity for hit in check({**order, "is_probed": True}, ["R-ENV-06"]).hits] == [
        "warn"]
