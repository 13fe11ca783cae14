"""A compiled graph of MindSpore as save_graphs writes it (graph_build_*.ir, *_execute_*.ir).

Form: MindSpore 2.x, “Graph mode debugging: reading IR”. A node takes two lines: `%3(name) =
MatMul(…)`, then `: (inputs) -> (<Tensor[Float16], (32, 128)>)`.
"""

from __future__ import annotations

import re
from collections import Counter
from math import prod

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

HEAD = re.compile(r"# IR entry ?: ?@")
NODE = re.compile(r"^\s+%\d+\(([^)]*)\) = (?:PrimFunc_|Default/)?([A-Za-z]\w*)[(\[]")
OUTPUT = re.compile(r"^\s+: .*-> \((.*)\)\s*$")
TENSOR = re.compile(r"<(?:Ref\[)?Tensor\[([A-Za-z]+)(\d*)\]\]?, \(([\d, ]*)\)")
BITS = {"Bool": 8}
LISTED = 20


@register
class MindsporeGraphReader(Reader):
    """Operators by type, and the outputs that take most memory."""

    name = "mindspore_graph"
    kind = "memory"
    tool = "MindSpore"

    def recognises(self, sample: Sample) -> int:
        return 90 if HEAD.match(sample.text) else 0

    def read(self, source: Source) -> Reading:
        operators: Counter[str] = Counter()
        tensors, node, without = [], None, 0
        for _number, line in source.lines():
            if found := NODE.match(line):
                node = found
                operators[found[2]] += 1
            elif node and (found := OUTPUT.match(line)):
                shapes = TENSOR.findall(found[1])
                without += not shapes
                tensors += [{"name": node[1], "operator": node[2], "dtype": kind + bits,
                             "shape": shape, "bytes": _bytes(kind, bits, shape)}
                            for kind, bits, shape in shapes]
                node = None
        if not operators:
            raise ReadError("no_rows", "The graph holds no node.")
        tensors.sort(key=lambda tensor: -tensor["bytes"])
        warnings = [ReadingWarning("unfinished_line", "The last node has no output.")] if (
            node) else []
        return self.reading({
            "form": "graph", "operators": dict(operators.most_common()),
            "tensors": tensors[:LISTED], "tensor_bytes": sum(t["bytes"] for t in tensors),
            "without_shape": without}, warnings=warnings)


def _bytes(kind: str, bits: str, shape: str) -> int:
    sizes = [int(size) for size in shape.replace(" ", "").split(",") if size]
    return prod(sizes) * (int(bits) if bits else BITS.get(kind, 0)) // 8
