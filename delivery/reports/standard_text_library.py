"""The texts that ship, as (Chinese, English) by code of the passage.

A line that begins with "- " is an item of a list. What only a person can judge (conclusions,
advice, lessons learned) has no text here: it is written, or the document does without it.
"""

STANDARD: dict[str, tuple[str, str]] = {
    # Migration assessment report, DOMAIN 9.6; strategies after the solution guide.
    "as_method": (
        "评估依据调研问卷、对源码的静态扫描以及在节点上运行的迁移分析。扫描只读取源码，不执行；"
        "每项结论均可追溯到附件所列原始文件及其 SHA-256。",
        "The assessment rests on the survey, on a static scan of the sources and on migration "
        "analyses run on a node. A scan reads the sources and executes nothing; each finding leads "
        "to a raw file named in the annex with its SHA-256."),
    "as_strategy": (
        "- 自动迁移（transfer_to_npu）：改动最小，适合以标准 API 为主的脚本。\n"
        "- 工具迁移（PyTorch GPU2Ascend）：生成改动清单，便于审查与移交。\n"
        "- 手工迁移：用于自定义算子、CUDA 扩展和分布式改写。\n"
        "- 推理路线：小模型转换为离线模型（ATC）；大语言模型采用 MindIE LLM；"
        "需要保留框架灵活性时采用在线推理。",
        "- Automatic (transfer_to_npu): the fewest changes, for scripts that use standard APIs.\n"
        "- By tool (PyTorch GPU2Ascend): yields a list of changes that can be reviewed and handed "
        "over.\n"
        "- By hand: for custom operators, CUDA extensions and distributed code.\n"
        "- Inference: small models are converted to offline models (ATC); large language models "
        "run on MindIE LLM; online inference where the framework's flexibility is needed."),
    # Statement of work, DOMAIN 9.5 and 10.
    "sow_purpose": (
        "本工作说明书约定双方在本项目中的工作范围、职责、交付物、验收与变更方式，作为合同的附件。"
        "术语：昇腾/NPU 指华为昇腾 AI 处理器；基线指在源平台（通常为 GPU）实测的参考值；"
        "人天按 8 小时计。",
        "This statement of work sets out scope, duties, deliverables, acceptance and change control "
        "of the project and is attached to the contract. Terms: Ascend or NPU means a Huawei Ascend "
        "AI processor; a baseline is a reference measured on the source platform, normally a GPU; "
        "a person-day has 8 hours."),
    "sow_assumptions": (
        "- 客户在项目开始前提供源码、权重文件、参数配置、测试集及复现所需的环境说明。\n"
        "- 客户提供目标昇腾环境的访问方式，并保证约定的卡数可用。\n"
        "- 基线在客户的源平台上测得，由双方确认后冻结。\n"
        "- 数据与代码的使用遵守双方的保密约定。",
        "- The customer provides sources, weights, configuration, test set and what is needed to "
        "reproduce them before the project starts.\n"
        "- The customer gives access to the Ascend environment with the agreed number of cards.\n"
        "- Baselines are measured on the customer's source platform and frozen once both sides "
        "have confirmed them.\n"
        "- Data and code are used under the parties' confidentiality agreement."),
    "sow_acceptance": (
        "按双方签署的验收指标确认单逐项验收；每项结论由系统依据原始数据和已签署口径计算。"
        "客户自收到交付物之日起 5 个工作日内书面确认，或逐项说明不通过的原因；"
        "供方在 10 个工作日内整改后复验。默示验收仅在合同另有约定时适用。",
        "Acceptance goes item by item against the signed acceptance criteria; every verdict is "
        "computed from raw data under the signed definition. Within 5 business days of delivery the "
        "customer accepts in writing or gives itemised reasons for rejection; the supplier cures "
        "within 10 business days and the item is inspected again. Silence counts as acceptance only "
        "if the contract says so."),
    "sow_change": (
        "任何一方可书面提出变更，说明原因、变更前后内容，以及对范围、进度、费用和验收指标的影响；"
        "经双方批准后生效，未批准前按原约定执行。影响验收指标、总价或里程碑日期的为重大变更。",
        "Either party may request a change in writing, stating the reason, what holds before and "
        "after, and the effect on scope, schedule, fee and acceptance criteria. It is in force once "
        "both parties approve it; until then the present terms hold. A change of criteria, total "
        "fee or milestone dates is a major one."),
    "sow_terms": (
        "本工作说明书与合同不一致时以合同为准；中英文不一致时以中文为准。人员更换须提前书面通知，"
        "接替人员的级别不低于原人员。",
        "Where this statement differs from the contract, the contract prevails; between the "
        "languages the Chinese text prevails. A change of personnel is announced in writing in "
        "advance; the successor's grade is not lower."),
    # Migration plan, DOMAIN 9.7.
    "mp_route": (
        "先在源平台复现并冻结基线，再搭建并锁定昇腾环境；训练侧完成脚本迁移后，依次进行精度对齐和"
        "性能调优；推理侧完成模型转换或服务部署后，再进行推理精度与性能优化；最后按已签署指标验收。",
        "The baseline is reproduced on the source platform and frozen; the Ascend environment is "
        "set up and pinned. On the training side scripts are migrated, then accuracy aligned, then "
        "performance tuned. On the inference side models are converted or served, then tuned for "
        "accuracy and performance. Acceptance follows under the signed criteria."),
    "mp_training": (
        "- 脚本迁移：优先自动或工具迁移，自定义算子逐项替换、开发或改用 CPU 执行。\n"
        "- 分布式：通信改为 HCCL，并行策略与基线保持一致。\n"
        "- 保存检查点并确认参数正常更新。",
        "- Scripts: automatic or by tool where possible; each custom operator is replaced, "
        "developed or moved to the CPU.\n- Distribution: communication over HCCL, the same parallel "
        "strategy as the baseline.\n- Checkpoints are saved and parameters shown to update."),
    "mp_inference": (
        "- 导出 ONNX 并以 ATC 转换为离线模型，或以 MindIE LLM 部署服务。\n"
        "- 单次推理结果先与参考一致，再测时延与吞吐。\n- 量化仅在客户同意的精度损失内使用。",
        "- ONNX export and ATC conversion to an offline model, or service on MindIE LLM.\n- One "
        "inference matches the reference before latency and throughput are measured.\n- "
        "Quantisation only within the loss of accuracy that the customer agreed to."),
    "mp_accuracy": (
        "- 精度：配置核对 → 数据转储 → 逐层比对 → 损失曲线 → 评测分数；数据顺序、随机种子与初始权重"
        "与基线一致。\n- 性能：采集 → 分析 → 优化的循环，依次检查并行策略、数据读取、融合算子、"
        "内存与通信。",
        "- Accuracy: configuration check, data dump, layer-by-layer comparison, loss curve, "
        "evaluation score; same data order, seed and initial weights as the baseline.\n- "
        "Performance: profile, analyse, tune, in a loop over parallel strategy, input, fused "
        "operators, memory and communication."),
    "mp_cooperation": (
        "- 提供源码、权重文件、数据与基线测量所需的源平台。\n- 提供昇腾环境的账号、网络与堡垒机接入。\n"
        "- 指定技术负责人与验收签署人，按计划参加评审。",
        "- Sources, weights, data and the source platform for the baseline.\n- Accounts, network "
        "and bastion access to the Ascend environment.\n- A technical lead and a signatory who "
        "take part in reviews as planned."),
    "mp_fallback": (
        "迁移期间源平台保持可用；每阶段保留可回退的代码版本与环境镜像。某项指标无法达到时，"
        "先提交原因分析与备选方案，由双方通过变更流程决定。",
        "The source platform stays available during the migration; every stage keeps a version of "
        "code and image to return to. If a criterion cannot be met, cause and alternatives are "
        "submitted and the parties decide by change request."),
    "mp_communication": (
        "每周提交周报；里程碑与重大问题召开会议并形成纪要；变更按变更单执行。",
        "A weekly report; meetings with minutes at milestones and for major problems; changes by "
        "change request."),
    # Sheets that both sides confirm, DOMAIN AR-02 and AR-04.
    "ac_statement": (
        "双方确认本单所列指标、口径与阈值。签署后冻结，变更须经批准的变更单并产生新版本；"
        "结论由系统以未取整的数值按已签署口径计算。",
        "Both parties confirm the metrics, definitions and thresholds of this sheet. Once signed it "
        "is frozen; a change takes an approved change request and a new version. Verdicts are "
        "computed from unrounded figures under the signed definitions."),
    "bl_statement": (
        "双方确认本单所列基线及其测量条件，作为后续比对的参考。基线以所列原始文件及其 SHA-256 为准；"
        "重测超出所记波动范围时应查明原因。",
        "Both parties confirm these baselines and how they were measured; later comparisons refer "
        "to them. The raw files with their SHA-256 are what counts; a re-measurement outside the "
        "recorded spread has to be explained."),
    # Acceptance, DOMAIN 9.9.
    "pa_effect": (
        "初验通过后进入试运行，并触发合同约定的付款节点。试运行期间的问题记入遗留问题清单，"
        "关闭或经双方接受后进行终验。",
        "Provisional acceptance starts the trial run and releases the payment that the contract "
        "ties to it. Problems of the trial run go on the list of outstanding issues; final "
        "acceptance follows once they are closed or accepted by both parties."),
    "hd_statement": (
        "供方已将下列成果移交客户，客户逐项核对名称、版本、数量与校验值后签收。"
        "签收只证明收到，不替代验收。",
        "The supplier hands the following items over; the customer checks name, version, quantity "
        "and checksum of each and confirms receipt. Receipt does not replace acceptance."),
    "hd_guidance": (
        "- 环境：按环境检查报告所列版本安装。\n- 训练与推理：以本清单所列的脚本与说明文档为准，未列出的不在本次移交之内。\n"
        "- 复核：在离线环境中可用证据包重新计算每个校验值与结论。",
        "- Environment: the versions of the environment report.\n- Training and inference: the "
        "scripts and guides as far as they stand in this list; what does not is not handed over.\n- Checking: the evidence bundle recomputes every "
        "checksum and verdict offline."),
    "ug_scope": (
        "本文档说明迁移后的模型在昇腾环境中如何准备、训练、评测与推理。命令、版本与条件均取自各步骤最近一次成功的运行，"
        "编号为运行号，可在证据包中核对。",
        "This guide says how the migrated models are prepared, trained, evaluated and served on "
        "Ascend. Commands, versions and conditions are those of the newest successful run of each "
        "step; the run's number leads to it in the evidence bundle."),
    "ug_environment": (
        "按下表版本安装驱动、固件、CANN 与框架；每次登录后先执行 set_env.sh，再以 npu-smi info 确认芯片状态正常。",
        "Install driver, firmware, CANN and framework in the versions of the table; source "
        "set_env.sh in every session, then check with npu-smi info that the chips are healthy."),
    "pl_statement": (
        "本清单列出尚未关闭的问题与未通过的指标。责任人与期限由双方确认；"
        "标注“影响终验”的问题在终验前关闭。",
        "This list holds issues that are open and criteria that are not passed. Both parties agree "
        "on the person responsible and the date; issues marked as affecting final acceptance are "
        "closed before it."),
}
