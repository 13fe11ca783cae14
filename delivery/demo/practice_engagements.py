"""The other engagements of a first start: invented for practice, and marked so.

Together with the sample engagement they stand where a firm's engagements stand: accepted, in the
middle of the tuning, waiting for the customer, late and over its budget. Days count from the day of
the first start.
"""

from dataclasses import dataclass, field

from delivery.demo.sample_engagement import FIRM
from engagements.migration_routes import InferenceRoute, TrainingRoute
from engagements.models import Role
from engagements.stages import Scope

RAIL, BANK = "某轨道交通集团", "某股份制银行"
RAIL_EN, BANK_EN = "A metro group", "A joint-stock bank"
CONSULTANT = ("交付顾问", "Delivery consultant")
# username: role, name, job title, organisation, each in Chinese and in English
PEOPLE = {
    "consultant2": (Role.CONSULTANT, ("李晓彤", "Li Xiaotong"), CONSULTANT, FIRM),
    "consultant3": (Role.CONSULTANT, ("吴迪", "Wu Di"), CONSULTANT, FIRM),
    "sales2": (Role.SALES, ("冯雅", "Feng Ya"), ("商务经理", "Account manager"), FIRM),
    "reviewer2": (Role.REVIEWER, ("郑海涛", "Zheng Haitao"),
                  ("车辆部技术主管", "Technical lead, rolling stock"), (RAIL, RAIL_EN)),
    "reviewer3": (Role.REVIEWER, ("宋洁", "Song Jie"), ("科技部架构师", "Architect, IT department"),
                  (BANK, BANK_EN)),
}
CUSTOMERS = {
    RAIL: {"name_en": RAIL_EN, "industry": "轨道交通", "contact_name": "郑海涛",
           "contact_name_en": "Zheng Haitao", "address_en": "Guangzhou (practice address)",
           "contact_phone": "020-00000000", "contact_email": "reviewer2@practice.example",
           "address": "广州市（演练地址）"},
    BANK: {"name_en": BANK_EN, "industry": "金融", "contact_name": "宋洁",
           "contact_name_en": "Song Jie", "address_en": "Shenzhen (practice address)",
           "contact_phone": "0755-00000000", "contact_email": "reviewer3@practice.example",
           "address": "深圳市（演练地址）"},
}


@dataclass(frozen=True, kw_only=True)
class PracticeModel:
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
class PracticeEngagement:
    """One engagement of the first start.

    `began`, `ends`, `worked_until`: days from the first start. `crew`: who does what, where it is
    not the username of the same word. `worked`: days booked by the consultant until
    `worked_until`. `quoted`: person-days of the thirteen services of the price list; `steps`:
    methods of the scenario, in order.
    """

    code: str
    name: str
    name_en: str
    customer: str
    contract_number: str
    description: str
    description_en: str
    began: int
    ends: int
    models: tuple[PracticeModel, ...]
    crew: dict[str, str]
    steps: tuple[str, ...]
    quoted: tuple[int, ...]
    survey: dict[str, object] = field(default_factory=dict)
    risks: tuple[dict, ...] = ()
    issues: tuple[str, ...] = ()
    worked: int = 0
    worked_until: int = 0
    scope: str = Scope.FULL

    def username(self, part: str) -> str:
        """Who plays a part: `lead`, `consultant`, `sales`, `reviewer` …"""
        return self.crew.get(part, part)


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

ACCEPTED = PracticeEngagement(
    code="MT2502", name="地铁车辆检修视觉模型昇腾迁移",
    name_en="Metro maintenance vision models: migration to Ascend", customer=RAIL,
    contract_number="HT-2025-MT-006", began=-120, ends=-3,
    description="车辆段检修视觉质检的转向架缺陷检测与车号识别由 GPU 迁移到昇腾 NPU。",
    description_en="Bogie defect detection and car number recognition of a metro depot move from "
                   "GPU to Ascend NPU.",
    models=(PracticeModel(code="BOG", name="转向架缺陷检测", name_en="Bogie defect detection",
                          task="目标检测", task_en="Object detection", size="0.044"),
            PracticeModel(code="OCR", name="车号识别", name_en="Car number recognition",
                          task="OCR", task_en="OCR", size="0.012", scope=Scope.INFERENCE)),
    crew={"consultant": "consultant2", "reviewer": "reviewer2", "sales": "sales2"},
    quoted=(4, 3, 3, 5, 3, 4, 3, 2, 6, 2, 5, 3, 2), worked=12, worked_until=-14, risks=(_WINDOW,),
    survey={"customer": "某轨道交通集团，轨道交通行业，郑海涛（车辆部）",
            "need": "车辆段检修视觉质检：转向架缺陷检测与车号识别由 GPU 迁移到昇腾。",
            "model_count": 2, "budget": 400000},
    steps=("survey", "offer", "order", "criteria", "environment", "adaptation", "tuning",
           "inference", "report", "acceptance"))
