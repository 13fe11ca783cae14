"""Jobs: run, follow, cancel."""

import json
import time
from pathlib import Path
from typing import Any

import click
import httpx

from desk_cli.commands.engagements import engagement_of, model_id
from desk_cli.connection import connect, result, rows, stored_login
from desk_cli.output import (
    json_option,
    most_option,
    printable,
    show_facts,
    show_json,
    show_rows,
)
from desk_client.api.job_kinds import job_kinds_list, job_kinds_retrieve
from desk_client.api.jobs import (
    jobs_cancel_create,
    jobs_create,
    jobs_list,
    jobs_log_retrieve,
    jobs_retrieve,
)
from desk_client.api.nodes import nodes_list
from desk_client.client import AuthenticatedClient
from desk_client.models.job import Job
from desk_client.models.job_request import JobRequest
from desk_client.models.jobs_list_state import JobsListState
from desk_client.models.stage_enum import StageEnum
from desk_client.types import UNSET

POLL_SECONDS = 2.0
LONGEST_PAUSE = 60.0  # between attempts while the desk does not answer


@click.group()
def jobs() -> None:
    """Jobs on nodes."""


@jobs.command("list")
@click.option("--engagement", help="Code.")
@click.option("--state", type=click.Choice([state.value for state in JobsListState]))
@most_option
@json_option
def list_(engagement: str | None, state: str | None, most: int, as_json: bool) -> None:
    """The newest jobs."""
    client = connect(stored_login())
    of = engagement_of(client, engagement).id if engagement else UNSET
    found = rows(jobs_list.sync_detailed, client, most, engagement=of,
                 state=JobsListState(state) if state else UNSET)
    show_rows(found, [
        ("JOB", lambda row: row.id), ("STATE", lambda row: row.state.value),
        ("KIND", lambda row: row.kind), ("CREATED", lambda row: f"{row.created_at:%Y-%m-%d %H:%M}"),
        ("SENTENCE", lambda row: row.sentence)], as_json=as_json)


@jobs.command()
@json_option
def kinds(as_json: bool) -> None:
    """What can be run."""
    found = result(job_kinds_list.sync_detailed(client=connect(stored_login())))
    show_rows(found, [("KIND", lambda row: row.code), ("CARDS", lambda row: row.cards),
                      ("TITLE", lambda row: row.title)], as_json=as_json)


@jobs.command()
@click.argument("kind")
@json_option
def parameters(kind: str, as_json: bool) -> None:
    """The parameters of a KIND."""
    found = result(job_kinds_retrieve.sync_detailed(kind, client=connect(stored_login())))
    if as_json:
        show_json(found)
        return
    schema = found.parameters.to_dict()
    for name, facts in schema.get("properties", {}).items():
        is_needed = name in schema.get("required", [])
        show_facts([(name, f"{facts.get('type', 'any')}{', required' if is_needed else ''}"
                           f" {facts.get('title', '')} {facts.get('description', '')}".rstrip())])


@jobs.command()
@click.argument("kind")
@click.option("--engagement", help="Code.")
@click.option("--model", help="Code of a model of the engagement.")
@click.option("--stage", type=click.Choice([stage.value for stage in StageEnum]))
@click.option("--node", help="Name; without it the job needs none.")
@click.option("-p", "given", multiple=True, metavar="NAME=VALUE", help="A parameter; repeatable.")
@click.option("--parameters", "file", type=click.Path(path_type=Path, exists=True),
              help="A JSON object with parameters; -p overrides it.")
@click.option("--follow", is_flag=True, help="Show its output until it ends.")
def run(kind: str, engagement: str | None, model: str | None, stage: str | None,
        node: str | None, given: tuple[str, ...], file: Path | None, follow: bool) -> None:
    """Queue a job of a KIND and print its number."""
    client = connect(stored_login())
    of = engagement_of(client, engagement) if engagement else None
    if model and of is None:
        raise click.UsageError("--model needs --engagement.")
    schema = result(job_kinds_retrieve.sync_detailed(kind, client=client)).parameters.to_dict()
    job = result(jobs_create.sync_detailed(client=client, body=JobRequest(
        kind=kind, engagement=of.id if of else UNSET,
        model=model_id(client, of, model) if of and model else UNSET,
        stage=StageEnum(stage) if stage else UNSET,
        node=node_id(client, node) if node else UNSET,
        parameters=chosen_parameters(schema, given, file))))
    click.echo(f"Job {job.id} is queued.")
    if follow:
        end_with(follow_job(client, job.id))


