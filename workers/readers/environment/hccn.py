"""``hccn_tool -i N -<check> -g``: state of the NPUs' network ports.

Only “Success” is good for net_health and “UP” for link; link_stat lists the newest record first;
an optical module has to be present with every power between its thresholds.
"""

from __future__ import annotations

import re
from typing import Any

from workers.readers.base import Reader, Reading, Sample, Source, register
from workers.readers.source import ReadingWarning

COMMAND = re.compile(r"hccn_tool\s+-i\s+(\d+)\s+-(\w+)")
SIGNS = re.compile(
    r"^(?:\[devid \d+\])?(?:net health status|link status|link up count|roce_rx_err_pkt_num|"
    r"optical info|fec mode|packet statistics|ipaddr)\s*:",
    re.MULTILINE,
)
ITEM = re.compile(r"^(?:\[devid (\d+)\])?\s*([\w .]+?)\s*:\s*(.*)$")
RECORD = re.compile(r"^(?:\[devid \d+\])?\s+(\w{3} \w{3}\s+\d+ [\d:]+ \d{4})\s+LINK (UP|DOWN)")
OTHER = re.compile(
    r"^\s*(?:/\S+/\S|\S*[$#] \S|\[\S+@.*\][$#] ?\S|"
    r"(?:lspci|npu-smi|cat|pip3?|ifconfig|ethtool|ping|uname|dmesg|lsmod|free|df)\b[^:]*$)"
)
"""Another command of a file that collects several: what follows is not of hccn_tool."""
CHECK_BY_KEY = {
    "net health status": "net_health",
    "link status": "link",
    "link up count": "link_stat",
    "roce_rx_err_pkt_num": "stat",
    "fec mode": "fec",
    "optical info": "optical",
    "ipaddr": "ip",
}
UNIT = re.compile(r"^(-?[\d.]+) (?:mW|mV|mA|C|dB)$")


@register
class HccnReader(Reader):
    """One or more hccn_tool checks."""

    name = "hccn_tool"
    kind = "hccn_tool"
    tool = "hccn_tool"

    def recognises(self, sample: Sample) -> int:
        if COMMAND.search(sample.text):
            return 88
        return 75 if SIGNS.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        checks: list[dict[str, Any]] = []
        is_other = False
        for number, line in source.lines():
            if found := COMMAND.search(line):
                checks.append(_new(int(found[1]), found[2], number))
                is_other = False
            elif OTHER.match(line):
                is_other = True
            elif line.strip() and not is_other:
                if not checks or _is_another(checks[-1], line):
                    checks.append(_new(None, None, number))
                _take(checks[-1], line)
        for check in checks:
            check["problems"] = _problems(check)
            check["healthy"] = _healthy(check)
        warnings = [
            ReadingWarning("network_problem", f"{_named(check)}: {problem}", check["line"])
            for check in checks
            for problem in check["problems"]
        ]
        states = [check["healthy"] for check in checks if check["healthy"] is not None]
        values = {"checks": checks, "healthy": all(states) if states else None}
        return self.reading(values, warnings=warnings)


def _new(device: int | None, check: str | None, line: int) -> dict[str, Any]:
    return {"device": device, "check": check, "items": {}, "records": [], "line": line}


def _is_another(check: dict[str, Any], line: str) -> bool:
    """A loop over the devices prints the same keys again, with or without the device's number."""
    found = ITEM.match(line)
    if found is None:
        return False
    other = found[1] is not None and check["device"] not in (None, int(found[1]))
    return other or (found[2].strip() in CHECK_BY_KEY and found[2].strip() in check["items"])


def _named(check: dict[str, Any]) -> str:
    return "A device" if check["device"] is None else f"Device {check['device']}"


def _take(check: dict[str, Any], line: str) -> None:
    if found := RECORD.match(line):
        check["records"].append({"at": found[1], "state": found[2]})
        return
    if found := ITEM.match(line):
        key = found[2].strip()
        if check["device"] is None and found[1]:
            check["device"] = int(found[1])
        check["check"] = check["check"] or CHECK_BY_KEY.get(key)
        check["items"][key] = found[3].strip()


def _problems(check: dict[str, Any]) -> list[str]:
    items, problems = check["items"], []
    for key, good in (("net health status", "Success"), ("link status", "UP")):
        if items.get(key, good) != good:
            problems.append(f"{key} is {items[key]}")
    if check["records"] and check["records"][0]["state"] != "UP":
        problems.append("the newest link record is DOWN")
    for key, value in items.items():
        if re.fullmatch(r"roce_[rt]x_err_pkt_num", key) and value not in ("0", ""):
            problems.append(f"{key} is {value}")
    if check["check"] == "optical":
        problems += _optical(items)
    return problems


def _optical(items: dict[str, str]) -> list[str]:
    problems = []
    if items.get("present", "present") != "present":
        problems.append("the optical module is not present")
    for key, value in items.items():
        side = re.fullmatch(r"([RT]x) Power\d", key)
        power = _amount(value)
        if side is None or power is None:
            continue
        low = _amount(items.get(f"{side[1]}Power Low Thres", ""))
        high = _amount(items.get(f"{side[1]}Power High Thres", ""))
        if low is not None and power < low:
            problems.append(f"{key} {value} is below {low}")
        if high is not None and power > high:
            problems.append(f"{key} {value} is above {high}")
    for key in ("Tx Los Flag", "Rx Los Flag", "Tx LoL Flag", "Rx LoL Flag"):
        if items.get(key, "0x0") not in ("0x0", "0x00", "not supported"):
            problems.append(f"{key} is {items[key]}")
    return problems


def _amount(text: str) -> float | None:
    found = UNIT.match(text)
    return float(found[1]) if found else None


def _healthy(check: dict[str, Any]) -> bool | None:
    """None where the check says nothing about health (addresses, FEC mode)."""
    if check["check"] in ("ip", "fec", "gateway", "netdetect", "mac", None):
        return None
    return not check["problems"] and bool(check["items"] or check["records"])
