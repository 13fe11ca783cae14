"""acc_check, overflow_check and graph_visualize of msprobe 26.2.0: they really read the dumps.

The files have the genuine layout. An API's arithmetic is stood in for: its first input's range
is multiplied once in single and once in double precision, and the two are compared.
"""

import csv
import json
import math
import os
import sqlite3
import struct
import time

import cards
from msprobe_compare import pairs, tensors, walk

RESULT = ["API name", "Forward Test Success", "Backward Test Success", "Message"]
DETAILS = ["API Name", "Bench Dtype", "DEVICE Dtype", "Shape", "余弦相似度", "最大绝对误差", "双百指标",
           "双千指标", "双万指标", "二进制一致错误率", "误差均衡性", "均方根误差", "小值域错误占比",
           "相对误差最大值", "相对误差平均值", "inf/nan错误率", "相对误差错误率", "绝对误差错误率",
           "ULP误差最大值", "ULP误差平均值", "ULP误差大于阈值占比", "Status", "Message"]
TABLES = """
CREATE TABLE tb_nodes (id TEXT PRIMARY KEY, graph_id TEXT NOT NULL, node_order INTEGER NOT NULL,
 node_name TEXT NOT NULL, node_type TEXT NOT NULL, up_node TEXT, sub_nodes TEXT,
 precision_index INTEGER, overflow_level TEXT, micro_step_id INTEGER NOT NULL,
 matched_node_link TEXT, stack_id TEXT, parallel_merge_info TEXT, matched_distributed TEXT,
 modified INTEGER NOT NULL, input_data TEXT, output_data TEXT, data_source TEXT,
 dump_data_dir TEXT, step INTEGER NOT NULL, rank INTEGER NOT NULL, is_distributed INTEGER);
CREATE TABLE tb_stack (id TEXT PRIMARY KEY, stack_info TEXT);
CREATE TABLE tb_config (id TEXT PRIMARY KEY, graph_type TEXT NOT NULL, task TEXT, tool_tip TEXT,
 micro_steps INTEGER, overflow_check INTEGER, node_colors TEXT NOT NULL, rank_list TEXT NOT NULL,
 step_list TEXT NOT NULL);
"""


def calls(path):
    with open(path) as stream:
        return json.load(stream)["data"]


def api_check(args, say):
    stamp = time.strftime("%Y%m%d%H%M%S")
    say("start acc_check test")
    rows, details = {}, []
    with cards.occupied(cards.visible()[:1], 900):
        _check_all(args.api_info, rows, details)
    paths = [os.path.realpath(os.path.join(args.output, f"accuracy_checking_{what}_{stamp}.csv"))
             for what in ("result", "details")]
    table = [RESULT, *([api, t["forward"], t["backward"], ""] for api, t in rows.items())]
    for path, content in zip(paths, (table, [DETAILS, *details])):
        with open(path, "w", newline="", encoding="utf-8-sig") as stream:
            csv.writer(stream).writerows(content)
        say(f"acc_check task csv is saved in {path}")
    say("Successfully completed acc_check/multi_acc_check.")
    say("acc_check task completed.")


def _check_all(path, rows, details):
    until = time.time() + 0.6  # an API takes its time on a card
    for name, parts in calls(path).items():
        api, direction = name.rsplit(".", 1)
        states = rows.setdefault(api, {"forward": " ", "backward": " "})
        found = list(walk(f"{name}.output", parts.get("output") or []))
        worst = "pass"
        for tensor, facts in found:
            verdict, row = _checked(tensor, facts)
            worst = "error" if "error" in (worst, verdict) else verdict
            details.append(row)
        states[direction] = worst if found else " "
    while time.time() < until:
        sum(math.sqrt(n) for n in range(20000))


