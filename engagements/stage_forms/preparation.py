"""Forms of survey, design and environment preparation (DOMAIN 2.2: S0 3.1 to 3.3, S1, S2, S4)."""

from engagements.stage_forms.base import StageForm, items, lines

SURVEY = StageForm(
    activities=lines(
        ("算力选型、云特性与流程咨询", "Advise on compute, cloud features and the process"),
        ("调研现网业务的就绪度：算子覆盖、三方加速库、性能基线",
         "Survey how ready the live business is: operators, acceleration libraries, performance"),
        ("迁移评估：可行性、难度、资源、风险、收益",
         "Assess the migration: feasibility, difficulty, resources, risk, benefit"),
        ("收集服务器、模型版本、应用架构、部署拓扑与附带目标",
         "Collect servers, model version, architecture, topology and further goals"),
        ("选择主流权威模型仓，确认模型在源平台可运行",
         "Choose an authoritative repository; confirm that the model runs on the source platform"),
        ("扫描 API、三方套件、亲和 API 与动态 shape",
         "Scan APIs, third-party suites, affinity APIs and dynamic shapes")),
    inputs=lines(
        ("客户业务需求与场景", "The customer's need and scenario"),
        ("GPU 平台类型与具体型号", "Type and exact model of the GPU platform"),
        ("模型源码、参数、权重文件与测试集",
         "Code, parameters, weights and test data of the model"),
        ("迁移前的精度与性能数据（权威来源或实测）",
         "Accuracy and performance before, from an authoritative site or measured")),
    outputs=lines(
        ("调研记录", "Survey record"), ("可行性分析", "Feasibility analysis"),
        ("迁移评估报告", "Migration assessment report"), ("风险清单", "Risk list"),
        ("算子/API 清单", "List of operators and APIs"), ("基线记录", "Baseline record")),
    exit=lines(
        ("源模型已在源平台复现", "The source model is reproduced on the source platform"),
        ("精度与性能基线已连同软硬件记录",
         "Accuracy and performance are recorded with hardware and software"),
        ("不支持的 API/算子均已确定路线：替换、开发、CPU 运行或放弃",
         "Every unsupported API has a route: replace, develop, run on the CPU, drop"),
        ("是否启动与迁移策略已达成一致", "Going ahead and the strategy are agreed")),
    risks=lines(
        ("模型版本适配与环境依赖", "Version of the model, dependencies of the environment"),
        ("数据集与推理框架", "Data set and inference framework"),
        ("精度与性能目标", "Targets of accuracy and performance"), ("网络", "Network"),
        ("迁移时间与人力成本", "Time and labour of the migration")),
    tools=lines(("PyTorch Analyse", "PyTorch Analyse"), ("TF 脚本扫描工具", "TF script scanner"),
                ("npu-smi info", "npu-smi info")),
    checklist=items(
        ("源模型已在源平台复现", "Source model reproduced on the source platform", True),
        ("不支持的 API/算子均已确定处理路线", "Every unsupported API or operator has a route",
         False)))

DESIGN = StageForm(
    activities=lines(
        ("制定迁移方案与计划", "Make the migration design and plan"),
        ("明确所需资源与验收指标", "State the resources needed and the acceptance criteria"),
        ("选择目标硬件与框架（PyTorch、MindSpore、MindIE、MindSpeed）",
         "Choose target hardware and framework (PyTorch, MindSpore, MindIE, MindSpeed)"),
        ("与客户明确配合事项与验收标准",
         "Clarify cooperation duties and acceptance with the customer")),
    inputs=lines(
        ("调研报告与可行性分析", "Survey report and feasibility analysis"),
        ("训练：框架、数据集、源码、软硬件版本、收敛情况、评测方案",
         "Training: framework, data, source, versions, convergence, evaluation plan"),
        ("推理：框架、ONNX 模型、软硬件版本、目标、评测方案",
         "Inference: framework, ONNX model, versions, targets, evaluation plan")),
    outputs=lines(
        ("迁移方案", "Migration plan"), ("进度计划", "Schedule"), ("资源清单", "Resource list"),
        ("验收指标", "Acceptance criteria"), ("配合事项清单", "Cooperation list"),
        ("需求与设计文档", "Requirement and design documents")),
    exit=lines(
        ("方案与指标口径已签署", "Plan and metric definitions are signed"),
        ("基线已冻结", "The baseline is frozen"),
        ("报价单、工作说明书与方案一致", "Quotation and statement of work agree with the plan")),
    risks=lines(
        ("验收指标含糊", "Criteria left vague"),
        ("基线取自网页而非客户机器", "Baseline taken from a web page, not the customer's machine"),
        ("软件版本未锁定", "Software versions not pinned")),
    tools=lines(("版本配套表与支持表", "Version-pair and support tables"),
                ("计划表", "Planning sheet")),
    checklist=items(
        ("迁移方案与配合事项已与客户确认", "Plan and cooperation duties agreed with the customer",
         True)))

ENV = StageForm(
    activities=lines(
        ("安装驱动与固件", "Install driver and firmware"),
        ("安装 CANN Toolkit、Kernels、NNAL", "Install CANN toolkit, kernels and NNAL"),
        ("安装框架（PyTorch + torch_npu、MindSpore、TensorFlow）",
         "Install the framework (PyTorch + torch_npu, MindSpore, TensorFlow)"),
        ("安装 MindSpeed + Megatron-LM 或 MindIE 镜像",
         "Install MindSpeed + Megatron-LM, or the MindIE image"),
        ("在物理机、容器、虚拟机或 ModelArts 上验证",
         "Verify on bare metal, in a container, VM or ModelArts")),
    inputs=lines(
        ("服务器访问权限、芯片型号与架构", "Server access, chip type and architecture"),
        ("软件包", "Packages"), ("MindIE 镜像申请", "Approval of the MindIE image")),
    outputs=lines(
        ("可用环境", "Ready environment"), ("版本记录", "Version record"),
        ("环境检查报告", "Environment check report"), ("启动脚本", "Start-up scripts")),
    exit=lines(
        ("npu-smi info 显示健康", "npu-smi info reports healthy"),
        ("torch 报告 NPU 可用", "torch reports the NPU as available"),
        ("TensorFlow 能返回张量", "TensorFlow returns a tensor"),
        ("MindIE 日志出现启动成功信息", "The MindIE log shows the start message")),
    risks=lines(
        ("以错误的用户执行 set_env.sh，常导致找不到库或权限错误",
         "set_env.sh sourced as the wrong user: libraries not found, permission errors"),
        ("安装 TensorFlow 时 numpy 被替换", "numpy replaced by the TensorFlow install"),
        ("TensorFlow 与插件的 ABI 须一致", "The ABI of TensorFlow and plugin must match"),
        ("须先卸载旧版 MindSpeed", "An old MindSpeed must be removed first")),
    tools=lines(("*.run 安装包、pip、docker", "*.run installers, pip, docker"),
                ("npu-smi、set_env.sh", "npu-smi, set_env.sh")),
    checklist=items(
        ("CANN、框架与驱动版本已按方案锁定",
         "CANN, framework and driver versions pinned as planned", False)))
