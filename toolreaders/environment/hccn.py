"""``hccn_tool -i N -<check> -g``: state of the NPUs' network ports.

Only “Success” is good for net_health and “UP” for link; link_stat lists the newest record first;
an optical module has to be present with every power between its thresholds; a ping may lose no
packet. A check is healthy where its answer says so, never for want of an answer.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

COMMAND = re.compile(r"^(?:\S*[$#>]|\[.*\][$#]|\(.*\) ?\S*[$#])? ?(?:sudo )?(?:/\S*/)?"
                     r"hccn_tool\s+-i\s+(\d+)\s+-(\w+)")  # fmt: skip
"""The command at the start of its line or behind a prompt; a sentence that names it is none."""
KEYS = (
    r"net health status|link status|link up count|link change records|roce_[rt]x_err_pkt_num|"
    r"optical info|fec mode|packet statistics|ipaddr|netdetect address|default gateway"
)
ANSWER = re.compile(
    rf"^(?:\[devid \d+\])?[ \t]*(?:{KEYS})[ \t]*:|^[ \t]*\d+ packets transmitted, \d+ received",
    re.MULTILINE | re.IGNORECASE,
)
ITEM = re.compile(r"^(?:\[devid (\d+)\])?\s*([\w .]+?)\s*:\s*(.*)$")
RECORD = re.compile(r"^(?:\[devid \d+\])?\s+(\w{3} \w{3}\s+\d+ [\d:]+ \d{4})\s+LINK (UP|DOWN)")
LOSS = re.compile(r"(\d+) packets transmitted, (\d+) received(?:.*?([\d.]+)% packet loss)?")
FAILURE = re.compile(
    r"\bfail(?:ed|ure)?\b|\berror\b|not support|invalid|no such|not found|denied|未找到",
    re.IGNORECASE,
)
ELIDED = re.compile(r"^\s*(?:\.{3,}|…+)\s*$")
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
    "netdetect address": "netdetect",
    "default gateway": "gateway",
}
HEALTH_CHECKS = {"net_health", "link", "link_stat", "stat", "optical", "ping"}
GOOD = {"net health status": "success", "link status": "up"}
ERROR_COUNT = re.compile(r"roce_[rt]x_err_pkt_num")
UNIT = re.compile(r"^(-?[\d.]+) (?:mW|mV|mA|C|dB)$")


@register
class HccnReader(Reader):
    """One or more hccn_tool checks."""

    name = "hccn_tool"
    kind = "hccn_tool"
    version = "3"
    tool = "hccn_tool"

    def recognises(self, sample: Sample) -> int:
        if not ANSWER.search(sample.text):
            return 0
        return 88 if any(map(COMMAND.match, sample.lines)) else 75

    def read(self, source: Source) -> Reading:
        checks = _checks(source)
        if not any(map(_is_answered, checks)):
            raise ReadError("no_values", "No command of hccn_tool has an answer.")
        for check in checks:
            check["problems"] = _problems(check)
            check["healthy"] = _healthy(check)
        return self.reading(
            {"checks": checks, "healthy": _overall(checks)}, warnings=_warnings(checks)
        )


def _checks(source: Source) -> list[dict[str, Any]]:
    """The commands with their answers; an answer that comes again is of the next device."""
    checks: list[dict[str, Any]] = []
    is_other = False
    for number, line in source.lines():
        if found := COMMAND.match(line):
            checks.append(_new(int(found[1]), found[2], number))
            is_other = False
        elif OTHER.match(line):
            is_other = True
        elif line.strip() and not is_other:
            if ANSWER.match(line) and (not checks or _is_another(checks[-1], line)):
                checks.append(_new(None, None, number))
            if checks:
                _take(checks[-1], line)
    return checks


def _overall(checks: list[dict[str, Any]]) -> bool | None:
    """False for one broken port, True where every check of health was answered well."""
    states = {check["healthy"] for check in checks
              if check["check"] in HEALTH_CHECKS or check["problems"]}  # fmt: skip
    if False in states:
        return False
    return True if states == {True} and not any(c["is_elided"] for c in checks) else None


def _warnings(checks: list[dict[str, Any]]) -> list[ReadingWarning]:
    found = [
        ReadingWarning("network_problem", f"{_named(check)}: {problem}", check["line"])
        for check in checks
        for problem in check["problems"]
    ]
    for check in checks:
        if not _is_answered(check):
            why = f": {check['error']}" if check["error"] else ""
            message = f"{_named(check)}: {check['check']} has no answer{why}."
            found.append(ReadingWarning("no_answer", message, check["line"]))
    return found


def _is_answered(check: dict[str, Any]) -> bool:
    return bool(check["items"] or check["records"] or check["ping"])


def _new(device: int | None, check: str | None, line: int) -> dict[str, Any]:
    return {"device": device, "check": check, "items": {}, "records": [], "ping": None,
            "error": None, "is_elided": False, "line": line}  # fmt: skip


def _is_another(check: dict[str, Any], line: str) -> bool:
    """A loop over the devices prints the same keys again, with or without the device's number."""
    found = ITEM.match(line)
    if found is None:
        return check["ping"] is not None
    other = found[1] is not None and check["device"] not in (None, int(found[1]))
    key = found[2].strip().lower()
    return other or (key in CHECK_BY_KEY and key in map(str.lower, check["items"]))


