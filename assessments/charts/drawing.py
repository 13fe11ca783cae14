"""What all charts share: one Vega-Lite specification for the browser and for the PDF.

Built with Altair; drawn by vega-embed in the browser and by vl-convert as SVG for documents.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

FONT = "Noto Sans CJK SC"
MEASURED = "Liberation Sans"  # part of vl-convert; digits and Latin letters are about as wide
BROWSER_ONLY = ("tooltip",)
WIDTH, CURVES_HEIGHT, ERROR_HEIGHT = 860, 250, 150
BASELINE_COLOUR, CANDIDATE_COLOUR, LIMIT_COLOUR = "#8a6d1f", "#1f5fbf", "#c92a2a"


def as_svg(spec: dict[str, Any]) -> str:
    """The specification as SVG text; Chinese needs the Noto Sans CJK SC font on the machine.

    Layout measures each label several times. vl-convert 1.9 opens the font's file for each, which
    with a Chinese font of 19 MB is half of a drawing, so it measures with a font of its own: only
    Chinese is then looked for in files.
    """
    import vl_convert

    text = json.dumps(_on_paper(spec), ensure_ascii=False)  # a dict is converted more slowly
    svg = vl_convert.vegalite_to_svg(text)
    return svg.replace(f'font-family="{MEASURED}"', f'font-family="{FONT}"')


def _on_paper(part: Any) -> Any:
    """A specification without what only a browser shows, in the font that is measured quickly."""
    if isinstance(part, list):
        return [_on_paper(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    return {key: value if key in ("datasets", "data") else MEASURED if value == FONT
            else _on_paper(value) for key, value in part.items() if key not in BROWSER_ONLY}


def built_quickly(build: Callable) -> Callable:
    """The same function, while Altair leaves out its checks of every part (4/5 of the time).

    Tests check the whole specification against Vega-Lite's schema.
    """

    @wraps(build)
    def without_checks(*args, **kwargs):
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):
            return build(*args, **kwargs)

    return without_checks


def styled(chart):
    """Font, colours and legend that all charts share."""
    return chart.configure(
        background="#ffffff", font=FONT, padding=8,
    ).configure_axis(
        labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e6e8ec",
        labelColor="#333a45", titleColor="#333a45",
    ).configure_legend(
        orient="top", title=None, labelFontSize=12, labelLimit=400, padding=2,
        symbolStrokeWidth=2.5, symbolSize=260, symbolType="stroke",
    ).configure_title(fontSize=14, fontWeight="normal", anchor="start", color="#1b2330",
                      ).configure_view(stroke="#d5d9e0")
