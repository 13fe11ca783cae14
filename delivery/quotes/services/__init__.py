"""Writes of quotes and prices, by topic. Each owns its transaction, lock and audit entry."""

from delivery.quotes.services.agreed_versions import agree_on_version
from delivery.quotes.services.answers import ANSWERABLE, check_answer, record_answer
from delivery.quotes.services.discount_limits import save_discount_limits
from delivery.quotes.services.drafts import copy_quote, create_quote, new_version, update_quote
from delivery.quotes.services.files import enqueue_missing_files, store_quote_files
from delivery.quotes.services.frameworks import add_framework, call_off, change_framework
from delivery.quotes.services.lines import (
    add_free_line,
    add_line,
    add_resources,
    remove_line,
    update_line,
)
from delivery.quotes.services.moves import (
    answer_quote,
    approve_quote,
    discard_quote,
    expire_quotes,
    issue_quote,
    move_quote,
    return_quote,
    review_quote,
    submit_quote,
    withdraw_quote,
)
from delivery.quotes.services.price_imports import (
    confirm_import,
    discard_import,
    map_columns,
    start_import,
)
from delivery.quotes.services.rate_cards import (
    close_rate_card,
    computed_total,
    load_rate_cards,
    source_difference,
)

__all__ = [
    "ANSWERABLE",
    "add_framework",
    "add_free_line",
    "add_line",
    "add_resources",
    "agree_on_version",
    "answer_quote",
    "approve_quote",
    "call_off",
    "change_framework",
    "check_answer",
    "close_rate_card",
    "computed_total",
    "confirm_import",
    "copy_quote",
    "create_quote",
    "discard_import",
    "discard_quote",
    "enqueue_missing_files",
    "expire_quotes",
    "issue_quote",
    "load_rate_cards",
    "map_columns",
    "move_quote",
    "new_version",
    "record_answer",
    "remove_line",
    "return_quote",
    "review_quote",
    "save_discount_limits",
    "source_difference",
    "start_import",
    "store_quote_files",
    "submit_quote",
    "update_line",
    "update_quote",
    "withdraw_quote",
]