def _named(check: dict[str, Any]) -> str:
    return "A device" if check["device"] is None else f"Device {check['device']}"


def _take(check: dict[str, Any], line: str) -> None:
    if found := RECORD.match(line):
        check["records"].append({"at": found[1], "state": found[2]})
    elif found := LOSS.search(line):
        check["check"] = check["check"] or "ping"
        check["ping"] = {"sent": int(found[1]), "received": int(found[2])}
    elif ELIDED.match(line):
        check["is_elided"] = True
    elif FAILURE.search(line) and not ANSWER.match(line):
        check["error"] = check["error"] or line.strip()[:200]
    elif found := ITEM.match(line):
        if check["device"] is None and found[1]:
            check["device"] = int(found[1])
        key = found[2].strip()
        check["check"] = check["check"] or CHECK_BY_KEY.get(key.lower())
        check["items"][key] = found[3].strip()


def _problems(check: dict[str, Any]) -> list[str]:
    items, problems = check["items"], []
    for key, value in items.items():
        good = "0" if ERROR_COUNT.fullmatch(key) else GOOD.get(key.lower())
        if value and good is not None and value.lower() != good:
            problems.append(f"{key} is {value}")
    if check["records"] and check["records"][0]["state"] != "UP":
        problems.append("the newest link record is DOWN")
    if check["ping"] and check["ping"]["received"] < check["ping"]["sent"]:
        problems.append(f"{check['ping']['received']} of {check['ping']['sent']} packets came back")
    if check["check"] == "optical":
        problems += _optical(items)
    return problems


def _optical(items: dict[str, str]) -> list[str]:
    problems = []
    if items.get("present", "present") != "present":
        problems.append("the optical module is not present")
    for key, value in items.items():
        side = re.fullmatch(r"([RT]x) Power\d?", key)
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
    """None where the answer does not tell (addresses, FEC mode, an answer that is missing)."""
    if check["problems"]:
        return False
    keys = {key.lower() for key, value in check["items"].items() if value}
    evidence = {
        "net_health": "net health status" in keys,
        "link": "link status" in keys,
        "link_stat": bool(check["records"]),
        "stat": any(map(ERROR_COUNT.fullmatch, keys)),
        "optical": "present" in keys and _has_powers(check["items"]),
        "ping": bool(check["ping"] and check["ping"]["sent"]),
    }
    return True if evidence.get(check["check"] or "") and not check["error"] else None


def _has_powers(items: dict[str, str]) -> bool:
    """Whether light is measured in both directions and has limits."""
    return all(
        _amount(items.get(f"{side}Power Low Thres", "")) is not None
        and _amount(items.get(f"{side} Power0", items.get(f"{side} Power", ""))) is not None
        for side in ("Rx", "Tx")
    )
