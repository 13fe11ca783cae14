"""What `remote/sample.sh` found, as values: npu-smi's table, or nvidia-smi's rows."""

import re
from dataclasses import dataclass, field

from toolreaders.environment.npu_smi import Snapshot
from toolreaders.environment.npu_smi_items import blocks_of
from toolreaders.number_parsing import whole_number
from workers.models import CARD_VALUES

LINK = re.compile(r"link status\s*:\s*(\w+)", re.IGNORECASE)
UNCORRECTED = re.compile(r"double[ -]?bit.*count|multi[ -]?bit.*count|isolated pages",
                         re.IGNORECASE)
LARGEST = 256 * 1024  # of an answer; 64 chips fill a tenth
MOST_VALUE, MOST_ERRORS = 10**9, 10**15
OLDEST_SECONDS = 3600  # a look whose answer nobody fetched tells nothing of the running jobs


@dataclass
class CardLook:
    """One card. None where the tool does not tell, or tells what no card can have."""

    utilisation: float | None = None
    memory_mb: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    health: str = ""
    ecc_errors: int | None = None  # that could not be corrected, since the driver was loaded
    link: str = ""

    def __post_init__(self) -> None:
        """A node's output is not to be trusted: the database refuses what is out of range."""
        self.health = self.health[:20]
        for name in CARD_VALUES:
            value = getattr(self, name)
            if value is not None and not abs(value) < MOST_VALUE:  # NaN too
                setattr(self, name, None)
        if self.memory_mb is not None and self.memory_mb < 0:
            self.memory_mb = None


@dataclass
class Look:
    """One look at a node: how many seconds ago it was, its cards by index, its host."""

    age_seconds: int
    cards: dict[int, CardLook] = field(default_factory=dict)
    load: float | None = None
    memory_mb: int | None = None


def look_of(output: bytes, mark: str) -> Look | None:
    """The look at the end of a poll's answer; None where there is none, or not a whole one.

    Args:
        mark: what the script was told to write before it.
    """
    _head, found, rest = output.rpartition(f"\n{mark} ".encode())
    if not found or len(rest) > LARGEST:
        return None
    head, _line, text = rest.decode(errors="replace").partition("\n")
    sections = _sections(text)
    now, taken = whole_number(head.strip()), whole_number(_word(sections, "taken"))
    if "end" not in sections or now is None or taken is None \
            or not 0 <= now - taken <= OLDEST_SECONDS:
        return None
    look = Look(now - taken, _cards(sections), _number(_word(sections, "load")))
    total, available = (whole_number(_word(sections, f"memory {key}:"))
                        for key in ("MemTotal", "MemAvailable"))
    if total is not None and available is not None:
        look.memory_mb = min(max(0, total - available) // 1024, MOST_VALUE)
    return look


def _sections(text: str) -> dict[str, str]:
    """Text by the word behind `desk`; `memory`, `ecc` and `link` keep their first argument."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("desk "):
            words = line.split()[1:]
            name = " ".join(words[:2] if words[0] in ("memory", "ecc", "link") else words[:1])
            found[name] = " ".join(words[2:] if " " in name else words[1:]) + "\n"
        elif name:
            found[name] += line + "\n"
    return found


def _word(sections: dict[str, str], name: str) -> str:
    return sections.get(name, "").strip()


def _number(text: str) -> float | None:
    try:
        return float(text) if len(text) < 16 and re.fullmatch(r"-?\d+(\.\d+)?", text) else None
    except ValueError:
        return None


def _cards(sections: dict[str, str]) -> dict[int, CardLook]:
    if "npu-smi" not in sections:
        return dict(filter(None, map(_gpu, sections.get("nvidia-smi", "").splitlines())))
    snapshot = Snapshot(None, None, 0)
    for number, line in enumerate(sections["npu-smi"].splitlines(), 1):
        snapshot.take(number, line)
    indexes: dict[int, list[int]] = {}  # of the chips of each NPU
    cards = {}
    for index, chip in enumerate(snapshot.chips):
        indexes.setdefault(chip["npu"], []).append(index)
        has_hbm = bool(chip["hbm_total_mb"])
        cards[index] = CardLook(
            chip["aicore_percent"], chip["hbm_used_mb" if has_hbm else "memory_used_mb"],
            chip["power_w"], chip["temperature_c"], chip["health"])
    _add_ecc(cards, indexes, sections)
    for index, card in cards.items():
        if found := LINK.search(sections.get(f"link {index}", "")):
            card.link = found[1].upper()
    return cards


def _add_ecc(cards: dict[int, CardLook], indexes: dict[int, list[int]], sections: dict[str, str]
             ) -> None:
    """The blocks of an NPU's answer stand for its chips in their order."""
    for npu, chips in indexes.items():
        lines = enumerate(sections.get(f"ecc {npu}", "").splitlines(), 1)
        counted = [block for block in blocks_of(lines) if any(map(UNCORRECTED.search, block))]
        for index, block in zip(chips, counted, strict=False):
            cards[index].ecc_errors = min(MOST_ERRORS, sum(
                value for name, value in block.items()
                if UNCORRECTED.search(name) and isinstance(value, int) and value >= 0))


def _gpu(line: str) -> tuple[int, CardLook] | None:
    """A row of the query in `remote/sample.sh`; [N/A] is nothing."""
    cells = [cell.strip() for cell in line.split(",")]
    index = whole_number(cells[0], 3)
    if index is None or len(cells) != 7:
        return None
    used, memory, _total, power, heat, errors = map(_number, cells[1:])
    return index, CardLook(used, memory, power, heat, "",
                           int(min(errors, MOST_ERRORS)) if errors is not None else None)
