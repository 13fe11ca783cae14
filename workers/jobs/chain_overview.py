"""Models of an engagement × chains of their routes: what was started, how far it is."""

from typing import Any

from engagements.models import Engagement, MigratedModel
from workers import kinds
from workers.jobs import chain_places, choices, shipped_chains
from workers.jobs.form_defaults import defaults_for
from workers.models import ChainRun, JobState
from workers.models.job import FINAL_STATES


def rows(engagement: Engagement) -> list[dict[str, Any]]:
    """Each model with the shipped chains that fit it and the newest run of each."""
    runs: dict[tuple[int, str], ChainRun] = {}
    for run in ChainRun.objects.filter(
            model__engagement=engagement, is_regression=False).exclude(
            chain__code=None).select_related("chain").prefetch_related("jobs__job").order_by("pk"):
        runs[run.model_id, run.chain.code] = run
    models = MigratedModel.objects.filter(engagement=engagement, dropped_at=None).order_by("code")
    return [{"model": model, "chains": [_entry(model, chain, runs.get((model.pk, chain.code)))
                                        for chain in shipped_chains.fitting(model)]}
            for model in models]


def _entry(model: MigratedModel, chain: shipped_chains.ShippedChain, run: ChainRun | None
           ) -> dict[str, Any]:
    jobs = {step.position: step.job for step in run.jobs.all()} if run else {}
    return {"code": chain.code, "title": chain.title, "about": chain.description, "run": run,
            "steps": [{"kind": step["kind"], "job": jobs.get(position)}
                      for position, step in enumerate(chain.steps)],
            "given": _given(model, chain, run), "may_resume": bool(run) and may_resume(run)}


def may_resume(run: ChainRun) -> bool:
    """Whether it stopped: at a job that failed, or before a step that was not queued."""
    last = run.last_step
    if last.job.state == JobState.SUCCEEDED:
        return run.finished_at is not None and last.position + 1 < len(run.steps)
    return last.job.state in FINAL_STATES


def _given(model: MigratedModel, chain: shipped_chains.ShippedChain, run: ChainRun | None
           ) -> list[dict[str, Any]]:
    """What has to be given: as the last run had it, else as survey or an earlier job knows it."""
    steps = [dict(step) for step in chain.steps]
    known = run.given if run else {}
    return [{"name": name, "label": shipped_chains.given_label(name),
             "value": known.get(name) or _known(model, steps, name)}
            for name in chain_places.given_in(steps)]


def _known(model: MigratedModel, steps: list[dict], name: str) -> Any:
    for step in steps:
        for parameter, value in step["parameters"].items():
            if value == f"{{given.{name}}}":
                kind = kinds.get(step["kind"])
                earlier = choices.last_run(kind, model)
                found = (defaults_for(kind, model).get(parameter)
                         or (earlier.parameters.get(parameter) if earlier else None))
                if found:
                    return found
    return ""
