"""The written part of a quotation: its blocks in the order of document and the standard texts.

Order and mandatory blocks: DOMAIN 9.2, items 6 and 13 to 18. A quote keeps its own copy of every
text, so that changing a standard text changes no quote.
"""

from collections.abc import Collection

from django.utils.translation import gettext_lazy as _

from engagements.stages import Scope

SCOPE = "scope"
EXCLUDING = ("不含", "不包括", "Not included", "Excluded")
CLOUD = ("云", "cloud")
TITLES = {
    SCOPE: _("Scope of services"),
    "invoice": _("Invoice"),
    "period": _("Service period"),
    "staffing": _("Staffing"),
    "place": _("Place of service"),
    "travel": _("Travel and other costs"),
    "delivery": _("Delivery"),
    "acceptance": _("Acceptance method"),
    "warranty": _("Warranty"),
    "remarks": _("Remarks"),
}

MIGRATION = {  # what is migrated, by the scope of all models
    Scope.FULL: ("训练与推理迁移", "training and inference migration"),
    Scope.TRAINING: ("训练迁移", "training migration"),
    Scope.INFERENCE: ("推理迁移", "inference migration"),
}
STANDARD = {
    SCOPE: {"zh": "模型由 GPU 迁移至昇腾 NPU 的调研评估、方案设计、环境搭建、%s、"
                  "调优及验收，具体以工作说明书为准。",
            "en": "Survey, design, environment, %s, tuning and "
                  "acceptance of models moving from GPU to Ascend NPU, as the statement of work "
                  "sets out."},
    "invoice": {"zh": "增值税专用发票，税率见各行；先开票，后付款。",
                "en": "Special VAT invoice at the rate of each line; invoiced before payment."},
    "period": {"zh": "自合同签订且环境具备之日起，按项目计划执行；云资源按所列月数计。",
               "en": "From the day the contract is signed and the environment is ready, by the "
                     "project plan; cloud resources for the months stated."},
    "staffing": {"zh": "按明细所列级别与人天投入，1 人天为 8 小时。",
                 "en": "Grades and person-days as listed; one person-day is 8 hours."},
    "place": {"zh": "客户现场与远程相结合。", "en": "On the customer's site and remotely."},
    "travel": {"zh": "差旅费按实际发生另行结算，事前书面确认。",
               "en": "Travel at cost, confirmed in writing beforehand."},
    "acceptance": {"zh": "按双方签署的验收指标与工作说明书逐项验收。",
                   "en": "Item by item against the signed acceptance criteria and the statement "
                         "of work."},
    "delivery": {"zh": "代码、脚本、模型与文档按交付清单以电子件交付。",
                 "en": "Code, scripts, models and documents are delivered electronically by the "
                       "list of deliverables."},
    "warranty": {"zh": "终验通过之日起三个月内，免费修复不符合验收指标的缺陷。",
                 "en": "Defects against the acceptance criteria are cured free of charge for "
                       "three months from final acceptance."},
    "remarks": {"zh": "本报价供双方商谈之用，与合同不一致时以合同为准。",
                "en": "This quotation serves negotiation; where it differs from the contract, the "
                      "contract prevails."},
}

# DOMAIN 9.2, item 16; "actual charge per bill" is the solution guide's own reservation.
NOTES = ("云资源价格为估算，实际收费以云服务商账单为准。\n"
         "不含：第三方软件许可、数据标注、GPU 侧改造及所列工作之外的模型。")
NOTES_EN = ("Cloud resources are estimated; the provider's bill is what is charged.\n"
            "Not included: third-party licences, data labelling, changes on the GPU side, and "
            "models beyond the work listed.")


def standard_conditions(scopes: Collection[str]) -> dict:
    """A fresh copy of the standard texts: {block: {"zh", "en"}}.

    Args:
        scopes: of the models that are quoted for.
    """
    scope = next(iter(scopes)) if len(set(scopes)) == 1 else Scope.FULL
    return {**{code: dict(texts) for code, texts in STANDARD.items()}, SCOPE: {
        language: text % named for (language, text), named in zip(
            STANDARD[SCOPE].items(), MIGRATION[Scope(scope)], strict=True)}}


def excluded(notes: str) -> str:
    """The lines of a quote's notes that say what is not included."""
    return "\n".join(line for line in notes.splitlines() if line.startswith(EXCLUDING))


def names_cloud(text: str) -> bool:
    """Whether a text on what is not included names cloud resources."""
    return any(word in text.casefold() for word in CLOUD)
