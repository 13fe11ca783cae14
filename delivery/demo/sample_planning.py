"""Planning of the sample engagements: estimate, plan, time, risks, minutes, a weekly report.

All of it is invented for practice and says so.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal

from django.utils import timezone

from delivery.demo.sample_firm import SAMPLE, SampleEngagement
from delivery.planning.models import Plan, Task
from delivery.planning.services import (
    change_drafts,
    changes,
    control,
    estimates,
    plans,
    time_entries,
    timesheets,
    weekly_reports,
)
from engagements.models import Engagement, User
from engagements.stages import Stage

STARTS = SAMPLE.began
DAY_COSTS = {"manager": "1300", "expert": "1600", "senior": "1150", "engineer": "880",
             "junior": "720"}
# day of July 2025, model, stage, item, grade, note; each is one whole day of the consultant
WORKED = [
    (1, "LLM", Stage.SURVEY, "survey", "expert", "问卷访谈与代码扫描（演练）"),
    (2, "PSR", Stage.SURVEY, "survey", "expert", "接口支持度分析（演练）"),
    (3, "LLM", Stage.SURVEY, "survey", "expert", "迁移评估与算子清单（演练）"),
    (7, "HLM", Stage.SURVEY, "survey", "senior", "推理链路与量化口径访谈（演练）"),
    (8, "MTR", Stage.SURVEY, "survey", "senior", "测试集标注口径核对（演练）"),
    (9, "DEF", Stage.SURVEY, "survey", "senior", "训练代码与数据集盘点（演练）"),
]
# names and working days of the task that each milestone follows from
MILESTONE_TASKS = [("合同签订（演练）", "Contract signed (practice)", 0),
                   ("初验（演练）", "Provisional acceptance (practice)", 0),
                   ("试运行（演练）", "Trial run (practice)", 20)]
MILESTONES = [
    {"name": "合同签订", "name_en": "Contract signed", "percent": Decimal(30),
     "trigger": "contract"},
    {"name": "初验通过", "name_en": "Provisional acceptance", "percent": Decimal(40),
     "trigger": "preliminary"},
    {"name": "终验通过", "name_en": "Final acceptance", "percent": Decimal(30), "trigger": "FA"},
]
MINUTES = {
    "topic": "项目启动会（演练）", "place": "线上会议", "chair": "林雪",
    "participants": "昇腾迁移交付有限公司（演练）：林雪、周启明、何嘉\n某智能电力公司：陈国栋",
    "agenda": "迁移范围与阶段\n验收指标与基线来源\n沟通与变更方式",
    "discussion": "介绍迁移范围与七个阶段；核对十个模型的场景、数据与基线来源；"
                  "说明验收指标由双方签署后冻结。",
    "decisions": "先迁移巡检报告生成大模型，其余模型按同一流程跟进\n"
                 "训练损失平均相对误差以小于 2 % 为验收指标\n每周五发送周报，变更一律走变更单",
}
CHANGE = {
    "title": "仪表读数识别延长训练调优（演练）", "category": "schedule",
    "requested_by": "某智能电力公司 陈国栋",
    "reason": "测试集标注口径需双方复核，复核后重测精度基线（演练）",
    "before": "仪表读数识别的训练调优按基线计划执行，不含标注口径复核",
    "after": "训练调优前增加标注口径复核与基线重测，该任务延长两个工作日",
    "effect_on_scope": "无",
    "effect_on_schedule": "仪表读数识别的训练调优延长两个工作日，后续任务顺延",
    "effect_on_price": "无，复核工作量由双方各自承担",
    "effect_on_quality": "准确率基线口径一致，重测可复现",
    "effect_on_criteria": "无，阈值与口径不变",
    "measures": "复核结论写入会议纪要，由双方确认（演练）",
}
CHANGE_RESULT = "标注口径已复核，计划基线已更新，重测安排在训练调优首日（演练）"


def load_plan(spec: SampleEngagement, engagement: Engagement, who: dict[str, User]) -> None:
    """Estimate, plan with a baseline, and the first model's tasks, of which one is under way."""
    manager = who["manager"]
    estimate = estimates.draft_estimate(actor=who["consultant"], engagement=engagement)
    estimates.approve_estimate(actor=manager, estimate=estimate)
    made = plans.draft_plan(actor=manager, engagement=engagement, starts_on=engagement.starts_on)
    tasks = _milestone_tasks(made, manager) if spec.has_records else []
    plans.take_baseline(actor=manager, plan=made)
    if tasks:
        plans.set_milestones(actor=manager, plan=made, rows=[
            {**row, "task": task} for row, task in zip(MILESTONES, tasks, strict=True)])
    tasks = made.tasks.select_related("plan__engagement", "model").filter(
        model=engagement.models.first())
    for task in tasks[:5]:
        plans.update_task(actor=manager, task=task, owner=who["consultant"])
    plans.update_task(actor=manager, task=tasks[0], started_on=engagement.starts_on)