def _checked(name, facts):
    low, high = float(facts["Min"]), float(facts["Max"])
    shape = str(tuple(facts["shape"]))
    row = [name, "torch.float64", facts["dtype"], shape, *[" "] * (len(DETAILS) - 4)]
    if not math.isfinite(low + high):
        row[DETAILS.index("余弦相似度")] = "nan"
        row[-2:] = ["warning", "\nThe device's output holds NaN.\n"]
        return "warning", row
    exact = [low * 0.3, high * 0.3]
    single = [struct.unpack("f", struct.pack("f", value))[0] for value in exact]
    worst = max(abs(a - b) for a, b in zip(exact, single))
    relative = max(abs(a - b) / (abs(a) + 1e-12) for a, b in zip(exact, single))
    for column, value in (("余弦相似度", 1.0), ("最大绝对误差", worst),
                          ("相对误差最大值", relative), ("相对误差平均值", relative / 2)):
        row[DETAILS.index(column)] = f"{value:.14f}"
    row[-2:] = ["pass" if relative < 1e-3 else "error", ""]
    return row[-2], row


def overflow(args, say):
    say("Start searching anomaly node before communication.")
    named = {}
    for rank in sorted(os.listdir(args.input_path)):
        path = os.path.join(args.input_path, rank, "dump.json")
        if not os.path.isfile(path):
            say(f"Rank {rank} has no dump data!", "WARNING")
            continue
        for name, parts in calls(path).items():
            outputs = [facts for _n, facts in walk(name, parts.get("output") or [])]
            if any(not math.isfinite(float(f[k])) for f in outputs for k in ("Max", "Min", "Norm")):
                key = "rank_" + "".join(c for c in rank if c.isdigit())
                named.setdefault(key, []).append({
                    "op_name": name, "data_info": parts, "construct_info": [], "stack_info": []})
                break
    if not named:
        say("Cannot find any anomaly node, no need to generate analyze file.")
        return
    path = os.path.join(args.output, f"anomaly_analyze_{time.time_ns()}.json")
    with open(path, "w") as stream:
        json.dump(named, stream, indent=2)
    say(f"The analyze result is saved in: {path}")


def graph(args, say):
    say("Start building model graphs...")
    name = "compare" if args.golden_path else "build"
    path = os.path.join(args.output, f"{name}_{time.strftime('%Y%m%d%H%M%S')}.vis.db")
    ranks = pairs(args.target_path, args.golden_path or args.target_path)
    with sqlite3.connect(path) as base:
        base.executescript(TABLES)
        for number, (_rank, npu, bench) in enumerate(ranks):
            ours, theirs = dict(tensors(npu)), dict(tensors(bench))
            _nodes(base, "NPU", number, npu, _differences(ours, theirs))
            if args.golden_path:
                _nodes(base, "Bench", number, bench, {})
        base.execute("INSERT INTO tb_config VALUES ('1', ?, 'summary', '{}', 1, 0, '{}', ?, '[0]')",
                     (name, json.dumps(list(range(len(ranks))))))
    base.close()
    say(f"Exporting {name} graph result successfully, the result file is saved in {path}")


def _differences(ours, theirs):
    """API -> largest relative difference of its tensors' norms, at most 1."""
    found = {}
    for name, facts in ours.items():
        other = theirs.get(name)
        if other and float(other["Norm"]):
            api = name.rsplit(".", 2)[0]
            share = abs(float(facts["Norm"]) - float(other["Norm"])) / abs(float(other["Norm"]))
            found[api] = max(found.get(api, 0.0), min(share, 1.0))
    return found


def _nodes(base, side, rank, path, differing):
    for order, (name, parts) in enumerate(calls(path).items()):
        base.execute(
            f"INSERT INTO tb_nodes VALUES ({','.join('?' * 22)})",
            (f"{side}_0_{rank}_{name}", f"{side}_0_{rank}", order, name, "1", "DefaultModel", "",
             differing.get(name, 0), None, 0, json.dumps(["DefaultModel", name]), "", "", "{}", 0,
             json.dumps(parts.get("input_args")), json.dumps(parts.get("output")), side, None, 0,
             rank, 0))
