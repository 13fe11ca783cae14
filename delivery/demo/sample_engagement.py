"""The sample engagement: substation inspection for an electric-power company.

After the case of the solution guide: station personnel safety, equipment state, defect detection
and more, over ten models. Everything it produces on the practice node is marked as practice.
"""

from datetime import date

from django.db import transaction

from assessments.services import load_standard_definitions
from delivery.demo.sample_planning import load_planning
from delivery.demo.sample_survey import load_survey
from delivery.documents.models import CompanyProfile
from delivery.quotes.services import load_rate_cards
from engagements import services
from engagements.audit import audit_log
from engagements.migration_routes import InferenceRoute, TrainingRoute
from engagements.models import Engagement, Role, User
from engagements.stages import Scope
from workers.models import Node

CODE = "EP2501"
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
POWER = ("某智能电力公司", "A smart electric-power company")
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
                 ("信息中心主任", "Head of the information centre"), POWER),
}

COMPANY = {
    "name": FIRM[0], "name_en": FIRM[1],
    "address": "上海市（演练地址）", "phone": "021-00000000", "contact_name": "何嘉",
    "contact_name_en": "He Jia",
    "email": "sales@practice.example", "address_en": "Shanghai (practice address)",
    "bank": "演练银行上海分行", "bank_account": "0000 0000 0000 0000",
}

TASKS_EN = {"文本生成": "Text generation", "目标检测": "Object detection",
            "图像分类": "Image classification", "语义分割": "Semantic segmentation",
            "异常检测": "Anomaly detection"}

# code, name, English name, task, framework, parameters (billion), scope; ROUTES where another
# way than the conversion tool and an offline model is gone.
MODELS = [
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
ROUTES = {"LLM": (TrainingRoute.MINDSPEED, InferenceRoute.MINDIE),
          "OIL": (TrainingRoute.MANUAL, InferenceRoute.OFFLINE)}


@transaction.atomic
def load_sample() -> Engagement:
    """Create the sample's people, customer, engagement, models, survey, rate cards, definitions.

    Safe to repeat: what exists stays as it is.
    """
    load_standard_definitions()
    if not CompanyProfile.objects.exists():
        CompanyProfile.objects.create(**COMPANY)
    people = {name: _person(name) for name in PEOPLE}
    load_rate_cards(actor=people["admin"])
    if existing := Engagement.objects.filter(code=CODE).first():
        return existing
    engagement = _engagement(people)
    audit_log.record(actor=people["admin"], action="sample.load", target=engagement,
                     engagement=engagement)
    return engagement


def person_facts(role: str, name: tuple, title: tuple, organisation: tuple) -> dict[str, str]:
    """Role, name, title and organisation of an account; each text in Chinese and in English."""
    texts = {"full_name": name, "job_title": title, "organisation": organisation}
    return {"role": role, **{field: chinese for field, (chinese, _english) in texts.items()},
            **{f"{field}_en": english for field, (_chinese, english) in texts.items()}}


def _person(username: str) -> User:
    facts = person_facts(*PEOPLE[username])
    role = facts["role"]
    user, created = User.objects.get_or_create(username=username, defaults={
        **facts, "email": f"{username}{MAIL}", "is_staff": role == Role.ADMINISTRATOR,
        "is_superuser": role == Role.ADMINISTRATOR})
    if created:
        user.set_password(PASSWORD)
        user.save()
    return user


def _engagement(people: dict[str, User]) -> Engagement:
    manager = people["manager"]
    customer = services.create_customer(
        actor=manager, name=POWER[0], name_en=POWER[1], industry="电力",
        contact_name="陈国栋", contact_name_en="Chen Guodong", contact_phone="010-00000000",
        contact_email="reviewer@practice.example", address="北京市（演练地址）",
        address_en="Beijing (practice address)")
    engagement = services.create_engagement(
        actor=manager, code=CODE, name="变电站智能巡视模型昇腾迁移",
        name_en="Substation inspection models: migration to Ascend", customer=customer,
        contract_number="HT-2025-EP-017", scope=Scope.FULL, starts_on=date(2025, 7, 1),
        ends_on=date(2025, 12, 31),
        description="变电站智能巡视业务系统的站内人员安全风险识别、设备状态检测、缺陷检测等 10 个模型"
                    "由 GPU 迁移到昇腾 NPU：模型适配、精度校验、代码适配、测试验证。",
        description_en="Ten models of a substation inspection system (personnel safety, equipment "
                       "state, defect detection and more) move from GPU to Ascend NPU: "
                       "adaptation, accuracy checks, code changes, tests.")
    for user in people.values():
        if user != manager:
            services.add_member(actor=manager, engagement=engagement, user=user)
    for code, name, name_en, task, framework, size, scope in MODELS:
        training, inference = ROUTES.get(code, (TrainingRoute.TOOL, InferenceRoute.OFFLINE))
        services.add_model(actor=manager, engagement=engagement, code=code, name=name,
                           name_en=name_en, task=task, task_en=TASKS_EN.get(task, task),
                           framework=framework, parameters_billion=size, scope=scope,
                           inference_route=inference,
                           training_route="" if scope == Scope.INFERENCE else training)
    load_survey(engagement, people["reviewer"], people["consultant"])
    load_planning(engagement, people)
    return engagement


def holds_real_work() -> bool:
    """Whether people were entered without the sample, as `manage.py begin` does."""
    return (User.objects.exists()
            and not User.objects.filter(email__endswith=MAIL).exists())


def practice_node_is_enrolled() -> bool:
    """Whether the sample's node is there."""
    return Node.objects.filter(name=NODE_NAME).exists()
