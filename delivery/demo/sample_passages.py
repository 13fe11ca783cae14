"""Passages of the sample's documents that no standard text can hold: only its people know them."""

# By kind of document and code of the passage.
PASSAGES: dict[str, dict[str, dict[str, str]]] = {
    "AS": {
        "as_conclusion": {
            "zh": "有条件可行：不支持的接口均按所列路线处理，源平台基线在设计阶段冻结（演练）。",
            "en": "Feasible under conditions: every API that is not supported follows the route "
                  "listed, and the source platform's baselines are frozen in the design "
                  "(practice)."},
        "as_advice": {
            "zh": "先迁移巡检报告生成大模型并签署损失曲线指标，其余模型按同一流程跟进（演练）。",
            "en": "Move the inspection report language model first and sign the criterion of its "
                  "loss curve; the other models follow the same way (practice)."}},
    "UG": {"ug_limits": {
        "zh": "演练节点没有真实 NPU，本文档的命令与版本只用于说明格式（演练）。",
        "en": "The practice node has no NPU: commands and versions show the form of this guide "
              "alone (practice)."}},
    "FA": {"fa_trial": {
        "zh": "演练约定的试运行期为 0 天，期间没有记录运行，也没有记录故障。",
        "en": "The practice agrees a trial period of 0 days; no operation and no incident were "
              "recorded in it."}},
}
