"""The shipped questionnaire: the 47 fields of DOMAIN chapter 7 in both languages.

One row per input; a compound field (“name, version, parameters”) has several rows with the same
number. Loaded into versioned rows; what a firm changes lives in the database only. A change of
these rows is a new edition: the hash of the one before goes to `EARLIER_EDITIONS`, so that an
installation that has not changed its questions gets the new ones as its next version.
"""

# content_hash of `publishing.question_dicts` of the editions shipped before this one.
EARLIER_EDITIONS = frozenset({
    "c03ab23425fc443c299cc26b8454c986c692ed4e525c8b336faaeb7e775ace6e",  # 1.0: hyper-parameters as one text, throughput in samples/s only
    "e75906d15a37d0bac90a966457a328f49f437b98c0084f3f1fcc9ee6c353ce39",  # before mixed precision as a choice, the MindIE image and the topology
    "e799c91206c5dfa3776bb75fd31b1a667468aeb64b25611b0337a786bf5afa76",  # before requirement and design documents
    "a474dddbbc26b742b398c5f9a68cd76b5765f6bb2e90bb4fca1d318bd9a6faf2",  # before Atlas A3 and 300I Duo were named
})

SECTIONS = {
    "project": ("项目", "Project"), "model": ("模型", "Model"),
    "libraries": ("三方库", "Third-party libraries"), "training": ("训练", "Training"),
    "data": ("数据", "Data"), "gpu": ("GPU 平台", "GPU platform"),
    "accuracy": ("精度基线", "Accuracy baseline"),
    "performance": ("性能基线", "Performance baseline"), "inference": ("推理", "Inference"),
    "application": ("应用", "Application"), "target": ("目标平台", "Target platform"),
    "environment": ("环境", "Environment"), "security": ("安全", "Security"),
    "evaluation": ("评测", "Evaluation"), "acceptance": ("验收", "Acceptance"),
    "cooperation": ("配合", "Cooperation"), "cloud": ("云资源", "Cloud resources"),
    "commercial": ("商务", "Commercial"), "risk": ("风险", "Risks"), "benefit": ("收益", "Benefit"),
}
TRAINS = {"model_scope": ["full", "training"]}
INFERS = {"model_scope": ["full", "inference"]}
# Language models are measured in tokens, all others in samples.
TOKENS, SAMPLES = {"model_kind": ["llm", "multimodal"]}, {
    "model_kind": ["vision", "speech", "recommendation", "other"]}
SOURCES = ("measured_customer=客户实测|measured by the customer;measured_us=我方实测|measured by us;"
           "published=公开资料（官网、论文、模型卡）|published (website, paper, model card)")
PRECISIONS = "fp16=FP16;bf16=BF16;fp32=FP32;mixed=混合精度|mixed precision"

