"""The standard metric definitions (DOMAIN 3.1, 3.4, and the definitions in use) as data.

Those of single values stand in `value_definitions.py`.
"""

from django.utils.translation import gettext_noop

from assessments.value_definitions import VALUES

CURVE = {"calculator": "loss_curve", "quantity": "loss_curve", "comparison": "lt", "unit": "%"}
SAME_RUN = {
    "alignment": "同一全局步、相同数据顺序、相同随机种子与初始权重；不平滑、不剔除",
    "alignment_en": "same global step, data order, seed and initial weights; no smoothing, "
                    "no exclusion",
}

STANDARD = [
    {
        "code": "loss_mean_relative_error", **CURVE, **SAME_RUN, "epsilon": 1e-7,
        "figure": "mean_relative_error",
        "name": "损失曲线平均相对误差", "name_en": "Loss-curve mean relative error",
        "formula": "对窗口内每一步取 |L_npu − L_ref| / max(|L_ref|, ε)，求平均",
        "formula_en": "mean over the steps of |L_npu − L_ref| / max(|L_ref|, ε)",
        "source": gettext_noop("Service contract (< 2 %); ε as in the operator accuracy standard"),
    },
    {
        "code": "loss_flagperf", **CURVE, **SAME_RUN,
        "figure": "mean_relative_error_from_step_21", "minimum_points": 21,
        "name": "损失平均相对误差（第 21 步起）",
        "name_en": "Loss mean relative error from step 21",
        "formula": "去掉前 20 个公共步后，|L_npu − L_ref| / |L_ref| 的平均",
        "formula_en": "mean of |L_npu − L_ref| / |L_ref| after the first 20 common steps",
        "source": "FlagPerf llama3_8B-megatron",
    },
    {
        "code": "loss_mean_absolute_error", **CURVE, **SAME_RUN, "comparison": "le", "unit": "",
        "figure": "mean_absolute_error",
        "name": "损失平均绝对误差", "name_en": "Loss mean absolute error",
        "formula": "|L_npu − L_ref| 的平均", "formula_en": "mean of |L_npu − L_ref|",
        "source": gettext_noop("verl, Ascend quick start"),
    },
    {
        "code": "loss_every_step", **CURVE, **SAME_RUN, "comparison": "le",
        "figure": "max_relative_error",
        "name": "损失逐步最大相对误差", "name_en": "Loss maximum relative error of any step",
        "formula": "|L_npu − L_ref| / |L_ref| 的最大值",
        "formula_en": "maximum of |L_npu − L_ref| / |L_ref|",
        "source": gettext_noop("MindSpeed-LLM system tests"),
    },
    {
        "code": "loss_error_of_means", **CURVE, "figure": "relative_error_of_means",
        "name": "损失均值的相对误差", "name_en": "Relative error of the mean losses",
        "formula": "|平均 L_npu − 平均 L_ref| / |平均 L_ref|",
        "formula_en": "|mean L_npu − mean L_ref| / |mean L_ref|", "source": "MindFormers",
    },
    {
        "code": "loss_epsilon_added", **CURVE, **SAME_RUN, "epsilon": 1e-9,
        "figure": "mean_relative_error_epsilon_added",
        "name": "损失平均相对误差（分母加 ε）",
        "name_en": "Loss mean relative error, ε added to the divisor",
        "formula": "|L_npu − L_ref| / (|L_ref| + ε) 的平均，不剔除任何步",
        "formula_en": "mean of |L_npu − L_ref| / (|L_ref| + ε), no step left out",
        "source": gettext_noop("MindSpeed feature precision guarding"),
    },
    {
        "code": "loss_first_step", **CURVE, **SAME_RUN, "figure": "relative_error_first_step",
        "name": "首步损失相对误差", "name_en": "Relative error of the first loss",
        "formula": "第一个公共步的 |L_npu − L_ref| / |L_ref|",
        "formula_en": "|L_npu − L_ref| / |L_ref| at the first common step",
        "source": "MindFormers (< 0.5 %)",
    },
    {
        "code": "loss_last_100", **CURVE, "figure": "relative_error_last_100",
        "minimum_points": 100,
        "name": "末 100 步损失均值的相对误差",
        "name_en": "Relative error of the mean of the last 100 losses",
        "formula": "最后 100 个公共步：|平均 L_npu − 平均 L_ref| / |平均 L_ref|",
        "formula_en": "last 100 common steps: |mean L_npu − mean L_ref| / |mean L_ref|",
        "source": gettext_noop("Delivery practice"),
    },
    {
        "code": "score_relative_error", "calculator": "relative_error", "quantity": "score",
        "comparison": "lt", "unit": "%",
        "name": "评测集得分误差", "name_en": "Evaluation score error",
        "formula": "|S_npu − S_ref| / |S_ref|，双侧",
        "formula_en": "|S_npu − S_ref| / |S_ref|, two-sided",
        "alignment": "相同提示、样例数、解码与评分版本",
        "alignment_en": "same prompts, shots, decoding and scorer version",
        "source": gettext_noop("Service contract (< 2 %)"),
    },
    {
        "code": "score_degradation", "calculator": "degradation", "quantity": "score",
        "comparison": "lt", "unit": "%",
        "name": "评测集得分下降（单侧）", "name_en": "Evaluation score degradation (one-sided)",
        "formula": "(S_ref − S_npu) / |S_ref|；得分上升不计为误差",
        "formula_en": "(S_ref − S_npu) / |S_ref|; a gain does not count as an error",
        "alignment": "相同提示、样例数、解码与评分版本",
        "alignment_en": "same prompts, shots, decoding and scorer version",
        "source": gettext_noop("Quantisation criteria (≤ 1.5 %), MLPerf"),
    },
    {
        "code": "score_points", "calculator": "points", "quantity": "score",
        "comparison": "lt", "unit": "pp",
        "name": "评测集得分下降（百分点）", "name_en": "Evaluation score drop in points",
        "formula": "S_ref − S_npu，以百分点计；得分上升不计为误差",
        "formula_en": "S_ref − S_npu in percentage points; a gain does not count as an error",
        "alignment": "相同提示、样例数、解码与评分版本",
        "alignment_en": "same prompts, shots, decoding and scorer version",
        "source": gettext_noop("Service contract (< 2 points)"),
    },
    {
        "code": "mindformers_first_loss", **CURVE, **SAME_RUN,
        "figure": "relative_error_first_step", "minimum_points": 1000,
        "name": "MindFormers：首步损失误差", "name_en": "MindFormers: first loss",
        "formula": "第一个公共步上 |L_npu − L_ref| / |L_ref|；不少于 1000 步",
        "formula_en": "|L_npu − L_ref| / |L_ref| at the first common step; at least 1,000 steps",
        "source": gettext_noop("MindFormers accuracy comparison (< 0.5 %)"),
    },
    {
        "code": "mindformers_mean_loss", **CURVE, **SAME_RUN,
        "figure": "mean_relative_error", "minimum_points": 1000,
        "name": "MindFormers：损失平均误差", "name_en": "MindFormers: mean loss error",
        "formula": "|L_npu − L_ref| / |L_ref| 的平均；不少于 1000 步",
        "formula_en": "mean of |L_npu − L_ref| / |L_ref|; at least 1,000 steps",
        "source": gettext_noop("MindFormers accuracy comparison (< 1 %)"),
    },
    {
        "code": "grad_norm_relative_error", "calculator": "relative_error",
        "quantity": "grad_norm_mean", "comparison": "le", "unit": "%",
        "name": "梯度范数相对误差", "name_en": "Gradient norm relative error",
        "formula": "|平均范数_npu − 平均范数_ref| / |平均范数_ref|",
        "formula_en": "|mean norm_npu − mean norm_ref| / |mean norm_ref|",
        "source": gettext_noop("MindFormers accuracy comparison (≤ 10 %)"),
    },
    *VALUES,
]
BY_CODE = {entry["code"]: entry for entry in STANDARD}
