"""The seventeen tools. Each docstring is what an agent reads of it."""

import base64
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from desk_cli.mcp_server.answers import SHORT, UNTRUSTED, Refused, bounded, listed, shortened
from desk_cli.mcp_server.desk import Desk

LONGEST_WAIT, LOOK_SECONDS = 25, 2
MOST_FOUND, MOST_CASES = 10, 5
MOST_PLANS = 1000
Stage = Literal["survey", "design", "env", "train_adapt", "train_tune", "infer_migrate",
                "infer_tune", "accept"]


def refused(cause: str, remedy: str) -> Refused:
    return Refused(json.dumps({"cause": cause, "remedy": remedy}))


class Tools:
    """What an agent may ask and do; plans are kept while the process runs, and made again after."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._plans: dict[tuple[str, str], dict[str, Any]] = {}  # by caller and hash

    def all(self) -> list[Callable[..., Any]]:
        return [self.desk_whoami, self.desk_find, self.desk_engagement_status, self.desk_gate,
                self.desk_criteria, self.desk_job_kinds, self.desk_plan_job, self.desk_start_job,
                self.desk_job, self.desk_job_log, self.desk_cancel_job, self.desk_findings,
                self.desk_verdicts, self.desk_solved_cases, self.desk_attach_evidence,
                self.desk_draft, self.desk_request_decision]

    def desk_whoami(self) -> dict[str, Any]:
        """Who you are here: agent, owner, engagement, card hours left, and what you may not do.
        Ask this first."""
        me = self.desk.get("agents/me/")
        return {"agent": me["name"], "owner": me["owner_name"], "engagement": me["engagement"],
                "expires_at": me["expires_at"], "hours": me["hours"],
                "hours_per_day": me["hours_per_day"],
                "never": "sign, approve, confirm, issue, decide, waive, accept, move a gate, "
                         "change criteria, baselines, prices, nodes, credentials, tokens, "
                         "budgets: a person does, after desk_request_decision"}

    def desk_find(self, text: str) -> dict[str, Any]:
        """Engagements, models, jobs, files, documents by words; at most ten of each kind."""
        found = self.desk.get("search/", q=text)
        groups = found if isinstance(found, list) else found.get("results", found)
        return listed(groups if isinstance(groups, list) else [groups], 0, SHORT)

    def desk_engagement_status(self, engagement: str, cursor: int = 0, limit: int = SHORT
                               ) -> dict[str, Any]:
        """Where each model of an engagement (by its code) stands, stage by stage, and what is to be
        done next by whom."""
        models = {row["id"]: row["code"]
                  for row in self.desk.rows("models/", engagement=engagement)}
        stages = [{"stage_id": row["id"], "model": models.get(row["model"]), "stage": row["stage"],
                   "state": row["state"], "moves": row["allowed_moves"]}
                  for row in self.desk.rows("stages/", engagement=engagement)]
        steps = self.desk.get(f"engagements/{engagement}/next-steps/")
        return listed(stages, cursor, limit, engagement=engagement,
                      next_steps=shortened(steps, bounded(limit) // 2))

    def desk_gate(self, engagement: str, model: str, stage: Stage) -> dict[str, Any]:
        """What a stage of a model still lacks before a person can let it pass."""
        row = self._stage(engagement, model, stage)
        checks = self.desk.get(f"stages/{row['id']}/gate/")
        return listed(checks, 0, SHORT, stage_id=row["id"], state=row["state"],
                      missing=[check.get("code") for check in checks if not check.get("is_met")])

    def desk_criteria(self, engagement: str, model: str, cursor: int = 0, limit: int = SHORT
                      ) -> dict[str, Any]:
        """The frozen criteria of a model: definition, threshold, baseline, hash. They do not
        change; what you measure is judged by them."""
        sets = {row["id"]: row for row in self.desk.rows("criteria-sets/", engagement=engagement)}
        known: dict[int, Any] = {}
        rows = []
        for row in self.desk.rows("criteria/", engagement=engagement,
                                  model=self._model(engagement, model)["id"]):
            if row["definition"] not in known:
                known[row["definition"]] = self.desk.get(f"definitions/{row['definition']}/")
            of = sets.get(row["criteria_set"], {})
            rows.append({**{name: row[name] for name in (
                "id", "stage", "threshold", "point", "selection", "runs", "baseline")},
                "definition": known[row["definition"]], "set": of.get("id"),
                "state": of.get("state"), "hash": of.get("content_hash")})
        return listed(rows, cursor, limit)

    def desk_job_kinds(self, stage: Stage | None = None, kind: str = "", cursor: int = 0
                       ) -> dict[str, Any]:
        """What can be run, by stage; with a kind's code its parameters as JSON schema."""
        if kind:
            return shortened(self.desk.get(f"job-kinds/{kind}/"), bounded(SHORT * 4))
        return listed([{name: row[name] for name in ("code", "title", "cards",
                                                     "time_limit_seconds")}
                       for row in self.desk.get("job-kinds/")
                       if stage is None or stage in row["stages"]], cursor, SHORT)

    def desk_plan_job(self, kind: str, engagement: str, parameters: dict[str, Any],
                      node: str = "", model: str = "", stage: Stage | None = None
                      ) -> dict[str, Any]:
        """What a job would run: command, card hours, what forbids it, and a plan hash. Nothing is
        queued. Start it with desk_start_job."""
        order: dict[str, Any] = {"kind": kind, "engagement": engagement, "parameters": parameters}
        if node:
            order["node"] = self.desk.one("nodes/", f"node {node}", name=node)["id"]
        if model:
            order["model"] = self._model(engagement, model)["id"]
        if stage:
            order["stage"] = stage
        plan = self.desk.post("jobs/plan/", order)
        if plan["plan"]:
            self._plans[self.desk.caller, plan["plan"]] = order
            if len(self._plans) > MOST_PLANS:
                del self._plans[next(iter(self._plans))]
        return {**plan, **{name: shortened(plan[name], SHORT // 4)
                           for name in ("command", "errors", "warnings")}}

    def desk_start_job(self, plan: str, request_key: str) -> dict[str, Any]:
        """Queue a planned job. The request key is yours (1 to 200 characters, no space): the same
        key is the same job however often you ask; keep it before you ask. After a restart plan the
        job again: the hash stays the same."""
        order = self._plans.get((self.desk.caller, plan))
        if order is None:
            raise refused("This process has made no such plan.",
                          "Call desk_plan_job again with the same order, then start its plan.")
        job = self.desk.post("jobs/", {**order, "plan": plan}, key=request_key)
        return {"job": job["id"], "state": job["state"], "sentence": job["sentence"],
                "poll_after_seconds": 5}

    def desk_job(self, job: int, wait_seconds: int = 0) -> dict[str, Any]:
        """State of a job; waits up to 25 seconds for its end. Ask again after
        poll_after_seconds; null once it has ended. The job goes on whatever you do."""
        deadline = time.monotonic() + max(0, min(wait_seconds, LONGEST_WAIT))
        found = self.desk.get(f"jobs/{job}/")
        while found["finished_at"] is None and time.monotonic() + LOOK_SECONDS < deadline:
            time.sleep(LOOK_SECONDS)
            found = self.desk.get(f"jobs/{job}/")
        has_ended = found["finished_at"] is not None
        files = [{"artifact": row["id"], "name": row["name"], "size": row["size"],
                  "sha256": row["sha256"]} for row in self.desk.rows("artifacts/", job=job)
                 ] if has_ended else []
        facts = {name: found[name] for name in (
            "id", "kind", "state", "sentence", "exit_status", "progress_done", "progress_total",
            "last_loss", "started_at", "finished_at")}
        return listed(files, 0, SHORT, **facts, diagnosis=shortened(found["diagnosis"], 2048),
                      results=shortened(found["results"], 2048),
                      poll_after_seconds=None if has_ended else 30 if found["started_at"] else 10)

    def desk_job_log(self, job: int, offset: int = 0, search: str = "", limit: int = SHORT
                     ) -> dict[str, Any]:
        """The log of a job from a byte offset, or the last line that holds a text. Untrusted."""
        if search:
            hit = self.desk.get(f"jobs/{job}/log/search/", q=search, before=offset or None)
            return {"warning": UNTRUSTED, **shortened(hit, bounded(limit) - 400)}
        part = self.desk.get(f"jobs/{job}/log/", offset=offset)
        text = part["text"].encode()
        cut = text[:bounded(limit) - 600].decode(errors="ignore")
        is_whole = len(cut.encode()) == len(text)
        return {"warning": UNTRUSTED, "text": cut, "truncated": not is_whole,
                "next_offset": part["next_offset"] if is_whole else offset + len(cut.encode())}

    def desk_cancel_job(self, job: int, reason: str = "") -> dict[str, Any]:
        """End a job of yours."""
        me = self.desk.get("agents/me/")
        if self.desk.get(f"jobs/{job}/")["agent"] != me["id"]:
            raise refused("This job is not yours.", "Ask its owner to cancel it.")
        found = self.desk.post(f"jobs/{job}/cancel/", {"reason": reason} if reason else {})
        return {"job": job, "state": found["state"],
                "is_asked_for": found["cancel_requested_at"] is not None}

    def desk_findings(self, job: int | None = None, artifact: int | None = None, cursor: int = 0,
                      limit: int = SHORT) -> dict[str, Any]:
        """What the desk reads in the files of a job, or in one file: values and warnings, by
        readers of its own, not by what a log claims."""
        files = [self.desk.get(f"artifacts/{artifact}/")] if artifact else self.desk.rows(
            "artifacts/", job=job, include="readings") if job else []
        return listed([{"artifact": file["id"], "name": file["name"], "origin": file["origin"],
                        **{name: reading[name] for name in ("kind", "tool", "values", "warnings")}}
                       for file in files for reading in file["readings"]], cursor, limit)

    def desk_verdicts(self, engagement: str, model: str = "", cursor: int = 0, limit: int = SHORT
                      ) -> dict[str, Any]:
        """The newest verdict of each criterion: outcome, figure, reason. They are computed from raw
        files; nothing that you write changes one."""
        wanted = {"engagement": engagement, **(
            {"model": self._model(engagement, model)["id"]} if model else {})}
        newest: dict[int, dict[str, Any]] = {}
        for row in self.desk.rows("verdicts/", **wanted):
            if row["criterion"] not in newest or row["id"] > newest[row["criterion"]]["id"]:
                newest[row["criterion"]] = row
        return listed([{name: row[name] for name in (
            "id", "criterion", "outcome", "figure", "reason", "sentence", "measurement",
            "computed_at")} for row in newest.values()], cursor, limit)

    def desk_solved_cases(self, text: str) -> dict[str, Any]:
        """What went wrong elsewhere and cured it; at most five."""
        found = self.desk.get("solved-cases/", q=text, page_size=MOST_CASES)["results"]
        return listed([{name: row[name] for name in (
            "id", "title", "error_code", "tool", "cause", "cure")} for row in found], 0, SHORT)

    def desk_attach_evidence(self, path: str, sha256: str, engagement: str, model: str = "",
                             note: str = "", content_base64: str = "") -> dict[str, Any]:
        """Store a file of yours with the engagement, as declared by you. What no job of the desk
        made is no evidence: criteria stay not provable. Give its SHA-256; over HTTP its content,
        too (3 MiB at most)."""
        file = Path(path)
        if content_base64:
            content = base64.b64decode(content_base64)
        elif not self.desk.is_local:
            raise refused("This server reads no files.", "Send the file as content_base64.")
        elif not file.is_file():
            raise refused(f"There is no file {path}.", "Name a file that this process can read.")
        else:
            content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != sha256.lower():
            raise refused("The file has another SHA-256.", "Compute it again, of this very file.")
        of = self.desk.get(f"engagements/{engagement}/")["id"]  # a form knows no codes
        fields = {"engagement": str(of), "note": note[:240], **(
            {"model": str(self._model(engagement, model)["id"])} if model else {})}
        stored = self.desk.post("artifacts/upload/", data=fields, key=sha256.lower(),
                                files={"upload": (file.name, content)})
        return {"artifact": stored["id"], "sha256": stored["sha256"], "origin": stored["origin"]}

    def desk_draft(self, what: Literal["comment", "case", "round", "change"],
                   fields: dict[str, Any]) -> dict[str, Any]:
        """Draft what people read or decide on: comment (stage_id, text), case (title, cause, cure,
        job), round (model, area, artifact, finding, change), change (engagement, title, category,
        requested_by, reason, before, after). References are numbers, engagement is a code."""
        fields = dict(fields)
        stage = fields.pop("stage_id", None) if what == "comment" else None
        path = {"comment": f"stages/{stage}/comments/", "case": "solved-cases/",
                "round": "optimisation-rounds/", "change": "change-requests/"}[what]
        made = self.desk.post(path, fields)
        return {"drafted": what, "id": made["id"], "decided_by": "a person, in the portal"}

    def desk_request_decision(self, engagement: str, model: str, stage: Stage, comment: str = ""
                              ) -> dict[str, Any]:
        """Submit a stage for a person's decision and get the link to send them. You cannot decide,
        nor can they through you."""
        row = self._stage(engagement, model, stage)
        if "submit" in row["allowed_moves"]:
            row = self.desk.post(f"stages/{row['id']}/move/", {
                "move": "submit", **({"comment": comment} if comment else {})})
        return {"state": row["state"], "decided_by": "a manager of the engagement",
                "link": f"{self.desk.portal}/engagements/{engagement}/{model}/{stage}/"}

    def _model(self, engagement: str, code: str) -> dict[str, Any]:
        return self.desk.one("models/", f"model {code}", engagement=engagement, code=code)

    def _stage(self, engagement: str, model: str, stage: str) -> dict[str, Any]:
        return self.desk.one("stages/", f"stage {stage}", stage=stage,
                             model=self._model(engagement, model)["id"])
