"""Standard definitions of loss curves (DOMAIN 3.1, 3.4, and those in use elsewhere)."""

from django.utils.translation import gettext_noop

from assessments.definitions.declaration import Definition

SAME_RUN = (
    "同一全局步、相同数据顺序、相同随机种子与初始权重；不平滑、不剔除",
    "same global step, data order, seed and initial weights; no smoothing, no exclusion")

CURVES = (
    Definition(
        "loss_mean_relative_error", "loss_curve", "loss_curve", "lt", "%",
        name=("损失曲线平均相对误差", "Loss-curve mean relative error"),
        formula=("对窗口内每一步取 |L_npu − L_ref| / max(|L_ref|, ε)，求平均",
                 "mean over the steps of |L_npu − L_ref| / max(|L_ref|, ε)"),
        alignment=SAME_RUN,
        figure="mean_relative_error", epsilon=1e-07,
        source=gettext_noop("Service contract (< 2 %); ε as in the operator accuracy standard")),
    Definition(
        "loss_flagperf", "loss_curve", "loss_curve", "lt", "%",
        name=("损失平均相对误差（第 21 步起）", "Loss mean relative error from step 21"),
        formula=("去掉前 20 个公共步后，|L_npu − L_ref| / |L_ref| 的平均",
                 "mean of |L_npu − L_ref| / |L_ref| after the first 20 common steps"),
        alignment=SAME_RUN,
        figure="mean_relative_error_from_step_21", minimum_points=21,
        source="FlagPerf llama3_8B-megatron"),
    Definition(
        "loss_mean_absolute_error", "loss_curve", "loss_curve", "le", "",
        name=("损失平均绝对误差", "Loss mean absolute error"),
        formula=("|L_npu − L_ref| 的平均", "mean of |L_npu − L_ref|"),
        alignment=SAME_RUN,
        figure="mean_absolute_error",
        source=gettext_noop("verl, Ascend quick start")),
    Definition(
        "loss_every_step", "loss_curve", "loss_curve", "le", "%",
        name=("损失逐步最大相对误差", "Loss maximum relative error of any step"),
        formula=("|L_npu − L_ref| / |L_ref| 的最大值", "maximum of |L_npu − L_ref| / |L_ref|"),
        alignment=SAME_RUN,
        figure="max_relative_error",
        source=gettext_noop("MindSpeed-LLM system tests")),
    Definition(
        "loss_error_of_means", "loss_curve", "loss_curve", "lt", "%",
        name=("损失均值的相对误差", "Relative error of the mean losses"),
        formula=("|平均 L_npu − 平均 L_ref| / |平均 L_ref|",
                 "|mean L_npu − mean L_ref| / |mean L_ref|"),
        figure="relative_error_of_means",
        source="MindFormers"),
    Definition(
        "loss_epsilon_added", "loss_curve", "loss_curve", "lt", "%",
        name=("损失平均相对误差（分母加 ε）", "Loss mean relative error, ε added to the divisor"),
        formula=("|L_npu − L_ref| / (|L_ref| + ε) 的平均，不剔除任何步",
                 "mean of |L_npu − L_ref| / (|L_ref| + ε), no step left out"),
        alignment=SAME_RUN,
        figure="mean_relative_error_epsilon_added", epsilon=1e-09,
        source=gettext_noop("MindSpeed feature precision guarding")),
    Definition(
        "loss_first_step", "loss_curve", "loss_curve", "lt", "%",
        name=("首步损失相对误差", "Relative error of the first loss"),
        formula=("第一个公共步的 |L_npu − L_ref| / |L_ref|",
                 "|L_npu − L_ref| / |L_ref| at the first common step"),
        alignment=SAME_RUN,
        figure="relative_error_first_step",
        source="MindFormers (< 0.5 %)"),
    Definition(
        "loss_last_100", "loss_curve", "loss_curve", "lt", "%",
        name=("末 100 步损失均值的相对误差", "Relative error of the mean of the last 100 losses"),
        formula=("最后 100 个公共步：|平均 L_npu − 平均 L_ref| / |平均 L_ref|",
                 "last 100 common steps: |mean L_npu − mean L_ref| / |mean L_ref|"),
        figure="relative_error_last_100", minimum_points=100,
        source=gettext_noop("Delivery practice")),
    Definition(
        "mindformers_first_loss", "loss_curve", "loss_curve", "lt", "%",
        name=("MindFormers：首步损失误差", "MindFormers: first loss"),
        formula=("第一个公共步上 |L_npu − L_ref| / |L_ref|；不少于 1000 步",
                 "|L_npu − L_ref| / |L_ref| at the first common step; at least 1,000 steps"),
        alignment=SAME_RUN,
        figure="relative_error_first_step", minimum_points=1000,
        source=gettext_noop("MindFormers accuracy comparison (< 0.5 %)")),
    Definition(
        "mindformers_mean_loss", "loss_curve", "loss_curve", "lt", "%",
        name=("MindFormers：损失平均误差", "MindFormers: mean loss error"),
        formula=("|L_npu − L_ref| / |L_ref| 的平均；不少于 1000 步",
                 "mean of |L_npu − L_ref| / |L_ref|; at least 1,000 steps"),
        alignment=SAME_RUN,
        figure="mean_relative_error", minimum_points=1000,
        source=gettext_noop("MindFormers accuracy comparison (< 1 %)")),
)