def _milestone_tasks(made: Plan, manager: User) -> list[Task]:
    """The signed contract, provisional acceptance of all models, and the trial run after it."""
    accepted = list(made.tasks.filter(stage=Stage.ACCEPT))
    contract, provisional, trial = (
        plans.add_task(actor=manager, plan=made, title=title, title_en=title_en, days=days)
        for title, title_en, days in MILESTONE_TASKS)
    for before, after in [*((task, provisional) for task in accepted), (provisional, trial)]:
        plans.link_tasks(actor=manager, before=before, after=after)
    plans.update_task(actor=manager, task=contract, started_on=STARTS, finished_on=STARTS)
    return [contract, provisional, trial]


def load_control(spec: SampleEngagement, engagement: Engagement, who: dict[str, User],
                 today: date) -> None:
    """Risks and issues."""
    soon = today + timedelta(days=10)
    for risk in spec.risks:
        control.add_risk(actor=who["manager"], engagement=engagement, owner=who["lead"],
                         review_on=soon, **risk)
    for description in spec.issues:
        control.add_issue(actor=who["consultant"], engagement=engagement, level="major",
                          owner=who["consultant"], description=description,
                          effect="影响训练调优进度（演练）", raised_on=today - timedelta(days=6),
                          due_on=today + timedelta(days=4 if engagement.ends_on > today else -2))


def load_time(days: list[date], engagement: Engagement, consultant: User) -> None:
    """Whole days of a consultant, booked on the survey of the models in turn."""
    models = list(engagement.models.all())
    for day in days:
        time_entries.record_day(
            halves=["am", "pm"], actor=consultant, engagement=engagement, work_date=day,
            item="survey", grade="senior", model=models[day.toordinal() % len(models)],
            stage=Stage.SURVEY, note="调研、方案与适配（演练）")


def load_records(engagement: Engagement, who: dict[str, User]) -> None:
    """An issue, minutes, a change request, timesheets and weekly reports of July 2025."""
    manager, consultant = who["manager"], who["consultant"]
    _minutes(engagement, manager, consultant)
    _change(engagement, who)
    _time(engagement, manager, consultant)
    _reports(engagement, manager, consultant)


def _minutes(engagement: Engagement, manager: User, consultant: User) -> None:
    soon = timezone.localdate() + timedelta(days=14)
    control.add_issue(actor=consultant, engagement=engagement, level="major", owner=consultant,
                      description="仪表读数识别的测试集标注口径待客户确认（演练）",
                      effect="影响该模型的准确率基线", raised_on=STARTS + timedelta(days=7),
                      due_on=soon)
    held = timezone.make_aware(datetime.combine(STARTS, datetime.min.time().replace(hour=14)))
    todos = [{"text": "提供 GPU 训练日志与环境清单（演练）", "owner": manager, "due_on": soon},
             {"text": "完成十个模型的代码扫描（演练）", "owner": consultant, "due_on": soon}]
    meeting = control.record_meeting(actor=consultant, engagement=engagement, held_at=held,
                                     todos=todos, **MINUTES)
    control.finish_todo(actor=consultant, todo=meeting.todos.get(owner=consultant))


def _change(engagement: Engagement, people: dict[str, User]) -> None:
    """A change of the schedule in force: asked for, approved by both sides, with its result."""
    consultant = people["consultant"]
    change = changes.create_change(actor=consultant, engagement=engagement, **CHANGE)
    task = engagement.plan.tasks.get(model__code="MTR", stage=Stage.TRAIN_TUNE)
    change_drafts.set_schedule_effect(actor=consultant, change=change, task=task,
                                      days_after=task.days + 2)
    change = changes.submit_change(actor=consultant, change=change)
    for side in ("manager", "reviewer"):
        change = changes.approve_change(actor=people[side], change=change)
    changes.record_result(actor=consultant, change=change, result=CHANGE_RESULT)


def _time(engagement: Engagement, manager: User, consultant: User) -> None:
    """Six days of July, confirmed by the manager: they wait for the customer."""
    models = {model.code: model for model in engagement.models.all()}
    for day, code, stage, item, grade, note in WORKED:
        time_entries.record_day(halves=["am", "pm"], actor=consultant, engagement=engagement,
                                work_date=STARTS.replace(day=day), item=item, grade=grade,
                                model=models[code], stage=stage, note=note)
    for grade, cost in DAY_COSTS.items():
        time_entries.set_grade_cost(actor=manager, grade=grade, day_cost=Decimal(cost))
    timesheets.confirm_month(actor=manager, engagement=engagement, month=STARTS)


def _reports(engagement: Engagement, manager: User, consultant: User) -> None:
    first = weekly_reports.draft_weekly(actor=consultant, engagement=engagement, day=STARTS)
    weekly_reports.update_weekly(
        actor=consultant, report=first, customer_duties="提供 GPU 训练日志与环境清单（演练）",
        summary=f"完成启动会与问卷访谈，LLM 调研进行中（演练）\n{first.summary}".strip())
    weekly_reports.freeze_weekly(actor=manager, report=first)
    weekly_reports.draft_weekly(actor=consultant, engagement=engagement,
                                day=STARTS + timedelta(days=7))
