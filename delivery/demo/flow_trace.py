"""Follows a flow through the code: which functions run, in which files, in what order.

Only the product's own code counts: no migrations, nothing that is generated, and nothing that runs
because a module is imported.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType

from django.conf import settings
from django.db import transaction

from assessments import services as assessments
from assessments.models import MetricDefinition
from delivery import followers
from delivery.acceptance import services as acceptance
from delivery.demo.sample_firm import NODE_NAME
from delivery.demo.sample_setup import load_sample
from delivery.demo.scenario_documents import code_from_mail
from delivery.quotes import services as quotes
from delivery.quotes.models import PriceLine, RateCard
from delivery.reports import services as reports
from engagements.audit import audit_log
from engagements.models import Engagement, User
from engagements.stages import Stage
from workers import services as workers
from workers.models import Node

PACKAGES = ("engagements", "workers", "assessments", "delivery", "bundle_verifier", "toolreaders")
People = dict[str, User]


def traced(flow: str) -> "Walk":
    """What runs when the flow does, on a sample engagement that is made for it.

    Args:
        flow: one of FLOWS.
    """
    engagement = load_sample()
    write = FLOWS[flow](engagement, {user.username: user for user in User.objects.all()})
    with Walk() as walk:
        write()
    return walk


def _queue_job(engagement: Engagement, who: People) -> Callable[[], object]:
    """A job on a node."""
    with transaction.atomic():
        node = Node.objects.create(name=NODE_NAME, host="127.0.0.1", username="practice",
                                   state=Node.State.READY, is_practice=True)
        audit_log.record(actor=who["operator"], action="sample.load", target=node)
    return lambda: workers.queue_job(actor=who["consultant"], kind="env.host_probe", node=node,
                                     engagement=engagement, stage=Stage.ENV)


def _issue_quote(engagement: Engagement, who: People) -> Callable[[], object]:
    """An approved quote of two lines."""
    sales, card = who["sales"], RateCard.objects.order_by("pk").first()
    quote = quotes.create_quote(actor=sales, engagement=engagement)
    for price in PriceLine.objects.filter(card=card, unit="person_day")[:2]:
        quotes.add_line(actor=sales, quote=quote, price=price, quantity=Decimal(10))
    quote.refresh_from_db()
    quotes.update_quote(actor=sales, quote=quote, source_note="以各行之和为准。")
    quotes.submit_quote(actor=sales, quote=quote)
    quotes.review_quote(actor=who["consultant"], quote=quote)
    quotes.approve_quote(actor=who["manager"], quote=quote)
    return lambda: quotes.issue_quote(actor=sales, quote=quote)


def _sign(engagement: Engagement, who: People) -> Callable[[], object]:
    """The one signature that an accepted final acceptance waits for."""
    lead, manager, reviewer = who["lead"], who["manager"], who["reviewer"]
    criteria = assessments.draft_criteria(actor=lead, engagement=engagement)
    assessments.add_criterion(
        actor=lead, criteria_set=criteria, model=engagement.models.first(), stage=Stage.INFER_TUNE,
        threshold=Decimal(200), definition=MetricDefinition.objects.get(code="latency"))
    assessments.confirm_criteria(actor=reviewer, criteria_set=criteria)
    assessments.sign_criteria(actor=manager, criteria_set=criteria)
    draft = reports.draft_acceptance(actor=lead, engagement=engagement)
    reports.submit_document(actor=lead, document=draft)
    reports.review_document(actor=who["consultant"], document=draft)
    review = acceptance.open_review(actor=manager, document=reports.issue_document(
        actor=manager, document=draft))
    acceptance.decide(actor=reviewer, review=review, decision="accepted")
    acceptance.begin_signing(actor=reviewer, review=review, name=reviewer.full_name,
                             capacity=reviewer.job_title, agrees=True)
    code = code_from_mail(reviewer)
    return lambda: acceptance.sign(actor=reviewer, review=review, code=code)


# Each makes what the flow needs and returns the write that is followed.
FLOWS: dict[str, Callable[[Engagement, People], Callable[[], object]]] = {
    "queue_job": _queue_job, "issue_quote": _issue_quote, "sign": _sign}


@dataclass
class Step:
    """A function that ran, and what it called, in order; what it called again stands once."""

    code: CodeType
    steps: "dict[CodeType, Step]" = field(default_factory=dict)

    @property
    def file(self) -> str:
        return Path(self.code.co_filename).relative_to(settings.BASE_DIR).as_posix()


class Walk:
    """What ran while it was entered. Not for several threads."""

    def __init__(self) -> None:
        self._top: dict[CodeType, Step] = {}
        self._open: list[tuple[FrameType, Step | None]] = []

    def __enter__(self) -> "Walk":
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_exception) -> None:
        sys.setprofile(None)
        self._top.pop(Walk.__exit__.__code__, None)

    def _event(self, frame: FrameType, event: str, _argument) -> None:
        if event == "return" and self._open and frame is self._open[-1][0]:
            self._open.pop()
        elif event == "call" and frame.f_code.co_name == "<module>":
            self._open.append((frame, None))
        elif event == "call" and _is_own(frame.f_code):
            above = self._open[-1][1] if self._open else None
            if not self._open or above:
                steps = above.steps if above else self._top
                self._open.append((frame, steps.setdefault(frame.f_code, Step(frame.f_code))))

    def steps(self) -> Iterator[tuple[int, Step]]:
        """Each step with its depth from 1, in the order of running."""
        def below(steps: dict[CodeType, Step], depth: int) -> Iterator[tuple[int, Step]]:
            for step in steps.values():
                yield depth, step
                yield from below(step.steps, depth + 1)

        return below(self._top, 1)

    def files(self) -> list[str]:
        """Each once, in the order in which they are first needed."""
        return list(dict.fromkeys(step.file for _depth, step in self.steps()))

    def files_before_followers(self) -> set[str]:
        """Files of the flow itself: without what only followers of its writes run through."""
        follows = followers.by_code()

        def below(steps: dict[CodeType, Step]) -> Iterator[str]:
            for step in steps.values():
                if step.code not in follows:
                    yield step.file
                    yield from below(step.steps)

        return set(below(self._top))

    def counts(self) -> dict[str, int]:
        """Functions and files, and how deep calls go."""
        walked = list(self.steps())
        return {"functions": len({step.code for _depth, step in walked}),
                "files": len(self.files()), "files_before_followers":
                    len(self.files_before_followers()),
                "depth": max(depth for depth, _step in walked)}

    def lines(self) -> Iterator[str]:
        """The walk as text: a file, the functions that run there, and what they call below. What
        stood in full before is not repeated."""
        yield from _lines(self._top, 0, set())

    def follow_ups(self) -> list[str]:
        """What followed the writes, in the order of the table of followers."""
        ran = {step.code for _depth, step in self.steps()}
        return [what for code, what in followers.by_code().items() if code in ran]


def _lines(steps: dict[CodeType, Step], depth: int, shown: set[CodeType]) -> Iterator[str]:
    for file, group in groupby(steps.values(), lambda step: step.file):
        found = list(group)
        shown.update(step.code for step in found)
        yield f"{'  ' * depth}{file}: {', '.join(step.code.co_name for step in found)}"
        for step in found:
            if what := followers.by_code().get(step.code):
                yield f"{'  ' * (depth + 1)}(follows the write: {what})"
            if not _codes_below(step) <= shown:
                yield from _lines(step.steps, depth + 1, shown)


def _codes_below(step: Step) -> set[CodeType]:
    return step.steps.keys() | {code for each in step.steps.values() for code in _codes_below(each)}


_known: dict[CodeType, bool] = {}


def _is_own(code: CodeType) -> bool:
    """Comprehensions and lambdas count as part of the function around them."""
    if code not in _known:
        package, *_rest = Path(code.co_filename).parts[len(settings.BASE_DIR.parts):] or [""]
        _known[code] = (
            code.co_filename.startswith(f"{settings.BASE_DIR}/") and package in PACKAGES
            and "/migrations/" not in code.co_filename and not code.co_name.startswith("<"))
    return _known[code]
