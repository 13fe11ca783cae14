"""The words by which texts are found: any part of a word in letters, any two Chinese characters."""

import re

RUNS = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[^\W_]+?(?=[\u3400-\u9fff\uf900-\ufaff]|[\W_]|$)")
CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
LONGEST = 24  # characters of a word that are kept
MOST = 400  # words of one row


def words_of(texts: list[str]) -> str:
    """The words of a row: of Chinese each pair and the last character, else each ending."""
    found: dict[str, None] = {}
    for run in _runs(" ".join(filter(None, texts))):
        if CHINESE.match(run):
            found |= dict.fromkeys(run[n:n + 2] for n in range(len(run)))
        else:
            found |= dict.fromkeys(run[n:n + LONGEST] for n in range(len(run)))
    return " ".join(list(found)[:MOST])


def asked_for(text: str) -> list[str]:
    """What a row has to hold so that the text is found in it; `*` stands for any ending."""
    asked: dict[str, None] = {}
    for run in _runs(text):
        if not CHINESE.match(run):
            asked[f"{run[:LONGEST]}*"] = None
        elif len(run) == 1:
            asked[f"{run}*"] = None
        else:
            asked |= dict.fromkeys(run[n:n + 2] for n in range(len(run) - 1))
    return list(asked)


def _runs(text: str) -> list[str]:
    return RUNS.findall(text.casefold())
