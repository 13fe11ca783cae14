"""Evaluation results printed as lists: COCO's summary (mmdetection, YOLO) and the tables of
subjects that MindSpeed-LLM's evaluation prints."""

from __future__ import annotations

import re

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.evaluation.scores import KIND, scale_of
from toolreaders.figures import NUMBER
from toolreaders.source import ReadError

COCO = re.compile(
    r"Average (?P<kind>Precision|Recall) +\((?:AP|AR)\) @\[ IoU=(?P<iou>[\d.:]+) *\| "
    rf"area= *(?P<area>\w+) *\| maxDets= *(?P<most>\d+) *\] = (?P<value>{NUMBER})"
)
SUBJECTS = re.compile(r"^\s*(?:subject_name|subject|task)\s+question_n\s+acc\w*\s*$", re.MULTILINE)
SUBJECT = re.compile(r"^\s*(?:\d+\s+)?(\S.*?)\s+(\d+)\s+([\d.]+)\s*$")
ABSENT = -1.0


@register
class CocoReader(Reader):
    """pycocotools' twelve lines; -1 means that the area holds no object."""

    name = "coco_summary"
    kind = KIND
    tool = "pycocotools"

    def recognises(self, sample: Sample) -> int:
        return 65 if COCO.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        scores = {}
        for _number, line in source.lines():
            if (found := COCO.search(line)) and float(found["value"]) != ABSENT:
                metric = "AP" if found["kind"] == "Precision" else "AR"
                where = f"IoU={found['iou']},area={found['area']},maxDets={found['most']}"
                score = {"task": None, "metric": metric, "filter": where}
                scores[metric, where] = {**score, "value": float(found["value"])}
        if not scores:
            raise ReadError("no_scores", "The summary holds no score.")
        return self.reading({"scores": list(scores.values()), "scale": "fraction"})


@register
class SubjectTableReader(Reader):
    """``subject_name  question_n  acc`` and one row per subject, the last one being the total."""

    name = "mindspeed_llm_evaluation"
    kind = KIND
    version = "2"
    tool = "MindSpeed-LLM"

    def recognises(self, sample: Sample) -> int:
        return 85 if SUBJECTS.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        scores, is_table = [], False
        for _number, line in source.lines():
            is_table = is_table or bool(SUBJECTS.match(line))
            if is_table and (found := SUBJECT.match(line)):
                score = {"task": found[1], "metric": "acc", "value": float(found[3])}
                scores.append({**score, "samples": int(found[2])})
        if not scores:
            raise ReadError("no_scores", "The table holds no score.")
        return self.reading({"scores": scores, "scale": scale_of(scores)})
