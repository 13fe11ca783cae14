"""msit's comparisons: tensors of several releases, weights, logits, and offline models."""

import gzip
import lzma

import pytest

from toolreaders import ReadError, read_file

STATISTICS = "{0}_dtype,{0}_shape,{0}_max_value,{0}_min_value,{0}_mean_value"
GOLDEN, MINE = STATISTICS.format("golden"), STATISTICS.format("my")
METRICS = ("cosine_similarity,max_relative_error,mean_relative_error,max_absolute_error,"
           "mean_absolute_error,kl_divergence,relative_euclidean_distance")
SIDE = 'torch.float16,"[1, 8]",1.5,-1.5,0.25'
FIGURES = "{0},0.125,0.01,0.5,0.02,0.001,0.003"
OLD = (f"token_id,data_id,golden_data_path,{GOLDEN},my_data_path,{MINE},{METRICS},"
       "cmp_fail_reason\n",
       "0,{1},/g/{1}.pth," + SIDE + ",/m/{1}.bin," + SIDE + ",{0},{2}\n")
NEW = (f"token_id,data_id,golden_data_path,golden_op_type,{GOLDEN},my_data_path,my_op_type,{MINE},"
       f"{METRICS},cmp_fail_reason\n",
       "0,{1},/g/{1}.pth,Linear," + SIDE + ",/m/{1}.bin,LinearOperation," + SIDE + ",{0},{2}\n")
WEIGHT = (f"weight_name,{GOLDEN},{MINE},{METRICS}\n", "/m/{1}.bin," + SIDE + "," + SIDE + ",{0}\n")
LOGITS = ("file_name,key,token_id,cosine_similarity,kl_divergence,l1_norm,ulp_max_diff,ulp,passed,"
          "cmp_fail_reason\n"
          "a.pth,key1,123,0.9375,0.05,0.08,0.5,1.0,False,\n"
          "b.pth,key2,456,NA,NA,NA,NA,NA,NA,file is missing\n")


@pytest.mark.parametrize("form", [OLD, NEW, WEIGHT])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_tensors(form, pack, written):
    header, row = form
    figures = [FIGURES.format(cosine) for cosine in ("0.999512", "0.734375", "1.000000")]
    text = header + "".join(row.format(f, n, "") for n, f in enumerate(figures))
    reading = read_file(written(pack(text.encode())))
    values = reading.values
    assert (reading.kind, reading.tool, values["rows"], values["unmatched"]) == (
        "accuracy_compare", "msit", 3, 0)
    assert values["min_cosine"] == 0.734375
    assert values["lowest_cosine_row"] == {"op": "/m/1.bin", "row": 3}
    assert "deviating" not in values
    assert reading.warnings == []


@pytest.mark.parametrize("form", [OLD, NEW])
def test_a_row_that_was_not_compared_is_no_agreement(form, written):
    header, row = form
    nothing = "NaN" + ",NaN" * 6
    text = header + row.format(FIGURES.format("0.875"), 0, "") + row.format(
        nothing, 1, "golden_data includes NaN or inf.") + row.format(nothing, 2, "Shapes differ")
    reading = read_file(written(text))
    values = reading.values
    assert (values["min_cosine"], values["unmatched"], values["nonfinite"]) == (0.875, 2, 1)
    assert values["nonfinite_ops"] == ["/m/1.bin"]
    assert [w.code for w in reading.warnings] == ["nonfinite_values", "unmatched_operators"]


def test_logits(written):
    values = read_file(written(LOGITS)).values
    assert (values["mode"], values["tool_verdicts"]) == ("logits", {"False": 1, "NA": 1})
    assert (values["min_cosine"], values["unmatched"]) == (0.9375, 1)
    assert values["fail_reasons"] == ["file is missing"]


def test_rows_that_are_cut_off(written):
    header, row = OLD
    whole = header + row.format(FIGURES.format("0.875"), 0, "")
    reading = read_file(written(whole + "0,1,/g/1.pth,torch.float16"))
    assert [w.code for w in reading.warnings] == ["truncated_record"]
    with pytest.raises(ReadError, match="damaged_csv"):
        read_file(written(header + "0,1,/g/1.pth,torch.float16\n"))


OFFLINE = ("Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,TensorIndex,Shape,OverFlow,"
           "CosineSimilarity,MaxAbsoluteError,CompareFailReason\n"
           '0,Conv2D,conv1,float16,NaN,conv1,float32,conv1:output:0,"[1, 8]",NO,0.75,0.5,\n')


def test_an_offline_model_compared_by_msit_debug(written):
    values = read_file(written(lzma.compress(OFFLINE.encode()))).values
    assert (values["min_cosine"], values["low_cosine"]) == (0.75, 1)
