"""Models of an engagement × chains of their routes: what was started, how far it is."""

from typing import Any

from engagements.models import Engagement, MigratedModel
from workers import kinds
from workers.jobs import chain_places, choices, shipped_chains
from workers.jobs.form_defaults import Defaults
from workers.jobs.readable_values import without_secrets
from workers.models import ChainRun, JobState
from workers.models.job import FINAL_STATES


def rows(engagement: Engagement) -> list[dict[str, Any]]:
    """Each model with the shipped chains that fit it and the newest run of each."""
    runs: dict[tuple[int, str], ChainRun] = {}
    for run in ChainRun.objects.filter(
            model__engagement=engagement, is_regression=False).exclude(
            chain__code=None).select_related("chain").prefetch_related("jobs__job").order_by("pk"):
        runs[run.model_id, run.chain.code] = run
    models = list(MigratedModel.objects.filter(engagement=engagement, dropped_at=None).order_by(
        "code"))
    known = _Known(models)
    return [{"model": model, "chains": [
        _entry(model, chain, runs.get((model.pk, chain.code)), known)
        for chain in shipped_chains.fitting(model)]} for model in models]


def _entry(model: MigratedModel, chain: shipped_chains.ShippedChain, run: ChainRun | None,
           known: "_Known") -> dict[str, Any]:
    jobs = {step.position: step.job for step in run.jobs.all()} if run else {}
    return {"code": chain.code, "title": chain.title, "about": chain.description, "run": run,
            "node": run.node_id if run else None,
            "steps": [{"kind": step["kind"], "job": jobs.get(position)}
                      for position, step in enumerate(chain.steps)],
            "given": _given(model, chain, run, known),
            "may_resume": bool(run) and may_resume(run)}


def may_resume(run: ChainRun) -> bool:
    """Whether it stopped: at a job that failed, or before a step that was not queued."""
    last = run.last_step
    if last.job.state == JobState.SUCCEEDED:
        return run.finished_at is not None and last.position + 1 < len(run.steps)
    return last.job.state in FINAL_STATES


def _given(model: MigratedModel, chain: shipped_chains.ShippedChain, run: ChainRun | None,
           known: "_Known") -> list[dict[str, Any]]:
    """What has to be given: as the last run had it, else as survey or an earlier job knows it."""
    steps = [dict(step) for step in chain.steps]
    given = without_secrets(run.given) if run else {}
    return [{"name": name, "label": shipped_chains.given_label(name),
             "value": given.get(name) or known.value(model, steps, name)}
            for name in chain_places.given_in(steps)]


class _Known:
    """What survey and earlier jobs know of the parameters of models; asked once for all."""

    def __init__(self, models: list[MigratedModel]) -> None:
        codes = {step["kind"] for chain in shipped_chains.CHAINS for step in chain.steps}
        self.defaults, self.earlier = Defaults(models), choices.last_parameters(models, codes)

    def value(self, model: MigratedModel, steps: list[dict], name: str) -> Any:
        """Of the first step that takes what is given under this name and has a known value."""
        for step in steps:
            for parameter, value in step["parameters"].items():
                if value == f"{{given.{name}}}":
                    code = step["kind"]
                    found = (self.defaults.of(kinds.get(code), model).get(parameter)
                             or self.earlier.get((model.pk, code), {}).get(parameter))
                    if found:
                        return found
        return ""
