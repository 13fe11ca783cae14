"""AIPP configuration of ATC (``--insert_op_conf``): a protobuf text with ``aipp_op { … }`` blocks.

Fields and limits: ATC 离线模型编译工具用户指南 (CANN 8.x), “AIPP 使能 → 配置文件模板”.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError

FIELD = re.compile(r"^\s*(?P<name>\w+)\s*:\s*(?P<value>[^\s{}#]+)\s*$")
BLOCK = re.compile(r"^\s*aipp_op\s*\{")
YUV420 = ("YUV420SP_U8", "YUV400_U8")
FORMATS = ("YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8", "NC1HWC0DI_FP16",
           "NC1HWC0DI_S8", "ARGB8888_U8", "YUYV_U8", "YUV422SP_U8", "AYUV444_U8", "RAW10", "RAW12",
           "RAW16", "RAW24", "RGB16", "RGB20", "RGB24", "RGB8_IR", "RGB16_IR", "RGB24_IR")


@register
class AippReader(Reader):
    """``aipp.cfg``: what is done with an image before the model, and what contradicts itself."""

    name = "aipp_config"
    kind = "aipp_config"
    tool = "atc"

    def recognises(self, sample: Sample) -> int:
        return 95 if any(BLOCK.match(line) for line in sample.lines) else 0

    def read(self, source: Source) -> Reading:
        blocks: list[dict[str, list[str]]] = []
        depth, unknown = 0, []
        for number, raw in source.lines():
            line = raw.split("#", 1)[0]
            if BLOCK.match(line):
                blocks.append({})
            elif (found := FIELD.match(line)) and blocks:
                blocks[-1].setdefault(found["name"], []).append(found["value"])
            elif line.strip(" \t\r\n{}"):
                unknown.append(number)
            depth += line.count("{") - line.count("}")
        if not blocks or depth or unknown:
            where = f" Line {unknown[0]} is not understood." if unknown else ""
            raise ReadError("damaged_file", f"The blocks are not complete.{where}")
        faults = [fault for block in blocks for fault in _faults(block)]
        return self.reading({"inputs": [_plain(block) for block in blocks],
                             "input_count": len(blocks), "faults": faults})


def _plain(block: dict[str, list[str]]) -> dict[str, Any]:
    return {name: values[0] if len(values) == 1 else values for name, values in block.items()}


def _faults(block: dict[str, list[str]]) -> list[str]:
    """Sentences on what contradicts itself in one block."""
    def number(name: str) -> int:
        return int(float(block.get(name, ["0"])[0]))

    def is_on(name: str) -> bool:
        return block.get(name, ["false"])[0].lower() in ("true", "1")

    found = []
    mode, form = block.get("aipp_mode", [""])[0], block.get("input_format", [""])[0]
    if mode not in ("static", "dynamic"):
        found.append("aipp_mode is neither static nor dynamic.")
    if mode == "static" and form not in FORMATS:
        found.append(f"static mode needs an input_format; “{form}” is none.")
    width, height = number("src_image_size_w"), number("src_image_size_h")
    if form == "YUV420SP_U8" and (width % 2 or height % 2):
        found.append(f"YUV420SP_U8 needs an even size; it is {width} × {height}.")
    if is_on("csc_switch") and form in ("YUV400_U8",):
        found.append("YUV400_U8 has no colours to convert (csc_switch).")
    if form == "YUV420SP_U8" and is_on("csc_switch") and not any(
            name.startswith("matrix_r") for name in block):
        found.append("csc_switch is on, but no matrix_r… is given.")
    if is_on("crop") and width and number("load_start_pos_w") + number("crop_size_w") > width:
        found.append("the cut-out reaches beyond the width of the image.")
    if is_on("crop") and height and number("load_start_pos_h") + number("crop_size_h") > height:
        found.append("the cut-out reaches beyond the height of the image.")
    if any(name.startswith("var_reci_chn") and float(values[0]) == 0
           for name, values in block.items()):
        found.append("var_reci_chn… is 0: every pixel would become 0.")
    return found
