"""Criteria and their verdicts."""

import click

from desk_cli.commands.engagements import engagement_of, model_id
from desk_cli.connection import connect, rows, stored_login
from desk_cli.output import json_option, show_rows
from desk_client.api.criteria import criteria_list
from desk_client.api.models import models_list


@click.command()
@click.argument("engagement")
@click.option("--model", help="Code of a model; all of them if left out.")
@json_option
def verdicts(engagement: str, model: str | None, as_json: bool) -> None:
    """Criteria of an ENGAGEMENT with their verdicts.

    Exit status 1 if one has failed, was not measured or is not provable.
    """
    client = connect(stored_login())
    of = engagement_of(client, engagement)
    models = {found.id: found.code for found in
              rows(models_list.sync_detailed, client, 1000, engagement=of.id)}
    chosen = [model_id(client, of, model)] if model else list(models)
    criteria = [row for key in chosen
                for row in rows(criteria_list.sync_detailed, client, 1000, model=key)]
    show_rows(criteria, [
        ("CRITERION", lambda row: row.id), ("MODEL", lambda row: models[row.model]),
        ("STAGE", lambda row: row.stage.value),
        ("VERDICT", outcome_of),
        ("SENTENCE", lambda row: row.verdict.sentence if row.verdict else "")], as_json=as_json)
    if not criteria or any(outcome_of(row) != "passed" for row in criteria):
        raise click.exceptions.Exit(1)


def outcome_of(criterion) -> str:
    """Without a verdict nothing was measured."""
    return criterion.verdict.outcome.value if criterion.verdict else "not_measured"
