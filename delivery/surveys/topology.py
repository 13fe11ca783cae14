"""The application's architecture from its answer: components and calls, drawn as a picture.

One call a line: “caller -> called: what”; “a -> b -> c” is two calls, a line without an arrow a
component of its own. Pure: text in, structure and a Vega-Lite specification out.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

ARROW = re.compile(r"\s*(?:-+>|=+>|→|⇒)\s*")
LABEL = re.compile(r"\s*[:：]\s*")
SEPARATOR = re.compile(r"[\n;；]")
MOST_COMPONENTS, MOST_CALLS, MOST_LETTERS = 60, 120, 24
WIDTH_OF_LAYER, HEIGHT_OF_ROW = 214, 76
BOX_WIDTH, BOX_HEIGHT = 0.6, 0.46  # shares of a layer and a row
WORDS_WIDTH = (1 - BOX_WIDTH) * WIDTH_OF_LAYER - 8  # what fits between two boxes
WORDS_AT = 0.3  # of a line, from the caller: where two lines cross there are no words
FONT = "Noto Sans CJK SC"
INK, LINE, FILL = "#1b2330", "#5b6675", "#eef3fb"


@dataclass(frozen=True)
class Call:
    caller: str
    called: str
    what: str = ""


@dataclass
class Topology:
    """`components` in the order in which they are named; `is_cut` where the answer names more."""

    components: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    is_cut: bool = False

    def add(self, name: str) -> bool:
        """Take a component in; False where there is no room for it."""
        if name not in self.components:
            if len(self.components) >= MOST_COMPONENTS:
                self.is_cut = True
                return False
            self.components.append(name)
        return True


def topology_of(text: str) -> Topology:
    """The structure that an answer states; empty for an empty one."""
    found = Topology()
    for line in filter(None, (line.strip() for line in SEPARATOR.split(text or ""))):
        names = ARROW.split(line)
        last, what = [*LABEL.split(names[-1], maxsplit=1), ""][:2]
        names = [name.strip() for name in (*names[:-1], last) if name.strip()]
        if not all(found.add(name) for name in names):
            continue
        for caller, called in pairwise(names):
            if len(found.calls) >= MOST_CALLS:
                found.is_cut = True
                break
            found.calls.append(Call(caller, called, what.strip() if called == names[-1] else ""))
    return found


def layers_of(found: Topology) -> dict[str, int]:
    """Column of each component: one right of the last that calls it; loops are not followed."""
    layers = dict.fromkeys(found.components, 0)
    order = {name: place for place, name in enumerate(found.components)}
    forward = [call for call in found.calls if order[call.caller] < order[call.called]]
    for name in found.components:
        for call in forward:
            if call.caller == name:
                layers[call.called] = max(layers[call.called], layers[name] + 1)
    return layers


def places_of(found: Topology) -> dict[str, tuple[float, float]]:
    """Centre of each component in layers and rows."""
    layers, used = layers_of(found), {}
    places = {}
    for name in found.components:
        row = used.get(layers[name], 0)
        used[layers[name]] = row + 1
        places[name] = (layers[name] + 0.5, row + 0.5)
    tallest = max(used.values(), default=0)
    return {name: (x, y + (tallest - used[int(x)]) / 2) for name, (x, y) in places.items()}


def specification(text: str) -> dict[str, Any]:
    """The picture as a Vega-Lite specification; empty where the answer names no call."""
    found = topology_of(text)
    if not found.calls:
        return {}
    places = places_of(found)
    columns = max(x for x, _y in places.values()) + 0.5
    rows = max(y for _x, y in places.values()) + 0.5
    boxes = [{"name": _short(name), "x": x, "y": y, "left": x - BOX_WIDTH / 2,
              "right": x + BOX_WIDTH / 2, "top": y - BOX_HEIGHT / 2, "bottom": y + BOX_HEIGHT / 2}
             for name, (x, y) in places.items()]
    lines = [_line(call, places) for call in found.calls if call.caller != call.called]
    x_scale, y_scale = {"domain": [0, columns]}, {"domain": [0, rows], "reverse": True}
    x = {"type": "quantitative", "scale": x_scale, "axis": None}
    y = {"type": "quantitative", "scale": y_scale, "axis": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": int(columns * WIDTH_OF_LAYER), "height": int(rows * HEIGHT_OF_ROW),
        "layer": [
            {"data": {"values": lines}, "mark": {"type": "rule", "color": LINE},
             "encoding": {"x": {"field": "x", **x}, "y": {"field": "y", **y},
                          "x2": {"field": "x2"}, "y2": {"field": "y2"}}},
            {"data": {"values": lines},
             "mark": {"type": "point", "shape": "triangle-right", "filled": True, "size": 60,
                      "color": LINE, "opacity": 1},
             "encoding": {"x": {"field": "x2", **x}, "y": {"field": "y2", **y},
                          "angle": {"field": "turn", "type": "quantitative", "scale": None}}},
            {"data": {"values": boxes},
             "mark": {"type": "rect", "fill": FILL, "stroke": INK, "cornerRadius": 3},
             "encoding": {"x": {"field": "left", **x}, "x2": {"field": "right"},
                          "y": {"field": "top", **y}, "y2": {"field": "bottom"}}},
            {"data": {"values": boxes}, "mark": {"type": "text", "fontSize": 12, "color": INK},
             "encoding": {"x": {"field": "x", **x}, "y": {"field": "y", **y},
                          "text": {"field": "name"}}},
            _words(lines, x, y, stroke="white", strokeWidth=4), _words(lines, x, y, color=LINE)],
        "config": {"font": FONT, "text": {"font": FONT}, "view": {"stroke": None}}}


def _words(lines: list[dict[str, Any]], x: dict, y: dict, **look: Any) -> dict[str, Any]:
    """What is called, beside the lines; drawn once in white, so that no line crosses it."""
    return {"data": {"values": [line for line in lines if line["what"]]},
            "mark": {"type": "text", "fontSize": 11, "dy": -7, "limit": WORDS_WIDTH, **look},
            "encoding": {"x": {"field": "words_x", **x}, "y": {"field": "words_y", **y},
                         "text": {"field": "what"}}}


def _line(call: Call, places: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """From the edge of one box to the edge of the other; backwards it enters from the right."""
    (x, y), (x2, y2) = places[call.caller], places[call.called]
    if x == x2:
        down = 1 if y2 > y else -1
        start, end = (x, y + down * BOX_HEIGHT / 2), (x2, y2 - down * (BOX_HEIGHT / 2 + 0.06))
        turn = 90 * down
    else:
        right = 1 if x2 > x else -1
        start, end = (x + right * BOX_WIDTH / 2, y), (x2 - right * (BOX_WIDTH / 2 + 0.02), y2)
        turn = 0 if right > 0 else 180
    at = WORDS_AT if start[1] != end[1] else 0.5  # level lines cross none
    return {"x": start[0], "y": start[1], "x2": end[0], "y2": end[1], "turn": turn,
            "what": _short(call.what), "words_x": start[0] + at * (end[0] - start[0]),
            "words_y": start[1] + at * (end[1] - start[1])}


def _short(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS - 1]}…"


@lru_cache(maxsize=64)
def picture(text: str) -> str:
    """The SVG of an answer; "" where it names no call."""
    from assessments.charts import as_svg  # the drawing engine: not at start

    spec = specification(text)
    return as_svg(spec) if spec else ""
