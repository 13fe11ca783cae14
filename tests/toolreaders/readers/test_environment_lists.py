"""Lists of versions, as ``llamafactory-cli env`` and ``transformers env`` print them."""

import pytest

from toolreaders import ReadError, read_file

LLAMA = ("`llamafactory` version: 0.9.1.dev0", "Platform: Linux-4.19.90-aarch64",
         "Python version: 3.10.14", "PyTorch version: 2.1.0 (NPU)", "Transformers version: 4.46.1",
         "NPU type: Ascend910B3", "CANN version: 8.0.RC2")
HUGGING_FACE = ("`transformers` version: 4.51.3", "Platform: Linux-5.10.0-aarch64-with-glibc2.34",
                "Python version: 3.11.6", "PyTorch version (GPU?): 2.5.1 (False)",
                "Using distributed or parallel set-up in script?: <fill in>")


@pytest.mark.parametrize("mark", ["- ", "", "* ", "• ", "    ", "> - "])
@pytest.mark.parametrize(("lines", "packages"), [
    (LLAMA, {"llamafactory": "0.9.1.dev0", "torch": "2.1.0", "transformers": "4.46.1"}),
    (HUGGING_FACE, {"transformers": "4.51.3", "torch": "2.5.1"})])
def test_lists_with_and_without_marks(mark, lines, packages, written):
    text = "".join(f"{mark}{line}\n" for line in lines)
    assert read_file(written(text)).values["packages"] == packages
    assert read_file(written(text.replace("`", ""))).values["packages"] == packages


@pytest.mark.parametrize("text", [
    "transformers version: 4.46.1\n", "Platform: linux\nNothing else.\n",
    "Python version: 3.10\nPython version: 3.10\nPython version: 3.10\n"])
def test_a_single_line_is_no_environment(text, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))
