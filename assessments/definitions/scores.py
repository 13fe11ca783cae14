"""Standard definitions of evaluation scores (DOMAIN 3.1: M02, M05)."""

from django.utils.translation import gettext_noop

from assessments.definitions.declaration import Definition

SAME_PROMPTS = ("相同提示、样例数、解码与评分版本",
                "same prompts, shots, decoding and scorer version")

SCORES = (
    Definition(
        "score_relative_error", "relative_error", "score", "lt", "%",
        name=("评测集得分误差", "Evaluation score error"),
        formula=("|S_npu − S_ref| / |S_ref|，双侧", "|S_npu − S_ref| / |S_ref|, two-sided"),
        alignment=SAME_PROMPTS,
        source=gettext_noop("Service contract (< 2 %)")),
    Definition(
        "score_degradation", "degradation", "score", "le", "%",
        name=("评测集得分下降（单侧）", "Evaluation score degradation (one-sided)"),
        formula=("(S_ref − S_npu) / |S_ref|；得分上升不计为误差",
                 "(S_ref − S_npu) / |S_ref|; a gain does not count as an error"),
        alignment=SAME_PROMPTS,
        source=gettext_noop("Quantisation criteria (≤ 1.5 %), MLPerf"),
        correction=gettext_noop("The cited criterion includes its limit: ≤ 1.5 %, not < 1.5 %.")),
    Definition(
        "score_points", "points", "score", "lt", "pp",
        name=("评测集得分下降（百分点）", "Evaluation score drop in points"),
        formula=("S_ref − S_npu，以百分点计；得分上升不计为误差",
                 "S_ref − S_npu in percentage points; a gain does not count as an error"),
        alignment=SAME_PROMPTS,
        source=gettext_noop("Service contract (< 2 points)")),
)