def node_id(client: AuthenticatedClient, name: str) -> int:
    for node in rows(nodes_list.sync_detailed, client, 1, name=name):
        return node.id
    raise click.ClickException(f"There is no node {name}.")


def chosen_parameters(schema: dict[str, Any], given: tuple[str, ...], file: Path | None
                      ) -> dict[str, Any]:
    """From the file and the command line; a value is text where the kind wants text, else JSON."""
    found = {}
    if file:
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise click.UsageError(f"{file} is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise click.UsageError(f"{file} holds no JSON object.")
    for word in given:
        name, mark, value = word.partition("=")
        if not mark:
            raise click.UsageError(f"Write -p NAME=VALUE instead of {word}.")
        found[name] = _value(schema.get("properties", {}).get(name, {}), name, value)
    return found


def _value(facts: dict[str, Any], name: str, text: str) -> Any:
    if facts.get("type", "string") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise click.UsageError(f"{name} is of type {facts['type']}; write it as JSON.") from None


@jobs.command()
@click.argument("job", type=int)
@json_option
def show(job: int, as_json: bool) -> None:
    """State, sentence and cause of a JOB."""
    found = result(jobs_retrieve.sync_detailed(job, client=connect(stored_login())))
    if as_json:
        show_json(found)
        return
    show_end(found)
    show_facts([("kind", found.kind), ("created", found.created_at), ("started", found.started_at),
                ("finished", found.finished_at), ("loss", found.last_loss)])


@jobs.command()
@click.argument("job", type=int)
def follow(job: int) -> None:
    """The output of a JOB, as it comes; exit status 1 unless it succeeds.

    The job goes on if this command ends.
    """
    end_with(follow_job(connect(stored_login()), job))


@jobs.command()
@click.argument("job", type=int)
@click.option("--wait", is_flag=True, help="Until nothing of it runs any more.")
def cancel(job: int, wait: bool) -> None:
    """Cancel a JOB."""
    client = connect(stored_login())
    found = result(jobs_cancel_create.sync_detailed(job, client=client))
    while wait and found.finished_at is None:
        time.sleep(POLL_SECONDS)
        found = patiently(lambda: result(jobs_retrieve.sync_detailed(job, client=client)))
    if found.finished_at is None:
        click.echo("Cancelling is asked for; the node has not confirmed it yet.")
    else:
        show_end(found)


def follow_job(client: AuthenticatedClient, number: int) -> Job:
    """Print the log from its start to its end; the job as it ended."""
    offset = 0
    while True:
        # Asked for first: what was written before a job ended is read after it was seen to end.
        job = patiently(lambda: result(jobs_retrieve.sync_detailed(number, client=client)))
        offset = _show_log(client, number, offset)
        if job.finished_at is not None:
            return job
        time.sleep(POLL_SECONDS)


def _show_log(client: AuthenticatedClient, number: int, offset: int) -> int:
    """Print all that is there from the offset on; where it ends."""
    while True:
        part = patiently(lambda at=offset: result(jobs_log_retrieve.sync_detailed(
            number, client=client, offset=at)))
        if part.next_offset == offset:
            return offset
        offset = part.next_offset
        click.echo("\n".join(printable(line) for line in part.text.split("\n")), nl=False)


def patiently(ask):
    """The answer; while the desk is not reached, again after a growing pause."""
    pause = POLL_SECONDS
    while True:
        try:
            return ask()
        except httpx.TransportError as error:
            click.echo(f"The desk is not reached ({type(error).__name__}); the job goes on. "
                       f"Again in {pause:.0f} s.", err=True)
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


def show_end(job: Job) -> None:
    show_facts([("job", job.id), ("state", job.state.value), ("sentence", job.sentence),
                ("cause", job.technical_cause)])


def end_with(job: Job) -> None:
    show_end(job)
    if job.state.value != "succeeded":
        raise click.exceptions.Exit(1)
