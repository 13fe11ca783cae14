"""Practice stand-in for npu-smi; texts as printed by npu-smi 24.1.rc1 on 8 x 910B3.

`info` shows as used the cards on which a practice training runs.
"""

import argparse
import random
import sys
import time

import cards
from faults import fault

VERSION = "24.1.rc1"
TOTAL_MB = 65536
BUSES = ["C1", "C2", "81", "82", "01", "02", "41", "42"]
AFFINITY = ["144-167", "144-167", "96-119", "96-119", "0-23", "0-23", "48-71", "48-71"]
TOP = "+" + "-" * 96 + "+"
LINE = f"+{'-' * 27}+{'-' * 15}+{'-' * 52}+"
THICK = LINE.replace("-", "=")


def health(number):
    return "Alarm" if fault("card_alarm") in (number, str(number)) else "OK"


def state(number, rng, running):
    """Power W, temperature C, AICore %, HBM MB of a card, idle or busy."""
    used = 3314 + rng.randint(0, 6) + sum(megabytes for _pid, megabytes in running)
    if running:
        return rng.uniform(240, 330), rng.randint(48, 58), rng.randint(60, 95), min(used, TOTAL_MB)
    return rng.uniform(88, 103), rng.randint(38, 46), 0, used


def chip_rows(number, rng, running):
    power, temperature, aicore, used = state(number, rng, running)
    hugepages = f"{'0    / 0':<21}"
    return [
        f"| {number:<5} {'910B3':<19} | {health(number):<13} | "
        f"{power:<11.1f} {temperature:<17} {hugepages}|",
        f"| {0:<25} | 0000:{BUSES[number]}:00.0  | "
        f"{aicore:<11} {'0    / 0':<17} {used:<5}/ {TOTAL_MB:<14}|",
        THICK]


def process_rows(number, running):
    if not running:
        return [f"| {f'No running processes found in NPU {number}':<94} |", THICK]
    return [f"| {number:<7} {0:<17} | {pid:<13} | {'python3':<24} | {megabytes:<23} |"
            for pid, megabytes in running] + [THICK]


def table():
    rng = random.Random(int(time.time()) // 5)
    running = cards.processes()
    rows = [TOP, f"| npu-smi {VERSION:<24} Version: {VERSION:<52} |", LINE,
            f"| {'NPU   Name':<25} | {'Health':<13} | "
            "Power(W)    Temp(C)           Hugepages-Usage(page)|",
            f"| {'Chip':<25} | {'Bus-Id':<13} | "
            f"{'AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)':<51}|", THICK]
    for number in range(cards.COUNT):
        rows += chip_rows(number, rng, running.get(number, []))
    rows += [LINE, f"| {'NPU     Chip':<25} | {'Process id':<13} | {'Process name':<24} | "
             f"{'Process memory(MB)':<23} |", THICK]
    for number in range(cards.COUNT):
        rows += process_rows(number, running.get(number, []))
    return rows


def pairs(values):
    return [f"\t{name:<30} : {value}" for name, value in values]


def mapping():
    head = ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    rows = [head] + [(n, 0, n, "Ascend 910B3") for n in range(cards.COUNT)]
    return ["\t" + "".join(f"{cell:<31}" for cell in row).rstrip() for row in rows]


def listing():
    rows = pairs([("Total Count", cards.COUNT)])
    for number in range(cards.COUNT):
        rows += ["", *pairs([("NPU ID", number), ("Chip Count", 1)])]
    return rows


def board(number):
    return pairs([
        ("NPU ID", number), ("Software Version", VERSION), ("Firmware Version", "7.5.0.1.129"),
        ("Compatibility", "OK"), ("Board ID", "0x34"), ("PCB ID", "A"), ("BOM ID", "1"),
        ("PCIe Bus Info", f"0000:{BUSES[number]}:00.0"), ("Slot ID", number), ("Class ID", "NA"),
        ("PCI Vendor ID", "0x19E5"), ("PCI Device ID", "0xD802"),
        ("Subsystem Vendor ID", "0x19E5"), ("Subsystem Device ID", "0x3003"), ("Chip Count", 1)])


def usages(number):
    running = cards.processes().get(number, [])
    rng = random.Random(int(time.time()) // 5)
    _power, _temperature, aicore, used = state(number, rng, running)
    return [*pairs([("NPU ID", number), ("Chip Count", 1)]), "", *pairs([
        ("HBM Capacity(MB)", TOTAL_MB), ("HBM Usage Rate(%)", round(100 * used / TOTAL_MB)),
        ("Aicore Usage Rate(%)", aicore), ("Aivector Usage Rate(%)", aicore // 3),
        ("Aicpu Usage Rate(%)", 0), ("Ctrlcpu Usage Rate(%)", 1),
        ("HBM Bandwidth Usage Rate(%)", aicore // 4), ("Chip ID", 0)])]


def health_text(number):
    good = health(number) == "OK"
    return pairs([
        ("Health Status", health(number)), ("Error Code", "NA" if good else "80E18005"),
        ("Error Information", "NA" if good else "node type=HBM, sensor type=RAS State, "
         "event state=single-bit ECC threshold exceeded")])


def topology(_number):
    names = [f"NPU{n}" for n in range(cards.COUNT)]
    rows = ["\t   " + "".join(f"{name:<11}" for name in names) + "CPU Affinity"]
    for number, name in enumerate(names):
        links = ["X" if other == number else "HCCS" for other in range(cards.COUNT)]
        rows.append(f"{name:<11}" + "".join(f"{link:<11}" for link in links) + AFFINITY[number])
    return [*rows, "", "Legend:", "", "  X    = Self", "  HCCS = Connection traversing HCCS.",
            "  NA   = Unknown relationship."]


ITEMS = {"board": board, "usages": usages, "health": health_text, "topo": topology}


def main():
    parser = argparse.ArgumentParser(prog="npu-smi")
    parser.add_argument("command", choices=["info"])
    parser.add_argument("-m", dest="mapping", action="store_true")
    parser.add_argument("-l", dest="listing", action="store_true")
    parser.add_argument("-t", dest="item", choices=sorted(ITEMS))
    parser.add_argument("-i", dest="number", type=int, default=0)
    parser.add_argument("-c", dest="chip", type=int, default=0)
    args = parser.parse_args()
    if fault("missing_dcmi"):
        print("dcmi module initialize failed. ret is -8005")
        return 1
    if not 0 <= args.number < cards.COUNT:
        print("Invalid card id.")
        return 1
    rows = (mapping() if args.mapping else listing() if args.listing
            else ITEMS[args.item](args.number) if args.item else table())
    print("\n".join(rows))
    return 0


sys.exit(main())
