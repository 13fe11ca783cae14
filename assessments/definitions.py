"""The standard metric definitions (DOMAIN 3.1, 3.4, and the definitions in use) as data."""

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
        "source": "S2; ε: operator accuracy standard (X18)",
    },
    {
        "code": "loss_flagperf", **CURVE, **SAME_RUN,
        "figure": "mean_relative_error_from_step_21", "minimum_points": 21,
        "name": "损失平均相对误差（第 21 步起）", "name_en": "Loss mean relative error from step 21",
        "formula": "去掉前 20 个公共步后，|L_npu − L_ref| / |L_ref| 的平均",
        "formula_en": "mean of |L_npu − L_ref| / |L_ref| after the first 20 common steps",
        "source": "FlagPerf llama3_8B-megatron",
    },
    {
        "code": "loss_mean_absolute_error", **CURVE, **SAME_RUN, "comparison": "le", "unit": "",
        "figure": "mean_absolute_error",
        "name": "损失平均绝对误差", "name_en": "Loss mean absolute error",
        "formula": "|L_npu − L_ref| 的平均", "formula_en": "mean of |L_npu − L_ref|",
        "source": "verl, Ascend quick start",
    },
    {
        "code": "loss_every_step", **CURVE, **SAME_RUN, "comparison": "le",
        "figure": "max_relative_error",
        "name": "损失逐步最大相对误差", "name_en": "Loss maximum relative error of any step",
        "formula": "|L_npu − L_ref| / |L_ref| 的最大值",
        "formula_en": "maximum of |L_npu − L_ref| / |L_ref|",
        "source": "MindSpeed-LLM system tests",
    },
    {
        "code": "loss_error_of_means", **CURVE, "figure": "relative_error_of_means",
        "name": "损失均值的相对误差", "name_en": "Relative error of the mean losses",
        "formula": "|平均 L_npu − 平均 L_ref| / |平均 L_ref|",
        "formula_en": "|mean L_npu − mean L_ref| / |mean L_ref|", "source": "MindFormers",
    },
    {
        "code": "score_relative_error", "calculator": "relative_error", "quantity": "score",
        "comparison": "lt", "unit": "%",
        "name": "评测集得分误差", "name_en": "Evaluation score error",
        "formula": "|S_npu − S_ref| / |S_ref|，双侧", "formula_en": "|S_npu − S_ref| / |S_ref|, two-sided",
        "alignment": "相同提示、样例数、解码与评分版本",
        "alignment_en": "same prompts, shots, decoding and scorer version", "source": "S2",
    },
    {
        "code": "throughput_ratio", "calculator": "ratio", "quantity": "samples_per_second",
        "comparison": "ge", "unit": "%",
        "name": "吞吐达成率", "name_en": "Throughput against baseline",
        "formula": "吞吐_npu / 吞吐_ref", "formula_en": "throughput_npu / throughput_ref",
        "source": "S2 (M03)",
    },
    {
        "code": "inference_throughput", "calculator": "value", "quantity": "inference_throughput",
        "comparison": "ge", "unit": "/s",
        "name": "推理吞吐", "name_en": "Inference throughput",
        "formula": "1000 × 批大小 / 平均计算时间（毫秒）",
        "formula_en": "1000 × batch size / mean compute time (ms)", "source": "ais_bench",
    },
    {
        "code": "latency", "calculator": "value", "quantity": "latency_ms", "comparison": "le",
        "unit": "ms", "name": "平均推理时延", "name_en": "Mean inference latency",
        "formula": "各次计算时间的平均", "formula_en": "mean of the compute times",
        "source": "ais_bench",
    },
    {
        "code": "latency_reduction", "calculator": "reduction", "quantity": "latency_ms",
        "comparison": "ge", "unit": "%",
        "name": "推理时延降低", "name_en": "Inference latency reduction",
        "formula": "(时延_前 − 时延_后) / 时延_前", "formula_en": "(before − after) / before",
        "source": "S3 (M08)",
    },
    {
        "code": "peak_memory_reduction", "calculator": "reduction", "quantity": "peak_memory_mb",
        "comparison": "ge", "unit": "%",
        "name": "内存峰值降低", "name_en": "Peak memory reduction",
        "formula": "(峰值_前 − 峰值_后) / 峰值_前", "formula_en": "(before − after) / before",
        "source": "S3 (M06)",
    },
    {
        "code": "scaling_efficiency", "calculator": "scaling", "quantity": "samples_per_second",
        "comparison": "ge", "unit": "%",
        "name": "线性扩展效率", "name_en": "Scaling efficiency",
        "formula": "吞吐_n / (n × 吞吐_1)", "formula_en": "throughput_n / (n × throughput_1)",
        "source": "S3 (M07)",
    },
]
BY_CODE = {entry["code"]: entry for entry in STANDARD}
