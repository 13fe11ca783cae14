"""Engagements and their models."""

import click

from desk_cli.connection import connect, result, rows, stored_login
from desk_cli.output import json_option, most_option, show_facts, show_json, show_rows
from desk_client.api.engagements import (
    engagements_list,
    engagements_next_steps_list,
    engagements_retrieve,
)
from desk_client.api.models import models_list
from desk_client.client import AuthenticatedClient
from desk_client.models.engagement import Engagement


@click.group()
def engagements() -> None:
    """Engagements that you see."""


@engagements.command("list")
@most_option
@json_option
def list_(most: int, as_json: bool) -> None:
    """Codes, names and states."""
    client = connect(stored_login())
    show_rows(rows(engagements_list.sync_detailed, client, most), [
        ("CODE", lambda row: row.code), ("STATE", lambda row: row.state.value),
        ("UNTIL", lambda row: row.ends_on or ""), ("NAME", lambda row: row.name)],
        as_json=as_json)


@engagements.command()
@click.argument("code")
@json_option
def show(code: str, as_json: bool) -> None:
    """One engagement: its models and what comes next."""
    client = connect(stored_login())
    found = engagement_of(client, code)
    if as_json:
        show_json(found)
        return
    show_facts([("code", found.code), ("name", found.name), ("state", found.state.value),
                ("from", found.starts_on), ("until", found.ends_on)])
    for model in rows(models_list.sync_detailed, client, 1000, engagement=found.id):
        show_facts([("model", f"{model.code} · {model.name}")])
    for step in result(engagements_next_steps_list.sync_detailed(code, client=client)):
        show_facts([("next", step.label)])


def engagement_of(client: AuthenticatedClient, code: str) -> Engagement:
    return result(engagements_retrieve.sync_detailed(code, client=client))


def model_id(client: AuthenticatedClient, engagement: Engagement, code: str) -> int:
    """The id of the engagement's model with this code. Raises ClickException if it has none."""
    for model in rows(models_list.sync_detailed, client, 1, engagement=engagement.id, code=code):
        return model.id
    raise click.ClickException(f"{engagement.code} has no model {code}.")
