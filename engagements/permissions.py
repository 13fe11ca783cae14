"""The actions that roles include; `engagements.access` says which role includes which."""

from enum import StrEnum


class Can(StrEnum):
    VIEW_INTERNAL = "view_internal"  # everything but what the customer's reviewer sees
    MANAGE = "manage"  # engagement, models, team, gates, criteria
    WORK = "work"  # jobs, artifacts, stage start and submit
    PRICE = "price"  # quotes and rate cards
    OPERATE = "operate"  # nodes and credentials
    ISSUE = "issue"  # reports and acceptance documents
    REVIEW = "review"  # comment, decide and sign for the customer
    AUDIT = "audit"
