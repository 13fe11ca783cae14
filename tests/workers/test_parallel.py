"""The arithmetic of parallel strategies and allocator options, by the rules' examples."""

import pytest

from engagements.errors import InvalidInput
from workers import kinds
from workers.kinds.training.parallel_strategy import check
from workers.rules.allocator import violations
from workers.rules.strategy import Strategy

SEED = {"cards": 8, "tensor": 2, "pipeline": 2, "micro_batch": 1, "global_batch": 16}


def test_the_seeds_strategy_has_two_data_ranks_and_eight_micro_batches():
    strategy = Strategy(**SEED)
    assert (strategy.data, strategy.micro_batches, check(strategy)) == (2, 8, [])


@pytest.mark.parametrize(("change", "rule"), [
    ({"tensor": 16, "nodes": 4}, "R-PAR-01"),
    ({"pipeline": 3}, "R-PAR-02"),
    ({"context": 8}, "R-PAR-02"),
    ({"expert": 4}, "R-PAR-02"),
    ({"global_batch": 15}, "R-PAR-04"),
    ({"layers": 11}, "R-PAR-05"),
    ({"layers": 12, "layers_per_virtual_stage": 4}, "R-PAR-05"),
    ({"layers": 12, "layers_per_virtual_stage": 3, "global_batch": 6}, "R-PAR-05"),
    ({"heads": 7}, "R-PAR-06"),
    ({"heads": 12, "hidden": 770}, "R-PAR-06"),
    ({"tensor": 1, "is_sequence_parallel": True}, "R-PAR-06"),
    ({"is_sequence_parallel": True, "sequence_length": 1023}, "R-PAR-06"),
])
def test_rule_is_found(change, rule):
    assert rule in [found[0] for found in check(Strategy(**{**SEED, **change}))]


@pytest.mark.parametrize(("text", "rules"), [
    ("expandable_segments:True", []),
    ("max_split_size_mb:50,garbage_collection_threshold:0.8", []),
    ("expandable_segments:True,max_split_size_mb:50", ["R-CFG-01"]),
    ("garbage_collection_threshold:1", ["R-CFG-02"]),
    ("max_split_size_mb:20", ["R-CFG-03"]),
    ("base_addr_aligned_kb:8", ["R-CFG-04"]),
    ("expandable_segments:True,base_addr_aligned_kb:17", ["R-CFG-04"]),
    ("expandable_segments: True", ["R-CFG-05"]),
    ("expandable_segments=True", ["R-CFG-05"]),
])
def test_allocator_options(text, rules):
    assert [found[0] for found in violations(text)] == rules


@pytest.mark.parametrize("values", [
    {"cards": 6}, {"global_batch_size": 7}, {"eval_interval": 1000, "train_iters": 200},
    {"save_interval": 500, "train_iters": 200}, {"split": "990,5"}, {"node_rank": 1},
    {"allocator": "expandable_segments:True,max_split_size_mb:64"},
])
def test_training_that_contradicts_itself_is_refused(db, values):
    kind = kinds.get("adapt.megatron_train")
    with pytest.raises(InvalidInput):
        kind.clean(values)
    assert kind.clean({})["cards"] == 8