TUNING = PracticeEngagement(
    code="BK2503", name="智能客服大模型昇腾迁移",
    name_en="Customer service language model: migration to Ascend", customer=BANK,
    contract_number="HT-2025-BK-011", began=-45, ends=50,
    description="智能客服大模型与意图识别模型由 GPU 迁移到昇腾 NPU，训练损失与推理时延双指标验收。",
    description_en="A language model for customer service and an intent classifier move from GPU "
                   "to Ascend NPU; training loss and latency are the criteria.",
    models=(PracticeModel(code="LLM", name="智能客服大模型", name_en="Customer service model",
                          task="文本生成", task_en="Text generation", size="0.125",
                          framework="PyTorch 2.1.0 + MindSpeed",
                          training=TrainingRoute.MINDSPEED, inference=InferenceRoute.MINDIE),
            PracticeModel(code="INT", name="意图识别", name_en="Intent classification",
                          task="文本分类", task_en="Text classification", size="0.110")),
    crew={"reviewer": "reviewer3"},
    quoted=(5, 4, 6, 8, 4, 8, 8, 4, 12, 4, 8, 5, 3), worked=20, risks=(_OPERATORS, _CARDS),
    issues=("训练损失与 GPU 基线相差超过阈值，正在排查学习率配置（演练）",),
    survey={"customer": "某股份制银行，金融行业，宋洁（科技部）",
            "need": "智能客服大模型与意图识别模型由 GPU 迁移到昇腾。", "model_count": 2},
    steps=("survey", "offer", "order", "criteria", "environment", "adaptation",
           "failing_tuning"))
WAITING = PracticeEngagement(
    code="BK2504", name="票据识别模型昇腾迁移",
    name_en="Cheque recognition models: migration to Ascend", customer=BANK,
    contract_number="", began=-14, ends=90,
    description="票据要素识别与印章检测由 GPU 迁移到昇腾 NPU；报价已发出，等待客户答复。",
    description_en="Field recognition and seal detection on cheques move from GPU to Ascend NPU; "
                   "the quote is with the customer.",
    models=(PracticeModel(code="FLD", name="票据要素识别", name_en="Field recognition",
                          task="OCR", task_en="OCR", size="0.028"),
            PracticeModel(code="SEA", name="印章检测", name_en="Seal detection",
                          task="目标检测", task_en="Object detection", size="0.019",
                          scope=Scope.INFERENCE)),
    crew={"consultant": "consultant2", "reviewer": "reviewer3"},
    quoted=(3, 2, 2, 4, 2, 3, 3, 2, 5, 2, 4, 2, 1), worked=3, risks=(_WINDOW,),
    survey={"customer": "某股份制银行，金融行业，宋洁（科技部）",
            "need": "票据要素识别与印章检测由 GPU 迁移到昇腾。", "model_count": 2},
    steps=("survey", "offer"))
LATE = PracticeEngagement(
    code="MT2505", name="客流预测模型昇腾迁移",
    name_en="Passenger flow forecast: migration to Ascend", customer=RAIL,
    contract_number="HT-2025-MT-009", began=-75, ends=-19,
    description="客流预测模型由 GPU 迁移到昇腾 NPU；标注口径反复调整，工期与人天均已超出。",
    description_en="A passenger flow forecast moves from GPU to Ascend NPU; the rules of labelling "
                   "changed again and again, time and person-days are exceeded.",
    models=(PracticeModel(code="FLW", name="断面客流预测", name_en="Passenger flow forecast",
                          task="时序预测", task_en="Time series forecast", size="0.016"),),
    crew={"consultant": "consultant3", "reviewer": "reviewer2", "sales": "sales2"},
    quoted=(1, 1, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 1), worked=38, risks=(_LABELS, _LATE_DATA),
    issues=("客流样本标注口径第三次调整，基线需重测（演练）",),
    survey={"customer": "某轨道交通集团，轨道交通行业，郑海涛（车辆部）",
            "need": "断面客流预测模型由 GPU 迁移到昇腾。", "model_count": 1},
    steps=("survey", "offer", "order"))
ENGAGEMENTS = (WAITING, LATE, ACCEPTED, TUNING)  # the last one leaves a job that holds cards
