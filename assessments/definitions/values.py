"""Standard definitions of single values: performance and function (DOMAIN 3.1, M03–M09)."""

from django.utils.translation import gettext_noop

from assessments.definitions.declaration import Definition

QUALITY = gettext_noop("Optimisation walk-through: quality of generated text is judged by people "
                       "or by tests")

VALUES = (
    Definition(
        "grad_norm_relative_error", "relative_error", "grad_norm_mean", "le", "%",
        name=("梯度范数相对误差", "Gradient norm relative error"),
        formula=("|平均范数_npu − 平均范数_ref| / |平均范数_ref|",
                 "|mean norm_npu − mean norm_ref| / |mean norm_ref|"),
        source=gettext_noop("MindFormers accuracy comparison (≤ 10 %)")),
    Definition(
        "throughput_ratio", "ratio", "samples_per_second", "ge", "%",
        name=("吞吐达成率", "Throughput against baseline"),
        formula=("吞吐_npu / 吞吐_ref", "throughput_npu / throughput_ref"),
        source=gettext_noop("Service contract")),
    Definition(
        "step_time", "value", "iteration_time_ms", "le", "ms",
        name=("平均单步耗时", "Mean iteration time"),
        formula=("去掉前 5 步后各步耗时的平均", "mean of the iteration times after the first five"),
        source=gettext_noop("MindSpeed-LLM system tests")),
    Definition(
        "inference_throughput", "value", "inference_throughput", "ge", "/s",
        name=("推理吞吐", "Inference throughput"),
        formula=("1000 × 批大小 / 平均计算时间（毫秒）",
                 "1000 × batch size / mean compute time (ms)"),
        source="ais_bench"),
    Definition(
        "latency", "value", "latency_ms", "le", "ms",
        name=("平均推理时延", "Mean inference latency"),
        formula=("各次计算时间的平均", "mean of the compute times"),
        source="ais_bench"),
    Definition(
        "latency_reduction", "reduction", "latency_ms", "ge", "%",
        name=("推理时延降低", "Inference latency reduction"),
        formula=("(时延_前 − 时延_后) / 时延_前", "(before − after) / before"),
        source=gettext_noop("Optimisation criteria (≥ 20 %)")),
    Definition(
        "peak_memory_reduction", "reduction", "peak_memory_mb", "ge", "%",
        name=("内存峰值降低", "Peak memory reduction"),
        formula=("(峰值_前 − 峰值_后) / 峰值_前", "(before − after) / before"),
        source=gettext_noop("Optimisation criteria (≥ 30 %)")),
    Definition(
        "scaling_efficiency", "scaling", "samples_per_second", "ge", "%",
        name=("线性扩展效率", "Scaling efficiency"),
        formula=("吞吐_n / (n × 吞吐_1)", "throughput_n / (n × throughput_1)"),
        source=gettext_noop("Optimisation criteria (32 cards: ≥ 80 %)")),
    Definition(
        "weights_available", "value", "weight_files", "ge", "",
        name=("权重产出（非空权重文件数）", "Weights available (files that are not empty)"),
        formula=("训练后检查点目录中非空权重文件的个数",
                 "number of non-empty weight files in the checkpoint folder after training"),
        alignment=("对检查点目录逐文件计算 SHA-256",
                   "SHA-256 of every file of the checkpoint folder"),
        source=gettext_noop("Service contract: weights are produced after training (≥ 1)")),
    Definition(
        "parameters_changed", "value", "changed_parameters", "gt", "%",
        name=("参数更新（变化的张量占比）", "Parameters changed (share of tensors)"),
        formula=("两个检查点之间内容不同的张量数 / 两者共有的张量数",
                 "tensors that differ between two checkpoints / tensors in both"),
        alignment=("两个检查点的张量集合须相同，否则视为未测量",
                   "both checkpoints hold the same tensors, else it counts as not measured"),
        source=gettext_noop("Service contract: parameters update during training (> 0)")),
    Definition(
        "finite_training", "value", "finite_steps", "ge", "%",
        name=("训练稳定性（有限损失占比）", "Stable training (share of finite losses)"),
        formula=("日志所记损失中有限值的个数 / 全部记录数",
                 "finite losses of the log / all losses that it records"),
        alignment=("仅对日志所记的步成立", "of the steps that the log records"),
        source=gettext_noop("No loss of the judged run is NaN or infinite (100 %)")),
    Definition(
        "answered_requests", "value", "request_success", "ge", "%",
        name=("服务稳定性（请求成功率）", "Stable service (share of answered requests)"),
        formula=("成功请求数 / (成功请求数 + 失败请求数)",
                 "completed / (completed + failed requests)"),
        alignment=("相同并发与请求集", "same concurrency and set of requests"),
        source=gettext_noop("Serving benchmarks")),
    Definition(
        "model_flops_utilisation", "value", "mfu", "ge", "%",
        name=("模型算力利用率（MFU）", "Model FLOPs utilisation (MFU)"),
        formula=("tokens/s × (6N + 12·L·H·T) / (卡数 × 单卡峰值)",
                 "tokens/s × (6 N + 12 L H T) / (cards × peak of a card)"),
        alignment=("参数量、峰值及其来源随数值一并记录",
                   "parameters, peak and its source are kept with the figure"),
        source=gettext_noop("PaLM (2022), appendix B")),
    Definition(
        "memory_bandwidth_utilisation", "value", "mbu", "ge", "%",
        name=("显存带宽利用率（MBU）", "Memory bandwidth utilisation (MBU)"),
        formula=("(权重字节 + KV 缓存字节) / 每词元时延 / (卡数 × 单卡峰值带宽)",
                 "(bytes of weights + KV cache) / time per token / (cards × peak bandwidth)"),
        alignment=("参数量、峰值及其来源随数值一并记录",
                   "parameters, peak and its source are kept with the figure"),
        source=gettext_noop("LLM Inference Performance Engineering (2023)")),
    Definition(
        "human_not_worse", "value", "human_not_worse", "ge", "%",
        name=("人工评测不劣率", "Human evaluation, share not worse"),
        formula=("(更好 + 相当) / 全部评分，迁移后模型相对源平台",
                 "(better + the same) / all ratings, migrated model against source platform"),
        alignment=("相同提示与解码参数；A/B 位置由存储的种子随机，评分者不知来源",
                   "same prompts and decoding; sides A and B drawn by a stored seed, raters do "
                   "not know the origin"),
        source=QUALITY),
    Definition(
        "rated_not_worse", "value", "rated_not_worse", "ge", "%",
        name=("质量评分不劣率", "Quality ratings, share not worse"),
        formula=("(更好 + 相当) / 全部评分；每个样本由人或自动评分程序对两侧输出打分",
                 "(better + the same) / all ratings; people or a program score both outputs of "
                 "each sample"),
        alignment=("相同样本与解码参数；评分者、样本与分值随文件留存",
                   "same samples and decoding; raters, samples and scores are kept in the file"),
        source=QUALITY),
    Definition(
        "rated_score_loss", "value", "rated_score_loss", "le", "%",
        name=("质量评分均值下降", "Quality ratings, loss of the mean"),
        formula=("(源平台均值 − 迁移后均值) / |源平台均值|",
                 "(mean of the source platform − mean after the migration) / |the first|"),
        alignment=("相同样本与评分者；分值越高越好",
                   "same samples and raters; a higher score is better"),
        source=QUALITY),
    Definition(
        "hbm_hit_rate", "value", "hbm_hit_rate", "ge", "%",
        name=("HBM 命中率", "HBM hit rate"),
        formula=("由 HBM 命中的访问次数 / 全部访问次数（HBM 与 DDR）",
                 "accesses served by HBM / all accesses (HBM and DDR)"),
        alignment=("两个计数取自同一次运行；文件为 JSON，desk_report 为 memory_tiers，"
                   "含 hbm_hits 与 accesses",
                   "both counters from one run; a JSON file with desk_report memory_tiers, "
                   "hbm_hits and accesses"),
        source=gettext_noop("Optimisation walk-through (reported: 92 %); no public tool counts "
                            "it")),
    Definition(
        "token_throughput", "value", "tokens_per_second", "ge", "/s",
        name=("训练吞吐（tokens/s）", "Training throughput (tokens/s)"),
        formula=("全局批大小 × 序列长度 / 每步耗时的中位数（去掉预热步）",
                 "global batch × sequence length / median time per step after the warm-up"),
        source=gettext_noop("Service contract (performance baseline)")),
    Definition(
        "token_throughput_ratio", "ratio", "tokens_per_second", "ge", "%",
        name=("训练吞吐达成率（tokens/s）", "Training throughput against baseline (tokens/s)"),
        formula=("吞吐_npu / 吞吐_ref", "throughput_npu / throughput_ref"),
        source=gettext_noop("Service contract (performance baseline)")),
    Definition(
        "token_latency", "value", "tpot_ms", "le", "ms",
        name=("每词元时延（TPOT）", "Latency per output token (TPOT)"),
        formula=("首词元之后各词元耗时的平均", "mean time per output token after the first"),
        source=gettext_noop("Serving benchmarks")),
    Definition(
        "token_latency_reduction", "reduction", "tpot_ms", "ge", "%",
        name=("每词元时延降低", "Reduction of the latency per output token"),
        formula=("(时延_前 − 时延_后) / 时延_前", "(before − after) / before"),
        alignment=("相同批大小、输入与输出长度", "same batch size, input and output lengths"),
        source=gettext_noop("Optimisation criteria (≥ 20 %, ms per token)")),
    Definition(
        "first_token_latency", "value", "ttft_ms", "le", "ms",
        name=("首词元时延（TTFT）", "Time to the first token (TTFT)"),
        formula=("各请求首词元耗时的平均", "mean time to the first token of the requests"),
        source=gettext_noop("Serving benchmarks")),
    Definition(
        "single_run_cosine", "value", "min_cosine", "ge", "%",
        name=("单次推理余弦相似度（分诊用，非验收）",
              "Single-run cosine similarity (for triage, not for acceptance)"),
        formula=("各输出张量余弦相似度的最小值；有 NaN 即不通过",
                 "smallest cosine of the compared tensors; any NaN means not passed"),
        alignment=("相同输入与数据类型", "same input and data type"),
        source=gettext_noop("Vendor's triage value (≥ 95 %); data-set accuracy may still fall "
                            "short")),
)