# number, key, section, zh, en, type, required, per model, then what else there is to say
ROWS = [
    (1, "customer", "project", "客户名称、行业、联系人", "Customer, industry, contact", "text", 1, 0, {}),
    (2, "need", "project", "业务需求与场景", "Business need and scenario", "text", 1, 0, {}),
    (3, "scope", "project", "迁移目标", "Scope of the migration", "multi", 1, 0, {"options": "training=训练|training;finetuning=微调|fine-tuning;inference=推理|inference;full=全流程|the whole process"}),
    (3, "model_scope", "model", "本模型的迁移范围", "Scope for this model", "choice", 1, 1, {"options": "full=训练与推理|training and inference;training=仅训练|training only;inference=仅推理|inference only", "help": ("决定该模型要走的阶段", "Decides which stages the model goes through")}),
    (4, "goals", "project", "迁移附带目标", "Further goals", "text", 0, 0, {}),
    (5, "deadline", "project", "期望完成日期", "Deadline", "date", 1, 0, {}),
    (5, "windows", "project", "约束窗口", "Windows in which work is possible", "text", 0, 0, {}),
    (6, "model_name", "model", "模型名称与版本", "Model name and version", "text", 1, 1, {}),
    (6, "model_kind", "model", "模型类型", "Kind of model", "choice", 1, 1, {"options": "llm=语言模型|language model;multimodal=多模态大模型|multimodal language model;vision=视觉|vision;speech=语音|speech;recommendation=推荐|recommendation;other=其他|other", "help": ("决定性能以 tokens/s、ms/token 还是 samples/s、ms 计", "Decides whether performance is asked in tokens/s and ms/token or in samples/s and ms")}),
    (6, "parameters", "model", "规模（参数量）", "Size (parameters)", "number", 1, 1, {"unit": "10⁹"}),
    (7, "model_count", "project", "模型数量", "Number of models", "number", 1, 0, {"help": ("应与本项目登记的模型数一致", "Should equal the number of models of this engagement")}),
    (8, "code_origin", "model", "源码来源", "Origin of the code", "choice", 1, 1, {"options": "authoritative=权威仓|authoritative repository;modified=权威仓修改版|modified from a repository;own=自研|written in-house"}),
    (9, "materials", "model", "源码、权重、参数配置、测试集提供方式", "How code, weights, configuration and test set are provided", "file", 1, 1, {"help": ("填写存放位置，或已上传文件的编号（如 #12）", "A location, or the number of an uploaded file such as #12")}),
    (10, "framework", "model", "框架", "Framework", "choice", 1, 1, {"options": "pytorch=PyTorch;tensorflow=TensorFlow;mindspore=MindSpore;onnx=ONNX;other=其他|other"}),
    (10, "framework_version", "model", "框架版本", "Framework version", "text", 1, 1, {"help": ("例如 2.1.0", "For example 2.1.0")}),
    (11, "custom_ops", "model", "自定义算子、CUDA 扩展", "Custom operators or CUDA extensions", "bool", 1, 1, {}),
    (11, "custom_ops_list", "model", "自定义算子与扩展清单", "List of custom operators and extensions", "text", 1, 1, {"when": {"custom_ops": ["yes"]}}),
    (12, "dynamic_shape", "model", "动态 shape", "Dynamic shapes", "bool", 1, 1, {}),
    (13, "special_apis", "model", "torch.jit.script / channels_last / amp_C / apex 使用", "Use of torch.jit.script / channels_last / amp_C / apex", "multi", 1, 1, {"options": "jit_script=torch.jit.script;channels_last=channels_last;amp_c=amp_C;apex=apex;none=均未使用|none of them", "when": {"framework": ["pytorch"]}}),
    (14, "libraries", "libraries", "加速库与套件清单及版本", "Acceleration libraries and suites with versions", "text", 1, 1, {"help": ("如 flash-attn、DeepSpeed、Megatron、vLLM；没有则填“无”", "Such as flash-attn, DeepSpeed, Megatron, vLLM; “none” if there is none")}),
    (15, "training_task", "training", "训练任务", "Training task", "choice", 1, 1, {"options": "pretraining=预训练|pre-training;finetuning=微调|fine-tuning;lora=LoRA", "when": TRAINS}),
    (16, "precision", "training", "数据类型", "Data type", "choice", 1, 1, {"options": PRECISIONS, "when": TRAINS}),
    (16, "mixed_method", "training", "混合精度方式", "Method of mixed precision", "text", 1, 1, {"when": {"precision": ["mixed"]}}),
    (16, "mixed_way", "training", "混合精度实现", "Implementation of mixed precision", "choice", 0, 1, {"options": "amp=原生 AMP|native AMP;apex_o1=APEX O1;apex_o2=APEX O2;megatron=Megatron / MindSpeed 自带|built into Megatron or MindSpeed;deepspeed=DeepSpeed;framework=TensorFlow / MindSpore 自动混合精度|automatic mixed precision of TensorFlow or MindSpore;none=未使用|none", "when": TRAINS, "help": ("昇腾上两种方式均可：原生 AMP 由 torch_npu 支持，APEX 需安装昇腾适配版", "Both work on Ascend: native AMP through torch_npu, APEX in its Ascend build")}),
    (17, "parallel", "training", "并行策略 TP/PP/DP/CP/EP", "Parallel strategy TP/PP/DP/CP/EP", "text", 1, 1, {"when": TRAINS, "help": ("例如 TP2 PP2 DP2", "For example TP2 PP2 DP2")}),
    (17, "train_cards", "training", "训练卡数", "Cards used for training", "number", 1, 1, {"when": TRAINS}),
    (17, "train_nodes", "training", "训练节点数", "Nodes used for training", "number", 1, 1, {"when": TRAINS}),
    (18, "learning_rate", "training", "学习率（峰值）", "Learning rate (peak)", "number", 1, 1, {"when": TRAINS, "help": ("例如 1e-4", "For example 1e-4")}),
    (18, "lr_schedule", "training", "学习率策略", "Schedule of the learning rate", "choice", 0, 1, {"options": "constant=恒定|constant;linear=线性衰减|linear;cosine=余弦|cosine;step=阶梯|step;polynomial=多项式|polynomial;inverse_sqrt=平方根倒数|inverse square root;other=其他|other", "when": TRAINS}),
    (18, "warmup", "training", "预热（warm-up）", "Warm-up", "number", 0, 1, {"when": TRAINS}),
    (18, "warmup_unit", "training", "预热的单位", "Unit of the warm-up", "choice", 0, 1, {"options": "steps=步|steps;percent=占总步数的 %|% of all steps;epochs=轮|epochs;samples=样本|samples", "when": TRAINS}),
    (18, "optimiser", "training", "优化器", "Optimiser", "choice", 1, 1, {"options": "adamw=AdamW;adam=Adam;sgd=SGD;lamb=LAMB;adafactor=Adafactor;lion=Lion;other=其他|other", "when": TRAINS}),
    (18, "betas", "training", "betas 或动量", "Betas or momentum", "text", 0, 1, {"when": TRAINS, "help": ("例如 0.9, 0.95", "For example 0.9, 0.95")}),
    (18, "clip_grad", "training", "梯度裁剪（范数上限）", "Gradient clipping (largest norm)", "number", 0, 1, {"when": TRAINS}),
    (18, "weight_decay", "training", "权重衰减", "Weight decay", "number", 0, 1, {"when": TRAINS}),
    (18, "seed", "training", "随机种子", "Seed", "number", 0, 1, {"when": TRAINS}),
    (18, "micro_batch", "training", "微批大小（单卡）", "Micro batch (per card)", "number", 1, 1, {"when": TRAINS}),
    (18, "hyper", "training", "其他超参", "Further hyper-parameters", "text", 0, 1, {"when": TRAINS}),
    (19, "sequence", "training", "序列长度", "Sequence length", "number", 1, 1, {"unit": "token", "when": TRAINS, "help": ("非序列模型填 1", "1 for models without sequences")}),
    (19, "global_batch", "training", "全局批大小（Global Batch Size）", "Global batch size", "number", 1, 1, {"when": TRAINS}),
    (20, "dataset", "data", "数据集名称、规模、格式、存放、可否出域", "Data set: name, size, format, place, may it leave", "text", 1, 1, {}),
    (21, "cleaning_done", "data", "数据清洗：已完成的处理", "Data cleaning: what has been done", "multi", 0, 1, {"options": "duplicates=去重|duplicates removed;language=语言筛选|filtered by language;quality=质量过滤|filtered by quality;leakage=剔除测试集泄漏|test set not in the training set;personal=去除个人信息|personal data removed;none=未清洗|nothing", "when": TRAINS}),
    (21, "cleaning", "data", "数据清洗说明（工具、规则、前后数量）", "Data cleaning in words (tools, rules, numbers before and after)", "text", 0, 1, {}),
    (22, "gpu_type", "gpu", "硬件类型与具体型号、卡数、节点", "Hardware type and exact model, cards, nodes", "text", 1, 0, {}),
    (23, "gpu_software", "gpu", "驱动/CUDA/框架/镜像版本", "Versions of driver, CUDA, framework and image", "text", 1, 0, {}),
    (24, "accuracy_metric", "accuracy", "精度指标名、数据集、日期", "Accuracy metric, data set, date", "text", 1, 1, {}),
    (24, "accuracy_value", "accuracy", "精度指标数值", "Value of the accuracy metric", "number", 1, 1, {}),
    (24, "accuracy_source", "accuracy", "精度基线来源", "Source of the accuracy baseline", "choice", 1, 1, {"options": SOURCES, "help": ("公开资料不能替代实测：签署指标前须在源平台复现", "A publication does not replace a measurement: reproduce it on the source platform before criteria are signed")}),
    (24, "accuracy_publication", "accuracy", "公开资料的地址或名称", "Address or name of the publication", "text", 1, 1, {"when": {"accuracy_source": ["published"]}}),
    (25, "loss_curve", "accuracy", "loss 曲线文件（步-损失）", "Loss-curve file (step, loss)", "file", 1, 1, {"when": TRAINS}),
    (26, "repeats", "accuracy", "重复次数", "Number of repetitions", "number", 1, 1, {}),
    (26, "spread", "accuracy", "波动", "Spread between repetitions", "number", 0, 1, {"unit": "%"}),
    (27, "performance_source", "performance", "性能基线来源", "Source of the performance baseline", "choice", 1, 1, {"options": SOURCES}),
    (27, "performance_publication", "performance", "公开资料的地址或名称", "Address or name of the publication", "text", 1, 1, {"when": {"performance_source": ["published"]}}),
    (27, "throughput", "performance", "吞吐", "Throughput", "number", 1, 1, {"unit": "samples/s", "when": SAMPLES}),
    (27, "token_throughput", "performance", "吞吐", "Throughput", "number", 1, 1, {"unit": "tokens/s", "when": TOKENS, "help": ("训练的模型填训练吞吐，仅推理的模型填输出词元吞吐；均为整机或集群合计", "Of the training for a model that trains, else of the output tokens; of all cards together")}),
    (27, "step_time", "performance", "单步时间", "Time per step", "number", 0, 1, {"unit": "ms", "when": TRAINS}),
    (27, "peak_memory", "performance", "显存峰值", "Peak device memory", "number", 1, 1, {"unit": "GB"}),
    (27, "latency", "performance", "时延", "Latency", "number", 1, 1, {"unit": "ms", "when": {**SAMPLES, **INFERS}}),
    (27, "token_latency", "performance", "每词元时延（TPOT）", "Latency per output token (TPOT)", "number", 1, 1, {"unit": "ms/token", "when": {**TOKENS, **INFERS}}),
    (27, "first_token", "performance", "首词元时延（TTFT）", "Time to the first token (TTFT)", "number", 0, 1, {"unit": "ms", "when": {**TOKENS, **INFERS}}),
    (27, "concurrency", "performance", "并发", "Concurrency", "number", 0, 1, {"when": INFERS}),
    (28, "inference_framework", "inference", "现有推理框架", "Inference framework in use", "text", 1, 1, {"when": INFERS}),
    (28, "model_format", "inference", "模型格式", "Model format", "choice", 1, 1, {"options": "onnx=ONNX;torchscript=TorchScript;safetensors=safetensors;savedmodel=SavedModel;other=其他|other", "when": INFERS}),
    (29, "latency_target", "inference", "时延目标", "Latency target", "number", 1, 1, {"unit": "ms", "when": {**SAMPLES, **INFERS}}),
    (29, "token_latency_target", "inference", "每词元时延目标（TPOT）", "Target of the latency per output token (TPOT)", "number", 1, 1, {"unit": "ms/token", "when": {**TOKENS, **INFERS}}),
    (29, "first_token_target", "inference", "首词元时延目标（TTFT）", "Target of the time to the first token (TTFT)", "number", 0, 1, {"unit": "ms", "when": {**TOKENS, **INFERS}}),
    (29, "throughput_target", "inference", "吞吐目标", "Throughput target", "number", 0, 1, {"unit": "samples/s", "when": {**SAMPLES, **INFERS}}),
    (29, "token_throughput_target", "inference", "输出词元吞吐目标", "Target of the output tokens", "number", 0, 1, {"unit": "tokens/s", "when": {**TOKENS, **INFERS}}),
    (29, "target_batch", "inference", "目标 batch", "Batch of the targets", "number", 1, 1, {"when": INFERS}),
    (29, "target_concurrency", "inference", "目标并发", "Concurrency of the targets", "number", 0, 1, {"when": INFERS}),
    (29, "input_length", "inference", "输入长度", "Input length", "number", 1, 1, {"unit": "token", "when": {**TOKENS, **INFERS}}),
    (29, "output_length", "inference", "输出长度", "Output length", "number", 1, 1, {"unit": "token", "when": {**TOKENS, **INFERS}}),
    (29, "inference_shape", "inference", "输入形状及其他条件", "Shape of the input and other conditions", "text", 1, 1, {"when": {**SAMPLES, **INFERS}, "help": ("例如 640×640", "For example 640×640")}),
    (30, "quantisation", "inference", "量化要求", "Quantisation wanted", "choice", 0, 1, {"options": "none=不量化|none;w8a8=W8A8;w8a16=W8A16;kv_int8=KV Cache int8;sparse=W8A8 稀疏|W8A8 sparse", "when": INFERS}),
    (30, "quantisation_loss", "inference", "可接受的精度损失", "Acceptable loss of accuracy", "number", 0, 1, {"unit": "%", "when": {"quantisation": ["w8a8", "w8a16", "kv_int8", "sparse"]}}),
    (31, "dvpp", "inference", "DVPP/AIPP 使用", "Use of DVPP/AIPP", "bool", 0, 1, {"when": INFERS}),
    (32, "architecture", "application", "应用架构、部署拓扑、调用关系、指标关系", "Application architecture, deployment topology, call and metric relations", "text", 1, 0, {}),
    (32, "architecture_file", "application", "架构图文件", "File with the architecture diagram", "file", 0, 0, {}),
    (32, "topology", "application", "组件与调用关系（逐行）", "Components and calls, one a line", "text", 0, 0, {"help": ("每行一条：调用方 -> 被调用方：说明。例如：网关 -> 推理服务：HTTP", "One a line: caller -> called: what. For example: gateway -> inference service: HTTP")}),
    (33, "chip", "target", "昇腾型号", "Ascend model", "choice", 1, 0, {"options": "910=Ascend 910;910b=Ascend 910B;910c=Ascend 910C（Atlas A3）|Ascend 910C (Atlas A3);310p=Ascend 310P（Atlas 300I Duo）|Ascend 310P (Atlas 300I Duo)"}),
    (33, "cards", "target", "目标卡数", "Cards on the target", "number", 1, 0, {}),
    (33, "procurement", "target", "已有/待购、云/本地", "Present or to be bought, cloud or on premises", "choice", 1, 0, {"options": "cloud_have=云上已有|in the cloud, present;cloud_buy=云上待购|in the cloud, to be bought;local_have=本地已有|on premises, present;local_buy=本地待购|on premises, to be bought"}),
    (34, "os", "target", "操作系统", "Operating system", "text", 1, 0, {}),
    (34, "arch", "target", "架构", "Architecture", "choice", 1, 0, {"options": "x86=x86;aarch64=aarch64"}),
    (34, "hosting", "target", "运行形态", "Form of hosting", "choice", 1, 0, {"options": "container=容器|container;bare=裸机|bare metal;vm=虚拟机|virtual machine;modelarts=ModelArts"}),
    (35, "cann", "target", "驱动/固件/CANN 现有版本", "Present versions of driver, firmware and CANN", "text", 0, 0, {}),
    (36, "network", "environment", "网络", "Network", "choice", 1, 0, {"options": "internet=外网|internet;intranet=内网|intranet only;proxy=代理|through a proxy"}),
    (36, "packages", "environment", "制品获取方式", "How packages are obtained", "text", 1, 0, {"when": {"network": ["intranet", "proxy"]}}),
    (36, "mindie_image", "environment", "MindIE 镜像申请状态", "State of the MindIE image", "choice", 0, 0, {"options": "not_needed=不需要|not needed;to_apply=待申请|to be applied for;applied=已申请，待批准|applied for;approved=已批准，待下载|approved;downloaded=已下载|downloaded"}),
    (36, "mindie_image_name", "environment", "MindIE 镜像名称与申请编号", "Name of the MindIE image and number of the application", "text", 1, 0, {"when": {"mindie_image": ["applied", "approved", "downloaded"]}, "help": ("例如 2.0.RC2-800I-A2-py311-openeuler24.03-lts", "For example 2.0.RC2-800I-A2-py311-openeuler24.03-lts")}),
    (37, "access", "environment", "SSH 接入、堡垒机、账号、并行网络（HCCL）", "SSH access, bastion, accounts, parallel network (HCCL)", "text", 1, 0, {"help": ("不要填写口令或密钥", "Never enter passwords or keys")}),
    (38, "storage", "environment", "存储（NVMe/共享）、容量", "Storage (NVMe or shared), capacity", "text", 1, 0, {}),
    (39, "confidentiality", "security", "数据与代码保密要求、是否可上传证据、留存期限", "Confidentiality of data and code, may evidence be uploaded, retention", "text", 1, 0, {}),
    (40, "evaluation", "evaluation", "评测方案、工具、打分脚本版本", "Evaluation plan, tool, version of the scoring script", "text", 1, 0, {}),
    (41, "criteria", "acceptance", "验收指标、阈值、口径、测量次数、验收环境、验收人", "Acceptance metrics, thresholds, definitions, repetitions, environment, signatory", "text", 1, 0, {}),
    (42, "deliverables", "acceptance", "交付物清单", "Deliverables", "multi", 1, 0, {"options": "code=代码|code;scripts=脚本|scripts;report=报告|report;manual=说明文档|documentation;requirement=需求文档|requirement document;design=设计文档|design document"}),
    (43, "duties", "cooperation", "客户配合事项与责任人", "Duties of the customer and who is responsible", "text", 1, 0, {}),
    (44, "cloud", "cloud", "需要的云资源", "Cloud resources needed", "multi", 0, 0, {"options": "ecs=ECS;bms=BMS;storage=存储|storage;network=网络|network;security=安全|security"}),
    (45, "budget", "commercial", "预算", "Budget", "number", 1, 0, {"unit": "CNY"}),
    (45, "purchase", "commercial", "采购方式", "Way of purchase", "choice", 1, 0, {"options": "direct=直接采购|direct;tender=招标|tender;framework=框架协议|framework agreement"}),
    (45, "payment", "commercial", "付款方式", "Payment terms", "text", 1, 0, {}),
    (45, "invoice", "commercial", "发票类型", "Invoice type", "choice", 1, 0, {"options": "special=增值税专用发票|special VAT invoice;ordinary=增值税普通发票|ordinary VAT invoice"}),
    (45, "tax", "commercial", "税率", "Tax rate", "number", 1, 0, {"unit": "%"}),
    (46, "risks", "risk", "已知问题", "Known problems", "multi", 1, 0, {"options": "version=版本|versions;dependency=依赖|dependencies;data=数据|data;framework=框架|framework;metrics=指标|metrics;network=网络|network;time=时间|time;staff=人力|staff;none=暂无|none"}),
    (46, "risk_text", "risk", "已知问题说明", "Known problems in words", "text", 0, 0, {}),
    (47, "benefit", "benefit", "昇腾云收益预期", "Benefit expected of the Ascend cloud", "text", 0, 0, {}),
]  # fmt: skip


def standard_questions() -> list[dict]:
    """The shipped questions as the dictionaries that `services.publish_questionnaire` takes."""
    return [_question(*row) for row in ROWS]


def _question(number, key, section, zh, en, kind, required, per_model, more) -> dict:
    help_zh, help_en = more.get("help", ("", ""))
    section_zh, section_en = SECTIONS[section]
    return {
        "number": number, "key": key, "section": section, "section_label": section_zh,
        "section_label_en": section_en, "label": zh, "label_en": en, "type": kind,
        "is_required": bool(required), "is_per_model": bool(per_model), "help": help_zh,
        "help_en": help_en, "unit": more.get("unit", ""), "condition": more.get("when", {}),
        "options": [_option(text) for text in more.get("options", "").split(";") if text]}


def _option(text: str) -> dict:
    code, _eq, labels = text.partition("=")
    zh, _bar, en = labels.partition("|")
    return {"code": code, "label": zh, "label_en": en or zh}
