"""Training throughput in tokens/s where a log counts samples: samples/s × tokens of a sample.

The length of a sample is that of the run's own arguments, which the reader of the log multiplies,
else what the survey states for a language model. Padding counts as tokens in both.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from django.utils.functional import lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assessments.models import Measurement
from toolreaders.verdicts.quantity_rows import BY_NAME

TOKENS, SAMPLES = "tokens_per_second", "samples_per_second"
BY_ARGUMENTS = "throughput.derived_tokens_per_second"  # place of the figure in a reading's values

Lengths = Callable[[Collection[int]], Mapping[int, int]]
_sources: list[Lengths] = []


def register_sequence_lengths(lengths: Lengths) -> Lengths:
    """Decorator: who knows, for keys of models, the tokens of a sample of those that are language
    models."""
    _sources.append(lengths)
    return lengths


def in_tokens(rows: list[Measurement]) -> list[Measurement]:
    """The rows, and after each that counts samples only one in tokens/s, which is not stored and
    judges nothing. Every derived one has the multiplication as its `derivation`."""
    tokens = {row.artifact_id: row for row in rows if row.quantity == TOKENS}
    samples = [row for row in rows if row.quantity == SAMPLES]
    lacking = {row.model_id for row in samples if row.artifact_id not in tokens}
    stated = {key: length for source in _sources if lacking
              for key, length in source(lacking).items()}
    for row in samples:
        found = tokens.get(row.artifact_id)
        if found and found.place == BY_ARGUMENTS and row.value:
            found.derivation = _derivation(row, round(found.value / row.value),
                                           _("arguments of the run"))
    return [each for row in rows for each in (row, *(
        _of_survey(row, stated) if row.quantity == SAMPLES and row.artifact_id not in tokens
        else ()))]


def _of_survey(row: Measurement, stated: Mapping[int, int]) -> Iterator[Measurement]:
    if length := stated.get(row.model_id):
        made = Measurement(
            model_id=row.model_id, quantity=TOKENS, value=row.value * length,
            unit=BY_NAME[TOKENS].unit, artifact_id=row.artifact_id, job_id=row.job_id,
            is_practice=row.is_practice)
        if Measurement.artifact.is_cached(row):
            made.artifact = row.artifact
        made.derivation = _derivation(row, length, _("survey"))
        yield made


def _sentence(samples: Measurement, length: int, source: str) -> str:
    return gettext("%(rate)s samples/s × %(length)s tokens (%(source)s)") % {
        "rate": f"{samples.value:.5g}", "length": f"{length:,}", "source": source}


_derivation = lazy(_sentence, str)  # documents print it in two languages
