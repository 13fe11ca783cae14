"""Checklists of the stages (DOMAIN 2.2, exit conditions), as (zh, en) pairs.

Only what a person must confirm stands here; what the system can see for itself is a gate check.
"""

from engagements.stages import Stage

CHECKLISTS: dict[str, list[tuple[str, str]]] = {
    Stage.SURVEY: [
        ("源模型已在源平台复现", "Source model reproduced on the source platform"),
        ("不支持的 API/算子均已确定处理路线", "Every unsupported API or operator has a route"),
    ],
    Stage.DESIGN: [
        ("迁移方案与配合事项已与客户确认", "Plan and cooperation duties agreed with the customer"),
    ],
    Stage.ENV: [
        ("CANN、框架与驱动版本已按方案锁定",
         "CANN, framework and driver versions pinned as planned"),
    ],
    Stage.TRAIN_ADAPT: [
        ("权重已产出且参数正常更新", "Weights produced and parameters update"),
    ],
    Stage.TRAIN_TUNE: [
        ("数据顺序、随机种子与初始权重与基线一致",
         "Same data order, seed and initial weights as the baseline"),
    ],
    Stage.INFER_MIGRATE: [
        ("单次推理结果与参考一致", "One inference matches the reference"),
    ],
    Stage.INFER_TUNE: [
        ("推理时延与吞吐按合同口径测得", "Latency and throughput measured as the contract defines"),
    ],
    Stage.ACCEPT: [
        ("交付物清单已核对", "Deliverables checked against the list"),
    ],
}
