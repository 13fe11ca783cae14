"""The sample firm: its people, customers and engagements, all invented and marked as practice.

Its engagements stand where a firm's engagements stand: at the survey, waiting for the customer,
late and over its budget, accepted, in the middle of the tuning. `manage.py demo` takes the first
one, after the case of the solution guide, to its signed acceptance.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta

from engagements.migration_routes import InferenceRoute, TrainingRoute
from engagements.models import Role
from engagements.stages import Scope

PASSWORD = "Practice-2026"
NODE_NAME = "practice-1"
MAIL = "@practice.example"  # ends the addresses of practice people

LOGINS = [
    ("manager", PASSWORD, "项目经理 / project manager"),
    ("lead", PASSWORD, "交付负责人（项目经理角色） / delivery lead (project manager)"),
    ("consultant", PASSWORD, "交付顾问 / delivery consultant"),
    ("sales", PASSWORD, "商务 / sales and finance"),
    ("operator", PASSWORD, "节点管理员 / node operator"),
    ("reviewer", PASSWORD, "客户评审 / customer reviewer"),
    ("admin", PASSWORD, "管理员 / administrator"),
]

FIRM = ("昇腾迁移交付有限公司（演练）", "Ascend Migration Delivery Ltd. (practice)")
POWER, POWER_EN = "某智能电力公司", "A smart electric-power company"
RAIL, RAIL_EN = "某轨道交通集团", "A metro group"
BANK, BANK_EN = "某股份制银行", "A joint-stock bank"
CONSULTANT = ("交付顾问", "Delivery consultant")
# username: role, name, job title, organisation; each text in Chinese and in English
PEOPLE = {
    "admin": (Role.ADMINISTRATOR, ("沈管理", "Shen Guanli"), ("系统管理员", "System administrator"),
              FIRM),
    "manager": (Role.MANAGER, ("林雪", "Lin Xue"), ("项目经理", "Project manager"), FIRM),
    "lead": (Role.MANAGER, ("徐岚", "Xu Lan"), ("交付负责人", "Delivery lead"), FIRM),
    "consultant": (Role.CONSULTANT, ("周启明", "Zhou Qiming"),
                   ("高级交付顾问", "Senior delivery consultant"), FIRM),
    "sales": (Role.SALES, ("何嘉", "He Jia"), ("商务经理", "Account manager"), FIRM),
    "operator": (Role.OPERATOR, ("马涛", "Ma Tao"), ("节点管理员", "Node administrator"), FIRM),
    "reviewer": (Role.REVIEWER, ("陈国栋", "Chen Guodong"),
                 ("信息中心主任", "Head of the information centre"), (POWER, POWER_EN)),
    "consultant2": (Role.CONSULTANT, ("李晓彤", "Li Xiaotong"), CONSULTANT, FIRM),
    "consultant3": (Role.CONSULTANT, ("吴迪", "Wu Di"), CONSULTANT, FIRM),
    "sales2": (Role.SALES, ("冯雅", "Feng Ya"), ("商务经理", "Account manager"), FIRM),
    "reviewer2": (Role.REVIEWER, ("郑海涛", "Zheng Haitao"),
                  ("车辆部技术主管", "Technical lead, rolling stock"), (RAIL, RAIL_EN)),
    "reviewer3": (Role.REVIEWER, ("宋洁", "Song Jie"), ("科技部架构师", "Architect, IT department"),
                  (BANK, BANK_EN)),
}
CUSTOMERS = {
    POWER: {"credit_code": "91110000MA0PRACT1Q", "name_en": POWER_EN,
            "industry": "电力", "contact_name": "陈国栋",
            "contact_name_en": "Chen Guodong", "address_en": "Beijing (practice address)",
            "contact_phone": "010-00000000", "contact_email": "reviewer@practice.example",
            "address": "北京市（演练地址）"},
    RAIL: {"credit_code": "91440000MA0PRACT2C", "name_en": RAIL_EN,
           "industry": "轨道交通", "contact_name": "郑海涛",
           "contact_name_en": "Zheng Haitao", "address_en": "Guangzhou (practice address)",
           "contact_phone": "020-00000000", "contact_email": "reviewer2@practice.example",
           "address": "广州市（演练地址）"},
    BANK: {"credit_code": "91440300MA0PRACT3Y", "name_en": BANK_EN,
           "industry": "金融", "contact_name": "宋洁",
           "contact_name_en": "Song Jie", "address_en": "Shenzhen (practice address)",
           "contact_phone": "0755-00000000", "contact_email": "reviewer3@practice.example",
           "address": "深圳市（演练地址）"},
}
COMPANY = {
    "name": FIRM[0], "name_en": FIRM[1],
    "address": "上海市（演练地址）", "phone": "021-00000000", "contact_name": "何嘉",
    "contact_name_en": "He Jia",
    "email": "sales@practice.example", "address_en": "Shanghai (practice address)",
    "bank": "演练银行上海分行", "bank_account": "0000 0000 0000 0000",
    "credit_code": "91310000MA0PRACT03",
}


@dataclass(frozen=True, kw_only=True)
class SampleModel:
    code: str
    name: str
    name_en: str
    task: str
    task_en: str
    size: str  # billions of parameters
    scope: str = Scope.FULL
    framework: str = "PyTorch 2.1.0"
    training: str = TrainingRoute.TOOL
    inference: str = InferenceRoute.OFFLINE


@dataclass(frozen=True, kw_only=True)
class SampleEngagement:
    """One engagement of the firm.

    `began`, `ends`: a day, or days from the first start, as `worked_until`. `crew`: who does what,
    where it is not the username of the same word. `worked`: days booked by the consultant until
    `worked_until`. `has_records`: payment milestones, minutes, a change request, timesheets and
    weekly reports are written besides. `quoted`: person-days of the thirteen services of the price
    list; `steps`: methods of the scenario, in order.
    """

    code: str
    name: str
    name_en: str
    customer: str
    contract_number: str
    description: str
    description_en: str
    began: int | date
    ends: int | date
    models: tuple[SampleModel, ...]
    steps: tuple[str, ...]
    quoted: tuple[int, ...]
    crew: dict[str, str] = field(default_factory=dict)
    survey: dict[str, object] = field(default_factory=dict)
    risks: tuple[dict, ...] = ()
    issues: tuple[str, ...] = ()
    worked: int = 0
    worked_until: int = 0
    has_records: bool = False

    def username(self, part: str) -> str:
        """Who plays a part: `lead`, `consultant`, `sales`, `reviewer` …"""
        return self.crew.get(part, part)


def day_of(value: int | date, first_start: date) -> date:
    """The day that `began` or `ends` of an engagement means."""
    return value if isinstance(value, date) else first_start + timedelta(days=value)


TASKS_EN = {"文本生成": "Text generation", "目标检测": "Object detection",
            "图像分类": "Image classification", "语义分割": "Semantic segmentation",
            "异常检测": "Anomaly detection"}

# code, name, English name, task, framework, parameters (billion), scope; ROUTES where another
# route than the conversion tool and an offline model is taken.
SUBSTATION = [
    ("LLM", "巡检报告生成大模型", "Inspection report language model", "文本生成",
     "PyTorch 2.1.0 + MindSpeed", "0.125", Scope.FULL),
    ("PSR", "人员安全风险识别", "Personnel safety risk recognition", "目标检测", "PyTorch 2.1.0",
     "0.044", Scope.FULL),
    ("HLM", "安全帽佩戴检测", "Safety helmet detection", "目标检测", "ONNX", "0.011",
     Scope.INFERENCE),
    ("FEN", "越界与围栏闯入检测", "Fence intrusion detection", "目标检测", "PyTorch 2.1.0", "0.025",
     Scope.FULL),
    ("EST", "设备状态检测", "Equipment state detection", "图像分类", "PyTorch 2.1.0", "0.025",
     Scope.FULL),
    ("SWT", "刀闸分合状态识别", "Switch position recognition", "图像分类", "TensorFlow 1.15.0", "0.022",
     Scope.FULL),
    ("MTR", "仪表读数识别", "Meter reading recognition", "OCR", "PyTorch 2.1.0", "0.031",
     Scope.FULL),
    ("DEF", "设备缺陷检测", "Equipment defect detection", "目标检测", "PyTorch 2.1.0", "0.087",
     Scope.FULL),
    ("OIL", "渗漏油检测", "Oil leakage detection", "语义分割", "MindSpore 2.2.14", "0.041",
     Scope.FULL),
    ("THM", "红外热像缺陷分析", "Thermal image defect analysis", "异常检测", "PyTorch 2.1.0", "0.019",
     Scope.FULL),
]
ROUTES = {"LLM": {"training": TrainingRoute.MINDSPEED, "inference": InferenceRoute.MINDIE},
          "OIL": {"training": TrainingRoute.MANUAL}}
SUBSTATION_RISKS = (
    {"title": "客户 GPU 基线曲线不完整（演练）", "probability": 3, "impact": 4,
     "title_en": "The customer's GPU baseline curves are incomplete (practice)",
     "response": "设计阶段前补跑基线，缺失则指标列为无法证明",
     "response_en": "Run the baselines again before the design; without them a criterion is not "
                    "provable."},
    {"title": "三方算子缺少昇腾实现（演练）", "probability": 4, "impact": 4,
     "title_en": "Third-party operators have no Ascend implementation (practice)",
     "response": "算子清单评审，预留自定义算子人天",
     "response_en": "Review the list of operators; keep person-days for custom ones."},
    {"title": "数据出域审批延迟（演练）", "probability": 3, "impact": 3,
     "title_en": "Leave to take data outside comes late (practice)",
     "response": "先以脱敏样本联调，项目经理每周跟进",
     "response_en": "Begin with anonymised samples; the project manager asks every week."},
)

SAMPLE = SampleEngagement(
    code="EP2501", name="变电站智能巡视模型昇腾迁移",
    name_en="Substation inspection models: migration to Ascend", customer=POWER,
    contract_number="HT-2025-EP-017", began=date(2025, 7, 1), ends=400,
    description="变电站智能巡视业务系统的站内人员安全风险识别、设备状态检测、缺陷检测等 10 个模型"
                "由 GPU 迁移到昇腾 NPU：模型适配、精度校验、代码适配、测试验证。",
    description_en="Ten models of a substation inspection system (personnel safety, equipment "
                   "state, defect detection and more) move from GPU to Ascend NPU: "
                   "adaptation, accuracy checks, code changes, tests.",
    models=tuple(SampleModel(
        code=code, name=name, name_en=name_en, task=task, task_en=TASKS_EN.get(task, task),
        framework=framework, size=size, scope=scope, **ROUTES.get(code, {}))
        for code, name, name_en, task, framework, size, scope in SUBSTATION),
    quoted=(10, 6, 8, 12, 6, 10, 8, 4, 20, 5, 15, 8, 3), risks=SUBSTATION_RISKS, has_records=True,
    steps=("survey", "offer", "order", "criteria", "agreements", "environment", "terminal_job",
           "adaptation", "tuning", "inference", "report", "provisional", "acceptance", "sheets",
           "terminal_files"))
CODE = SAMPLE.code

_OPERATORS = {
    "title": "自定义算子性能不达预期（演练）", "probability": 4, "impact": 4,
    "title_en": "A custom operator is slower than expected (practice)",
    "response": "先用融合算子替代，安排算子专家专项优化",
    "response_en": "Use a fused operator first; an operator expert tunes the custom one."}
_CARDS = {
    "title": "客户 NPU 资源到位延迟（演练）", "probability": 3, "impact": 4,
    "title_en": "The customer's NPUs arrive late (practice)",
    "response": "先在演练节点完成适配，资源到位后复测",
    "response_en": "Adapt on the practice node first, measure again once the cards are there."}
_WINDOW = {
    "title": "生产变更窗口受限（演练）", "probability": 4, "impact": 3,
    "title_en": "Few windows for changes in production (practice)",
    "response": "与客户按月确认窗口，灰度切换",
    "response_en": "Agree on the windows every month; switch over step by step."}
_LABELS = {
    "title": "标注口径反复调整，工作量超出预估（演练）", "probability": 5, "impact": 4,
    "title_en": "The rules of labelling keep changing; more work than estimated (practice)",
    "response": "提交变更单，追加人天由双方确认",
    "response_en": "Hand in a change request; both sides agree on the further person-days."}
_LATE_DATA = {
    "title": "现场数据回传延期（演练）", "probability": 5, "impact": 3,
    "title_en": "Data from the site comes late (practice)",
    "response": "每周催办，影响计入周报",
    "response_en": "Ask every week; the weekly report says it."}

ACCEPTED = SampleEngagement(
    code="MT2502", name="地铁车辆检修视觉模型昇腾迁移",
    name_en="Metro maintenance vision models: migration to Ascend", customer=RAIL,
    contract_number="HT-2025-MT-006", began=-120, ends=5,
    description="车辆段检修视觉质检的转向架缺陷检测与车号识别由 GPU 迁移到昇腾 NPU。",
    description_en="Bogie defect detection and car number recognition of a metro depot move from "
                   "GPU to Ascend NPU.",
    models=(SampleModel(code="BOG", name="转向架缺陷检测", name_en="Bogie defect detection",
                          task="目标检测", task_en="Object detection", size="0.044"),
            SampleModel(code="OCR", name="车号识别", name_en="Car number recognition",
                          task="OCR", task_en="OCR", size="0.012", scope=Scope.INFERENCE)),
    crew={"consultant": "consultant2", "reviewer": "reviewer2", "sales": "sales2"},
    quoted=(4, 3, 3, 5, 3, 4, 3, 2, 6, 2, 5, 3, 2), worked=12, worked_until=-14, risks=(_WINDOW,),
    survey={"customer": "某轨道交通集团，轨道交通行业，郑海涛（车辆部）",
            "need": "车辆段检修视觉质检：转向架缺陷检测与车号识别由 GPU 迁移到昇腾。",
            "model_count": 2, "budget": 400000},
    steps=("survey", "offer", "order", "criteria", "environment", "adaptation", "tuning",
           "inference", "report", "acceptance"))
TUNING = SampleEngagement(
    code="BK2503", name="智能客服大模型昇腾迁移",
    name_en="Customer service language model: migration to Ascend", customer=BANK,
    contract_number="HT-2025-BK-011", began=-45, ends=50,
    description="智能客服大模型与意图识别模型由 GPU 迁移到昇腾 NPU，训练损失与推理时延双指标验收。",
    description_en="A language model for customer service and an intent classifier move from GPU "
                   "to Ascend NPU; training loss and latency are the criteria.",
    models=(SampleModel(code="LLM", name="智能客服大模型", name_en="Customer service model",
                          task="文本生成", task_en="Text generation", size="0.125",
                          framework="PyTorch 2.1.0 + MindSpeed",
                          training=TrainingRoute.MINDSPEED, inference=InferenceRoute.MINDIE),
            SampleModel(code="INT", name="意图识别", name_en="Intent classification",
                          task="文本分类", task_en="Text classification", size="0.110")),
    crew={"reviewer": "reviewer3"},
    quoted=(5, 4, 6, 8, 4, 8, 8, 4, 12, 4, 8, 5, 3), worked=20, risks=(_OPERATORS, _CARDS),
    issues=("训练损失与 GPU 基线相差超过阈值，正在排查学习率配置（演练）",),
    survey={"customer": "某股份制银行，金融行业，宋洁（科技部）",
            "need": "智能客服大模型与意图识别模型由 GPU 迁移到昇腾。", "model_count": 2},
    steps=("survey", "offer", "order", "criteria", "environment", "adaptation",
           "failing_tuning"))
WAITING = SampleEngagement(
    code="BK2504", name="票据识别模型昇腾迁移",
    name_en="Cheque recognition models: migration to Ascend", customer=BANK,
    contract_number="", began=-14, ends=90,
    description="票据要素识别与印章检测由 GPU 迁移到昇腾 NPU；报价已发出，等待客户答复。",
    description_en="Field recognition and seal detection on cheques move from GPU to Ascend NPU; "
                   "the quote is with the customer.",
    models=(SampleModel(code="FLD", name="票据要素识别", name_en="Field recognition",
                          task="OCR", task_en="OCR", size="0.028"),
            SampleModel(code="SEA", name="印章检测", name_en="Seal detection",
                          task="目标检测", task_en="Object detection", size="0.019",
                          scope=Scope.INFERENCE)),
    crew={"consultant": "consultant2", "reviewer": "reviewer3"},
    quoted=(3, 2, 2, 4, 2, 3, 3, 2, 5, 2, 4, 2, 1), worked=3, risks=(_WINDOW,),
    survey={"customer": "某股份制银行，金融行业，宋洁（科技部）",
            "need": "票据要素识别与印章检测由 GPU 迁移到昇腾。", "model_count": 2},
    steps=("survey", "offer"))
LATE = SampleEngagement(
    code="MT2505", name="客流预测模型昇腾迁移",
    name_en="Passenger flow forecast: migration to Ascend", customer=RAIL,
    contract_number="HT-2025-MT-009", began=-75, ends=-19,
    description="客流预测模型由 GPU 迁移到昇腾 NPU；标注口径反复调整，工期与人天均已超出。",
    description_en="A passenger flow forecast moves from GPU to Ascend NPU; the rules of labelling "
                   "changed again and again, time and person-days are exceeded.",
    models=(SampleModel(code="FLW", name="断面客流预测", name_en="Passenger flow forecast",
                          task="时序预测", task_en="Time series forecast", size="0.016"),),
    crew={"consultant": "consultant3", "reviewer": "reviewer2", "sales": "sales2"},
    quoted=(1, 1, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 1), worked=38, risks=(_LABELS, _LATE_DATA),
    issues=("客流样本标注口径第三次调整，基线需重测（演练）",),
    survey={"customer": "某轨道交通集团，轨道交通行业，郑海涛（车辆部）",
            "need": "断面客流预测模型由 GPU 迁移到昇腾。", "model_count": 1},
    steps=("survey", "offer", "order"))
# What a first start plays; the last one leaves a job that holds cards.
PLAYED = (WAITING, LATE, ACCEPTED, TUNING)
