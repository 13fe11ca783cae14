"""Imports of torch_npu that fail, as people paste them."""

import lzma

import pytest

from toolreaders import ReadError, read_file

FRAMES = '''Traceback (most recent call last):
  File "/opt/venv/lib/python3.10/site-packages/torch_npu/__init__.py", line 39, in <module>
    import torch_npu.npu
  File "/opt/venv/lib/python3.10/site-packages/torch_npu/utils/__init__.py", line 1, in <module>
    from torch_npu import _C
{0}
'''
LIBRARY = "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
SYMBOL = ("ImportError: /opt/venv/lib/python3.10/site-packages/torch_npu/lib/libtorch_npu.so: "
          "undefined symbol: _ZNK3c1010TensorImpl20is_contiguous_customE")
OLD = ("ImportError: /lib/aarch64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found "
       "(required by /opt/lib/libhccl.so)")
MODULE = ('Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
          "ModuleNotFoundError: No module named 'torch_npu'\n")
AGAIN = ("\nDuring handling of the above exception, another exception occurred:\n\n"
         'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n'
         "    import torch\n"
         "RuntimeError: Failed to load the backend extension: torch_npu. You can disable "
         "extension auto-loading with TORCH_DEVICE_BACKEND_AUTOLOAD=0.\n")


@pytest.mark.parametrize(("text", "cause", "missing"), [
    (FRAMES.format(LIBRARY), "library_missing", "libhccl.so"),
    (FRAMES.format(SYMBOL) + AGAIN, "symbol_missing",
     "/opt/venv/lib/python3.10/site-packages/torch_npu/lib/libtorch_npu.so"),
    (FRAMES.format(OLD), "library_too_old", "/lib/aarch64-linux-gnu/libstdc++.so.6"),
    (MODULE, "module_missing", "torch_npu"),
    (FRAMES.format("ModuleNotFoundError: No module named 'yaml'"), "module_missing", "yaml"),
    (AGAIN, "backend_not_loaded", "torch_npu"),
    ("".join("90.61 " + line for line in FRAMES.format(LIBRARY).splitlines(keepends=True)),
     "library_missing", "libhccl.so"),
    ("== torch_check ==\n" + FRAMES.format(LIBRARY), "library_missing", "libhccl.so"),
])
@pytest.mark.parametrize("pack", [bytes, lzma.compress])
def test_a_failed_import_names_what_is_missing(pack, text, cause, missing, written):
    reading = read_file(written(pack(text.encode())))
    values = reading.values
    assert (reading.kind, values["available"]) == ("torch_check", None)
    assert (values["cause"], values["missing"]) == (cause, missing)
    assert [warning.code for warning in reading.warnings] == ["check_failed"]


@pytest.mark.parametrize("text", [
    "import torch_npu\n", "pip install torch_npu\nNo module named 'torch_npu'\n",
    FRAMES.format("KeyboardInterrupt"),
    MODULE.replace("torch_npu", "flask")])
def test_what_is_no_failed_import(text, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


def test_a_training_that_ends_in_a_traceback_is_still_a_training(written):
    log = "".join(f"iter {n}: loss {4 - n / 10:.4f}, time 90.00ms, mfu 1.00%\n" for n in range(9))
    assert read_file(written(log + FRAMES.format(LIBRARY))).kind == "training_log"
