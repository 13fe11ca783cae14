"""Every field that DOMAIN 9 asks of a kind of document, and the chapter that prints it."""

import re
from html import unescape

import pytest

from delivery.documents.bilingual import in_language
from delivery.documents.pdf import html_of
from delivery.reports import registry, services
from delivery.reports.rendering import TEMPLATE, context_of
from engagements.models import Role

PROJECT = {"项目名称、编号": "Project code", "合同编号": "Contract number",
           "甲乙方": "Party A (customer); Party B (supplier)", "周期": "Period",
           "负责人": "People in charge"}
SIGNED = {"签字": "Authorised representative (signature)", "盖章": "Seal", "日期": "Date"}
BASIS = {"引用文件": "Contract; Signed acceptance criteria; Content hash (SHA-256)"}
DEFINED = {"定义": "Formula; Alignment"}
FILES = {"原始文件": "Each file is in the evidence bundle"}
MANIFEST = {"原始文件、哈希": "File; SHA-256"}
ISSUES = {"遗留问题": "Outstanding issues; No.; Description; Effect; Responsible; Due; "
                   "Affects the final acceptance"}
CRITERIA = {"指标": "Metric; Definition; Threshold; Baseline; Value taken"}
ACCEPTANCE = {
    "project": {**PROJECT, "验收范围": "Models in scope"},
    "references": {"引用文件": "Contract; Signed acceptance criteria",
                   "测试结论引用": "test report; annex file"},
    "results": {"分项结果": "Models and criteria; Passed"},
    "conclusion": {"验收结论": "Passed; Passed with conditions; Failed"},
    "receipt": {"交付物清单": "documents with their checksums"},
    "opinions": {"双方意见": "Opinion of party A; Opinion of party B"},
    "signatures": {**SIGNED, "一式几份": "two originals", "附件": "Annex A"},
    "environment": {"环境、方法、组织": "Method; Organisation; Acceptance group"},
    "deliverables": {"交付物清单": "Deliverable; Version; Quantity; Medium; Checksum"},
    "issues": ISSUES,
    "history": {"签署、修订、分发": "Prepared by; Reviewed by; Approved by; Revision history; "
                             "Change; Changed by; Distribution; Company; Action"}}

