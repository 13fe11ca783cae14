"""Forms of inference migration, inference tuning, acceptance (DOMAIN 2.2: S0 3.6, 3.7, S2) and
operation, of which S0 names the step alone."""

from engagements.stage_forms.base import StageForm, items, lines

INFER_MIGRATE = StageForm(
    activities=lines(
        ("小模型：ATC 或 MindSpore Lite 转换，先处理自定义算子",
         "Small models: ATC or MindSpore Lite conversion, custom operators first"),
        ("AI CPU 算子不支持数据类型时插入 Cast",
         "Insert a Cast where an AI CPU operator rejects a data type"),
        ("大模型：MindIE LLM", "Large models: MindIE LLM"),
        ("按加速需求选择离线、MindIE-LLM 或在线推理",
         "Choose offline, MindIE-LLM or online inference by the need for acceleration")),
    inputs=lines(("ONNX、pb、air 或权重文件", "ONNX, pb, air or weights"),
                 ("算子库", "Operator library"), ("目标 SoC", "Target SoC")),
    outputs=lines((".om 或 .ms 模型", ".om or .ms model"),
                  ("MindIE 服务配置", "MindIE service configuration"),
                  ("推理代码", "Inference code")),
    exit=lines(
        ("转换成功并产出文件", "The conversion succeeds and the file is there"),
        ("单次推理结果与参考一致", "One inference matches the reference"),
        ("MindIE 服务已启动", "The MindIE service is started")),
    risks=lines(
        ("不支持的算子、数据类型或 shape", "Unsupported operators, data type or shape"),
        ("模型族不在内置列表中", "The model family is not in the built-in list")),
    tools=lines(("ATC", "ATC"),
                ("MindSpore Lite 转换与运行时", "MindSpore Lite converter and runtime"),
                ("MindIE LLM / MindIE Service", "MindIE LLM / MindIE Service"),
                ("ATB Models", "ATB Models")),
    checklist=items(("单次推理结果与参考一致", "One inference matches the reference", True)))

INFER_TUNE = StageForm(
    activities=lines(
        ("DVPP/AIPP 串接检查", "Check the chain of DVPP and AIPP"),
        ("算子精度比对，溢出 dump 与解析", "Compare operators, dump and parse overflow"),
        ("内存池对齐的二次分配", "Memory pool with aligned sub-allocation"),
        ("pyACL 性能采集（三种方式）", "pyACL profiling (three ways)"),
        ("AOE、AMCT、量化", "AOE, AMCT, quantisation"),
        ("分布式推理、KV Cache、连续批处理",
         "Distributed inference, KV cache, continuous batching")),
    inputs=lines(("可用的 .om、.ms 或 MindIE 服务（整网推理已跑通）",
                  "Working .om, .ms or MindIE service (the whole network already infers)"),
                 ("参考输出", "Reference outputs"),
                 ("目标时延与吞吐", "Target latency and throughput")),
    outputs=lines(("精度比对结果", "Accuracy comparison"), ("溢出 JSON", "Overflow JSON"),
                  ("性能数据", "Profile"), ("调优后的模型", "Tuned model"),
                  ("性能报告", "Performance report")),
    exit=lines(("推理精度、时延与吞吐达到合同值",
                "Accuracy, latency and throughput of the inference at the contract's values")),
    risks=lines(
        ("DVPP、AIPP 与模型串接处的参数错误", "Wrong parameters where DVPP, AIPP and model meet"),
        ("算子精度", "Accuracy of operators"), ("数据读写开销", "Cost of reading and writing data"),
        ("共享内存池对齐错误导致越界", "Wrong alignment in a shared pool leads out of bounds")),
    tools=lines(("AOE、AMCT、modelslim、ATC", "AOE, AMCT, modelslim, ATC"),
                ("msaccucmp.py、msprof", "msaccucmp.py, msprof"),
                ("pyACL 性能接口", "pyACL profiling interfaces"),
                ("DVPP/AIPP 配置检查", "DVPP/AIPP configuration check")),
    checklist=items(
        ("推理时延与吞吐按合同口径测得",
         "Latency and throughput measured as the contract defines", False)))

ACCEPT = StageForm(
    activities=lines(
        ("在客户提供的昇腾平台与验证环境上验收",
         "Accept on the customer's Ascend platform and verification environment"),
        ("使用开源数据集或客户数据", "Use open-source data sets or the customer's"),
        ("检查昇腾上的训练功能：参数正常更新并产出权重文件",
         "Check training on Ascend: parameters update, weights are produced"),
        ("核对精度与性能达到约定目标",
         "Check accuracy and performance against the agreed targets")),
    inputs=lines(("已签署的指标与基线", "Signed metrics and baseline"),
                 ("证据包", "Evidence bundle"), ("交付物", "Deliverables")),
    outputs=lines(
        ("模型迁移测试报告", "Model migration test report"),
        ("可在昇腾上直接训练的模型代码与训练脚本",
         "Model code and scripts that train directly on Ascend"),
        ("使用说明文档", "User guide")),
    exit=lines(("精度与性能达标，验收通过，报告已出具",
                "Accuracy and performance meet the targets, acceptance passed, report issued")),
    risks=lines(
        ("指标未定义", "Undefined metrics"),
        ("客户环境与调优环境不同", "The customer's environment differs from that of the tuning"),
        ("签署后变更指标", "Criteria changed after signature")),
    tools=lines(("证据包", "Evidence bundle"), ("报告生成", "Report generator")),
    checklist=items(("交付物清单已核对", "Deliverables checked against the list", True)))

OPERATION = StageForm(
    activities=lines(
        ("接入客户的发布、日志与告警体系",
         "Integrate with the customer's releases, logs and alarms"),
        ("移交监控：指标、告警阈值与联系人",
         "Hand over the monitoring: figures, limits of alarms, contacts"),
        ("CANN、驱动或框架更新后回归运行",
         "Repeat the accepted runs after a new CANN, driver or framework"),
        ("处理质保期内的问题", "Repair what is claimed under the warranty")),
    inputs=lines(("已签署的验收文件", "Signed acceptance"), ("使用说明文档", "User guide"),
                 ("客户的运维规范", "The customer's rules of operation")),
    outputs=lines(("监控移交记录", "Record of the hand-over of monitoring"),
                  ("回归对比", "Comparison of regression runs"),
                  ("质保处理记录", "Record of warranty claims")),
    exit=lines(("监控已移交", "The monitoring is handed over"),
               ("回归运行均已结束", "Every regression run has ended"),
               ("质保问题均已关闭", "Every warranty claim is closed")),
    risks=lines(
        ("客户环境更新后性能或精度回退",
         "Performance or accuracy lost by an update of the customer's environment"),
        ("告警无人处理", "Alarms that nobody answers")),
    tools=lines(("npu-smi、msprof", "npu-smi, msprof"),
                ("回归运行与质保登记", "Regression runs and list of warranty claims")),
    checklist=items(("监控指标、告警与联系人已移交客户运维",
                     "Figures, alarms and contacts handed over to the customer's operation", True)))
