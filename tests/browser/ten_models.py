"""An engagement of ten models before the customer: nine within their thresholds, one not."""

from decimal import Decimal

from assessments import services as assessing
from assessments.models import MetricDefinition
from delivery.documents.models import CompanyProfile
from engagements import services as engagement_services
from engagements.models import Role
from tests.delivery.conftest import GPU, measure, sign_before_runs, three_runs

MODELS = (
    ("LLM", "巡检报告生成大模型", "Inspection report generation"),
    ("PSR", "人员安全风险识别", "Personnel safety risk recognition"),
    ("EQD", "设备外观缺陷检测", "Equipment defect detection"),
    ("MTR", "表计读数识别", "Meter reading recognition"),
    ("IRT", "红外测温异常识别", "Infrared temperature anomalies"),
    ("SWS", "刀闸分合状态识别", "Switch position recognition"),
    ("INS", "绝缘子破损检测", "Insulator damage detection"),
    ("FIR", "烟火识别", "Smoke and fire recognition"),
    ("OCR", "铭牌文字识别", "Name plate text recognition"),
    ("ASR", "声纹异常检测", "Acoustic anomaly detection"),
)
FAILING, DOUBTFUL = "ASR", "OCR"  # 3.0 % where 2 % is allowed; passed, but a manual is missing
CRITERIA = ("loss_mean_relative_error", "loss_error_of_means")


def deliver_ten(engagement, people):
    """Ten models with two signed criteria each, measured by one run each that counts."""
    manager = people[Role.MANAGER]
    engagement.contract_number = "HT-2025-EP-017"
    engagement.save()
    CompanyProfile.objects.get_or_create(name="交付公司", name_en="Delivery company",
                                         credit_code="91350100M000100Y43")
    assessing.load_standard_definitions()
    draft = assessing.draft_criteria(actor=manager, engagement=engagement)
    models = [_model(engagement, people, draft, *words) for words in MODELS]
    sign_before_runs(people, draft)
    for n, model in enumerate(models):
        measure_again(engagement, people, model,
                      scale=1.03 if model.code == FAILING else 1.004 + n / 1000)
    return engagement


def _model(engagement, people, draft, code, name, name_en):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    model = engagement_services.add_model(actor=manager, engagement=engagement, code=code,
                                          name=name,
                               name_en=name_en, framework="PyTorch 2.1.0")
    curve, *repeats = three_runs(engagement, model, f"gpu/{code.lower()}.csv",
                                 seed=len(code + name), uploaded_by=consultant)
    for definition in CRITERIA:
        assessing.add_criterion(
            actor=manager, criteria_set=draft, model=model, stage="train_tune",
            definition=MetricDefinition.objects.get(code=definition, version=1),
            threshold=Decimal("0.02"), baseline=assessing.record_baseline(
                actor=consultant, model=model, quantity="loss_curve", artifact=curve,
                environment=GPU, source="customer's GPU cluster", repeats=repeats))
    return model


def measure_again(engagement, people, model, *, scale: float):
    """Runs of the model's training, of which the last is judged."""
    measure(engagement, people, model, scale=scale, kind="adapt.megatron_train",
            results={"device": "npu 0-7"})