# Kind, chapter, field as DOMAIN 9 calls it, and the words that must stand in that chapter.
FIELDS = {
    "AS": {  # its annex is empty here: no analysis was run
        "summary": {"结论": "Conclusion"},
        "method": {"调研对象与方法": "Objects and method; SHA-256"},
        "today": {"现状": "Business, platform and application; Models today"},
        "support": {"支持度": "APIs and operators by model", "路线": "Route"},
        "baseline": {"基线": "Accuracy and performance today; Hardware; Software; Source"},
        "target": {"目标平台与资源": "Target platform; Resources"},
        "risks": {"风险": "Probability; Impact", "对策": "Response"},
        "strategy": {"策略比较": "Automatic; By tool; By hand"},
        "effort": {"工作量": "Effort in person-days", "周期": "Schedule by stage"},
        "benefit": {"收益": "Benefit expected", "成本": "Fee"},
        "advice": {"建议": "Advice and next steps"}, "manifest": FILES},
    "SOW": {
        "preface": {"目的、术语": "person-day"}, "references": BASIS,
        "overview": {"目标": "Models in scope", "假设": "Assumptions"},
        "work": {"任务": "Description; Supplier's duty; Customer's duty; Deliverables; "
                       "Mark of completion; Person-days"},
        "excluded": {"不包含": "Not included"},
        "deliverables": {"交付清单": "Deliverable; Accepted when"},
        "acceptance": {"验收标准": "Acceptance method", **CRITERIA},
        "schedule": {"进度": "Start; Finish"},
        "organisation": {"组织与角色": "Organisation; Role", "人员": "Personnel; Grade"},
        "change": {"变更管理": "Change control"},
        "fee": {"收费": "Fee; Services", "付款": "Milestones and payments; Released by"},
        "signatures": SIGNED},
    "MP": {
        "goal": {"目标与范围": "Models in scope"}, "references": BASIS,
        "platforms": {"现状与目标环境": "Present platform; Target platform"},
        "stages": {"任务、负责人、进度": "Responsible; Start; Finish"},
        "environment": {"版本表": "Versions"}, "testing": CRITERIA,
        "resources": {"资源与人员": "Resources; Personnel"},
        "risks": {"风险与回退": "Risks and responses; Response"},
        "deliverables": {"交付物": "Deliverable; Accepted when"}, "definitions": DEFINED},
    "AC": {"project": PROJECT, "statement": {"版本与签署": "Version; Signed for the customer by"},
           "criteria": CRITERIA, "definitions": DEFINED, "signatures": SIGNED},
    "BL": {"project": PROJECT,
           "baselines": {"来源、环境": "Source; Hardware; Software; Data set; Seeds",
                         "重复": "Repeats and spread; Standard deviation"},
           "files": {"原始文件": "Raw files; SHA-256", "确认": "Confirmations; Supplier; Customer"},
           "signatures": SIGNED},
    "EC": {"summary": {"结论": "checks"}, "project": PROJECT,
           "nodes": {"节点": "Chip; Cards", "版本": "Versions"},
           "checks": {"检查": "Check; Found; By; Time", "卡": "Cards as reported by npu-smi"},
           "comparison": {"源与目标": "Source platform (GPU); Target platform (NPU)"},
           "manifest": FILES},
    "TR": {
        "introduction": {"标识": "Contract number", "系统概述": "Models in scope"},
        "references": BASIS,
        "overview": {"总体评估": "Overall assessment; Metric table",
                     "环境影响": "Effect of the test environment; Same",
                     "改进建议": "Recommended improvements"},
        "cases": {"每项": "Case; Test object; Precondition and data; Test steps; Expected "
                        "result; Actual result; Verdict", "口径": "V1"},
        "records": {"谁、何时、何处": "Node and cards; Started and finished; Result; "
                                "annex file"},
        "evaluation": {"能力": "Capability shown", "缺陷": "Defects and limits",
                       "偏差": "Deviations", "结论": "Conclusion", **ISSUES},
        "activities": {"机时": "Machine hours",
                       "阶段": "Progress of each model through its stages"},
        "manifest": MANIFEST, "definitions": DEFINED},
    "PA": ACCEPTANCE,
    "FA": {**ACCEPTANCE, "trial": {
        "试运行": "Trial run; Decision; Start; End; Issues raised; Still open",
        "问题关闭": "What was done; Closed on; Closed by; Responsible; Due"}},
    "PL": {"project": PROJECT,
           "recorded": {"遗留问题": "No.; Description; Level; Raised; Responsible; Due / closed; "
                                "State; Effect; Affects the final acceptance"},
           "unpassed": {"未通过项": "Responsible; Due; Affects the final acceptance"},
           "signatures": SIGNED},
    "UG": {"project": PROJECT, "environment": {"版本": "Versions"},
           "steps": {"命令、版本、条件": "Model; Stage; Step; Run; Command; Versions; Conditions"},
           "files": {"代码、模型": "Run; Checksum"}},
    "HD": {"project": PROJECT,
           "documents": {"清单": "Deliverable; Version; Quantity; Medium; Checksum"},
           "works": {"代码、模型": "Run; Checksum"},
           "receipt": {"签收": "Handed over by (supplier); Received by (customer)"}},
}
FRONT = ("Project code", "Document number", "Version", "Confidentiality", "Prepared by (company)",
         "Customer", "Date", "Prepared by", "Reviewed by", "Approved by", "Revision history",
         "Change", "Changed by", "Distribution", "Company", "Action")
HEAD = ("Document number", "V1.0", "Confidentiality", "SHA-256")
def bare(text: str) -> str:
    """Without white space: a label may be broken over two lines."""
    return re.sub(r"\s", "", text)


def chapters(document) -> dict[str, str]:
    """The words of every chapter of the English document, by its id; the front pages under ''.

    The titles of a table's columns are among them, also while it has no row to print.
    """
    html = html_of(TEMPLATE, context_of(document.snapshot, "en"), "en")
    front, *rest = re.split(r'<section id="(\w+)"', html)
    bodies = zip(["", *rest[::2]], [front, *rest[1::2]], strict=True)
    printed = {name: unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", body, flags=re.S))
               for name, body in bodies}
    return {name: bare(words + columns_of(document, name)) for name, words in printed.items()}


def columns_of(document, chapter: str) -> str:
    """Captions and columns of the tables that the chapter names."""
    tables = in_language(document.snapshot, "en").get("tables", {})
    kind = registry.get(document.kind)
    keys = [part.removeprefix("table:") for section in (*kind.sections, *kind.annexes)
            if section.id == chapter for part in section.all_parts if part.startswith("table:")]
    return "".join(tables[key]["caption"] + "".join(c["title"] for c in tables[key]["columns"])
                   for key in keys if key in tables)  # some stand only where there is something


@pytest.mark.slow
@pytest.mark.parametrize("code", FIELDS)
def test_a_kind_prints_every_field(delivered, people, code):
    document = services.draft_document(actor=people[Role.MANAGER], engagement=delivered, kind=code)
    found = chapters(document)
    lost = [(chapter, field, label) for chapter, fields in FIELDS[code].items()
            for field, labels in fields.items() for label in labels.split("; ")
            if bare(label) not in found.get(chapter, "")]
    assert lost == []
    front = FRONT if registry.get(code).has_front_pages else HEAD
    assert [label for label in front if bare(label) not in found[""]] == []


def test_every_kind_has_its_fields_listed():
    assert set(FIELDS) == {kind.code for kind in registry.all_kinds()}
