"""Sentences of jobs have their singular, also those that were kept before it was declared."""

import re
import subprocess
import sys

import pytest
from django.conf import settings
from django.utils.translation import override

from engagements.text.nested_sentences import _counted, nested
from workers.dispatch import sentences
from workers.kinds.migration.pytorch import FOUND
from workers.logs import job_causes
from workers.models import Job

PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]")
CONVERTED = "%(n)d operators converted, first %(first)s."


@pytest.mark.parametrize(("language", "one", "two"), [
    ("en", "1 operator converted, first Add.", "2 operators converted, first Add."),
    ("zh-hans", "已转换 1 个算子，第一个为 Add。", "已转换 2 个算子，第一个为 Add。")])
def test_one_and_several(language, one, two):
    job = Job(message=CONVERTED, message_values={"n": 1, "first": "Add"})
    with override(language):
        assert job.sentence == one
        job.message_values["n"] = 2
        assert job.sentence == two
        job.message, job.message_values = "%(why)s", {
            "why": nested(CONVERTED, {"n": 1, "first": "Add"})}
        assert job.sentence == one
        job.message, job.message_values = CONVERTED, {}
        assert job.sentence == CONVERTED  # values that do not fit


@pytest.mark.parametrize(("language", "values", "text"), [
    ("en", (1, 1), "1 API use with an affinity API in 1 file."),
    ("en", (2, 1), "2 API uses with an affinity API in 1 file."),
    ("en", (1, 2), "1 API use with an affinity API in 2 files."),
    ("zh-hans", (2, 1), "在 1 个文件中有 2 处 API 存在亲和 API。")])
def test_each_of_two_counts_has_its_singular(language, values, text):
    job = Job(message=FOUND["affinity_apis"],
              message_values=dict(zip(("affinity", "files"), values, strict=True)))
    with override(language):
        assert job.sentence.startswith(text)


def test_each_counts_one_of_its_values():
    for plural, (singular, number) in _counted.items():
        names = set(PLACEHOLDER.findall(plural))
        assert number in names
        assert set(PLACEHOLDER.findall(singular)) <= names
        assert singular != plural


@pytest.mark.slow
def test_a_process_that_never_said_them_knows_the_singulars():
    program = ("import django, sys; django.setup(); "
               "from engagements.text.nested_sentences import _counted; "
               "print(len(_counted), 'asyncssh' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", program], cwd=settings.BASE_DIR, check=True,
                          capture_output=True, text=True)
    assert done.stdout.split() == [str(len(_counted)), "False"]
    assert {sentences.IN_LINE, job_causes.LIMIT_SILENT.headline, CONVERTED} <= set(_counted)
