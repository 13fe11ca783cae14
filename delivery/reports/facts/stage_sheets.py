"""What each stage asks of both parties and yields (DOMAIN 2.2, 9.5), as (Chinese, English)."""

from delivery.documents.bilingual import pair
from engagements.stages import Stage

Texts = tuple[str, str]

# description, supplier's duty, customer's duty, mark of completion
SHEETS: dict[str, tuple[Texts, Texts, Texts, Texts]] = {
    Stage.SURVEY: (
        ("调研业务、模型与源平台，扫描 API、算子与三方库，评估可行性与难度",
         "Survey of business, models and source platform; scan of APIs, operators and libraries; "
         "feasibility and difficulty"),
        ("编写问卷、运行分析、出具评估报告", "Questionnaire, analyses, assessment report"),
        ("填写问卷，提供源码、权重文件与基线数据", "Answers, sources, weights and baseline data"),
        ("源模型已复现，不支持项均有处理路线", "Source model reproduced, every gap has a route")),
    Stage.DESIGN: (
        ("确定技术路线、环境、资源、指标口径与计划",
         "Route, environment, resources, metric definitions and schedule"),
        ("编写迁移方案、指标与基线确认单", "Migration plan, criteria sheet, baseline sheet"),
        ("确认方案与配合事项，签署指标与基线", "Agree on the plan; sign criteria and baselines"),
        ("方案与指标口径已签署，基线已冻结", "Plan and definitions signed, baseline frozen")),
    Stage.ENV: (
        ("安装驱动、固件、CANN 与框架并验证", "Driver, firmware, CANN and framework installed and "
                                              "verified"),
        ("搭建环境、锁定版本、出具检查报告", "Set-up, pinned versions, environment report"),
        ("提供服务器、账号与软件包获取途径", "Servers, accounts and access to packages"),
        ("npu-smi 健康，框架识别 NPU", "npu-smi healthy, the framework sees the NPU")),
    Stage.TRAIN_ADAPT: (
        ("迁移训练脚本，改写分布式通信，保存检查点",
         "Training scripts migrated, communication rewritten, checkpoints saved"),
        ("代码适配与训练验证", "Adaptation of code, training shown to work"),
        ("解答业务与代码问题", "Answers on business and code"),
        ("在 NPU 上训练，参数更新并产出权重文件", "Trains on the NPU, parameters update, weights "
                                              "produced")),
    Stage.TRAIN_TUNE: (
        ("对齐训练精度并调优训练性能", "Training accuracy aligned, training performance tuned"),
        ("精度比对、性能分析与优化", "Comparison of accuracy, profiling, tuning"),
        ("提供源平台参考数据，确认结果", "Reference data of the source platform, confirmation"),
        ("达到已签署的训练指标", "Signed training criteria met")),
    Stage.INFER_MIGRATE: (
        ("转换模型或部署推理服务", "Models converted or inference served"),
        ("转换、部署与一致性验证", "Conversion, service, check against the reference"),
        ("提供推理输入与参考结果", "Inputs and reference results"),
        ("单次推理结果与参考一致", "One inference matches the reference")),
    Stage.INFER_TUNE: (
        ("优化推理精度、时延与吞吐", "Inference accuracy, latency and throughput tuned"),
        ("性能分析、量化与参数优化", "Profiling, quantisation, tuning of parameters"),
        ("确认推理指标与压测方式", "Confirms criteria and way of load testing"),
        ("达到已签署的推理指标", "Signed inference criteria met")),
    Stage.ACCEPT: (
        ("汇总证据、出具测试报告并组织验收", "Evidence, test report, acceptance"),
        ("测试报告、证据包、成果移交", "Test report, evidence bundle, hand-over"),
        ("评审证据，签署验收文件", "Examines the evidence, signs the acceptance"),
        ("客户签署验收文件", "The customer signs the acceptance")),
    Stage.OPERATION: (
        ("接入客户运维体系，移交监控，版本更新后回归验证，处理质保问题",
         "Integration with the customer's operation, monitoring handed over, regression runs after "
         "new releases, warranty claims"),
        ("监控移交、回归运行、质保处理", "Hand-over of monitoring, regression runs, repairs"),
        ("指定运维负责人，通知版本变更，反馈问题",
         "Names who operates it, announces new releases, reports defects"),
        ("监控已移交，质保问题均已关闭", "Monitoring handed over, every claim closed")),
}


def texts_of(stage: str) -> list[dict[str, str]]:
    """Description, supplier's duty, customer's duty, mark of completion."""
    return [pair(*texts) for texts in SHEETS[stage]]
