"""What only names tools or quotes outputs is unknown."""

import pytest

from toolreaders import ReadError, read_file
from toolreaders.documents import is_document, is_explanation, is_program

TABLE = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.0.rc1                 Version: 25.0.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 3     910B3               | OK            | 90.5        41                NA    / NA           |
| 0                         | 0000:01:00.0  | 7           NA   / 0          4123 / 65536         |
+===========================+===============+====================================================+
"""
LOG = "".join(f"iter {n}: loss {4 - n / 10:.4f}, time 90.00ms, mfu 1.00%\n" for n in range(9))
LINK = "link status: UP\n"
PYTEST = '''import pytest

from tools import parse

SAMPLE = """
{0}"""


def test_parse():
    found = parse(SAMPLE)
    assert found.ok


def test_nothing():
    with pytest.raises(ValueError):
        parse("")
'''
UNIT_TEST = """import unittest


class TestParser(unittest.TestCase):
    def test_parse(self):
        shown = '''
{0}'''
        self.assertTrue(parse(shown))

    def test_nothing(self):
        self.assertFalse(parse(""))
"""
SCRIPT = "#!/bin/bash\nset -e\ncat <<EOF\n{0}EOF\n"
BROWSER = "const SHOWN = String.raw`\n{0}`;\n\nfunction show(name) {{\n  print(name);\n}}\n"
GO = "package main\n\nfunc sample() string {{\n\treturn `\n{0}`\n}}\n\nfunc main() {{\n\tf()\n}}\n"
SWIFT = ("import XCTest\n\nfinal class StatsTests: XCTestCase {{\n    func testRows() throws {{\n"
         "        let shown = \"\"\"\n{0}\"\"\"\n        XCTAssertEqual(parse(shown).count, 1)\n"
         "    }}\n}}\n")
JAVA = ("public class StatsTest {{\n    @Test\n    public void rows() {{\n        String shown = "
        "\"\"\"\n{0}\"\"\";\n        assertEquals(1, parse(shown).size());\n    }}\n}}\n")
CHANGE = "diff --git a/x.txt b/x.txt\n--- a/x.txt\n+++ b/x.txt\n@@ -1 +1,9 @@\n{0}"
HTML = "<!DOCTYPE html>\n<html>\n<body><p>It prints:</p>\n<pre>\n{0}</pre>\n</body></html>\n"
RST = "State of the cards\n==================\n\n.. code-block:: console\n\n{0}\n"
ENGLISH = ("Run the command below on every node of the cluster.\nIt prints a table as shown here:\n"
           "{0}If a row is missing then the card was not found.\n"
           "In that case please ask the support of the vendor.\n")
README = ("# Guide\n\nRead this.\n\n## Check\n\nIt prints one row per card:\n\n```\n{0}```\n"
          "\n## Next\n\nGo on.\n\nThen train.\n\nSee below.\n\nAlso this.\n\nAnd that.\n\nDone.\n")
SHORT_PAGE = "## Check the card\n\nRun it.\n\n```\n{0}```\n\n" + "Else ask.\n" * 9
QUOTING = [PYTEST, UNIT_TEST, SCRIPT, BROWSER, GO, SWIFT, JAVA, CHANGE, HTML, RST]


@pytest.mark.parametrize("quoting", [*QUOTING, README])
@pytest.mark.parametrize("quoted", [TABLE, LOG, LINK])
def test_a_quoted_output_is_unknown(quoting, quoted, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(quoting.format(quoted)))


@pytest.mark.parametrize("explanation", [ENGLISH, SHORT_PAGE])
@pytest.mark.parametrize("quoted", [TABLE, LINK])
def test_the_state_of_a_machine_is_not_read_from_an_explanation(explanation, quoted, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(explanation.format(quoted)))


def test_an_issue_that_is_mostly_a_quoted_output_is_read(written):
    text = f"### Environment\n\n```\n{TABLE}```\n\n### Bug\n\nIt fails.\n"
    assert read_file(written(text)).kind == "npu_smi"


CONFIG = ("Config:\nimport torch\nfrom datasets import load_dataset\n\nmodel = dict(\n"
          "    type='SFT',\n    lr=0.1)\n\nlr = 1e-5\n")
TRACEBACK = ('Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n'
             "    import torch_npu\nImportError: libhccl.so: cannot open shared object file\n")


@pytest.mark.parametrize("before", [CONFIG, TRACEBACK, "# comment\n", "== run ==\n", "{\n}\n" * 3])
def test_an_output_with_a_little_code_in_it_is_still_one(before, written):
    assert read_file(written(before + LOG)).kind == "training_log"


def test_what_is_no_document():
    for text in (TABLE, LOG, LINK, CONFIG + LOG):
        lines = text.splitlines()
        assert [is_document(lines), is_program(lines), is_explanation(lines)] == [False] * 3
