"""nvidia-smi as people paste it."""

import pytest

from toolreaders import ReadError, read_file

OLDEST = """\
+------------------------------------------------------+
| NVIDIA-SMI 2.290.10   Driver Version: 290.10         |
|-------------------------------+----------------------+----------------------+
| 0.  Tesla M2090          Off  | 0000:01:00.0  Off    |                    0 |
| N/A   40C    P0    72W / 225W |     10MiB /  6143MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
"""
KEPLER = """\
Wed Mar  4 20:00:00 2019
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 375.66                 Driver Version: 375.66                    |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  Off  | 0000:05:00.0     Off |                    0 |
| N/A   28C    P0    72W / 235W |   1071MiB / 11439MiB |     30%      Default |
+-------------------------------+----------------------+----------------------+
|   1  Tesla K40m          Off  | 0000:42:00.0     Off |                    0 |
| N/A   26C    P0    ERR! / N/A |     71MiB / 11439MiB |     N/A      Default |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0      2473    C   python train.py                               1060MiB |
+-----------------------------------------------------------------------------+
"""
HOPPER = """\
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.183.01             Driver Version: 535.183.01   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA H100 80GB HBM3          On  | 00000000:00:0A.0 Off |                    0 |
| N/A   30C    P0              68W / 700W |  79642MiB / 81559MiB |     99%      Default |
|                                         |                      |              Enabled |
+-----------------------------------------+----------------------+----------------------+

+---------------------------------------------------------------------------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
|  0    3   0   0  |             14366MiB / 19968MiB | 28      0 |  2   0    1    0    0 |
|                  |                 4MiB / 32767MiB |           |                       |
+---------------------------------------------------------------------------------------+
| Processes:                                                                            |
|  GPU   GI   CI        PID   Type   Process name                            GPU Memory |
|=======================================================================================|
|    0   N/A  N/A     12806      C   /usr/bin/python                           79630MiB |
|    0   N/A  N/A      1806      G   /usr/lib/xorg/Xorg                             N/A |
+---------------------------------------------------------------------------------------+
"""
TABLES = [
    (OLDEST, "290.10", None, [("Tesla M2090", 6143, 10, 0)], 0),
    (KEPLER, "375.66", None, [("Tesla V100-SXM2...", 11439, 1071, 30),
                              ("Tesla K40m", 11439, 71, None)], 1),
    (HOPPER, "535.183.01", "12.2", [("NVIDIA H100 80GB HBM3", 81559, 79642, 99)], 2),
]


def squeezed(text):
    return "\n".join(" ".join(line.split()) for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("shape", [str, squeezed, lambda text: text.replace("\n", "\r\n"),
                                   lambda text: "    " + text.replace("\n", "\n    ")])
@pytest.mark.parametrize(("text", "driver", "cuda", "gpus", "processes"), TABLES)
def test_tables_of_all_generations(shape, text, driver, cuda, gpus, processes, written):
    reading = read_file(written(shape(text)))
    values = reading.values
    assert (reading.kind, values["driver_version"], values["cuda_version"]) == (
        "nvidia_smi", driver, cuda)
    assert [(gpu["name"], gpu["memory_total_mib"], gpu["memory_used_mib"], gpu["load_percent"])
            for gpu in values["gpus"]] == gpus
    assert len(values["processes"]) == processes
    assert reading.warnings == []


def test_a_gpu_that_is_lost_and_rows_left_out_are_told(written):
    lost = KEPLER.replace("71MiB / 11439MiB |     N/A", "Unknown Error    |    ERR!")
    reading = read_file(written(lost))
    assert [gpu["name"] for gpu in reading.values["gpus"]] == ["Tesla V100-SXM2..."]
    assert [warning.code for warning in reading.warnings] == ["truncated_record"]
    elided = KEPLER.replace("|   1  Tesla K40m", "...\n|   1  Tesla K40m")
    assert [w.code for w in read_file(written(elided)).warnings] == ["rows_elided"]


def test_the_last_of_several_tables_counts(written):
    reading = read_file(written(HOPPER + KEPLER))
    assert reading.values["driver_version"] == "375.66"
    assert [warning.code for warning in reading.warnings] == ["several_snapshots"]


QUERY = """\
==============NVSMI LOG==============

Timestamp                                 : Sat May  9 03:38:32 2026
Driver Version                            : 580.126.09
CUDA Version                              : 13.0

Attached GPUs                             : 2
GPU 00000000:00:04.0
    Product Name                          : NVIDIA A100-SXM4-40GB
    FB Memory Usage
        Total                             : 40960 MiB
        Reserved                          : 520 MiB
        Used                              : 3 MiB
    BAR1 Memory Usage
        Total                             : 65536 MiB
        Used                              : 1 MiB

"""
SECOND = QUERY[QUERY.index("GPU 0000"):].replace("04.0", "05.0").replace(": 3 MiB", ": N/A")


def test_a_query(written):
    reading = read_file(written(QUERY + SECOND))
    values = reading.values
    assert (values["driver_version"], values["cuda_version"]) == ("580.126.09", "13.0")
    assert [(gpu["bus"], gpu["name"], gpu["memory_total_mib"], gpu["memory_used_mib"])
            for gpu in values["gpus"]] == [
        ("00000000:00:04.0", "NVIDIA A100-SXM4-40GB", 40960, 3),
        ("00000000:00:05.0", "NVIDIA A100-SXM4-40GB", 40960, None)]
    assert reading.warnings == []


def test_a_query_that_is_cut_off_or_looks_at_clocks_alone(written):
    assert [w.code for w in read_file(written(QUERY)).warnings] == ["truncated_record"]
    clocks = QUERY[: QUERY.index("    Product")].replace("13.0", "Not Found") + (
        "    Max Clocks\n        Graphics                          : 875 MHz\n")
    values = read_file(written(clocks.replace(": 2", ": 1"))).values
    assert (values["cuda_version"], values["gpus"][0]["memory_total_mib"]) == (None, None)


TOPOLOGY = """\
\tGPU0\tGPU1\tNIC0\tmlx5_1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV12\tPHB\tSYS\t0-13,28-41\t0\t\tN/A
GPU1\tNV12\t X \tSYS\tPHB\t14-27,42-55\t1\t\tN/A
NIC0\tPHB\tSYS\t X \tPIX\t\t\t\t

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
"""
SPACED = """\
        GPU0    GPU1    CPU Affinity
GPU0     X      SYS     0-23
GPU1    SYS      X      0-23
"""


@pytest.mark.parametrize(("text", "links"), [
    (TOPOLOGY, {"NV12": 2}), (SPACED, {"SYS": 2}),
    (TOPOLOGY.replace("\tGPU0", "\t\x1b[4mGPU0").replace("GPU NUMA ID", "GPU NUMA ID\x1b[0m"),
     {"NV12": 2}),
    ("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-19\t0\n", {})])
def test_links_between_gpus(text, links, written):
    values = read_file(written(text)).values
    assert (values["form"], values["links"]) == ("topo", links)


def test_a_matrix_that_is_cut_off_is_refused(written):
    with pytest.raises(ReadError, match="damaged_file"):
        read_file(written(SPACED[: SPACED.index("GPU1    SYS")]))


LIST = ("GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5428af19-1e82-a38c-ee42-cdd3ad745b7e)\n"
        "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-6428af19-1e82-a38c-ee42-cdd3ad745b7e)\n")
CSV = ("index, name, memory.total [MiB], driver_version\n"
       "0, NVIDIA A100-SXM4-40GB, 40960 MiB, 580.105.08\n"
       "1, NVIDIA A100-SXM4-40GB, 40960 MiB, 580.105.08\n")


@pytest.mark.parametrize(("text", "memory"), [
    (LIST, None), (CSV, 40960), (CSV + CSV, 40960), (CSV.replace("0 MiB,", "0,"), 40960)])
def test_lists(text, memory, written):
    gpus = read_file(written(text)).values["gpus"]
    assert [(gpu["index"], gpu["name"], gpu["memory_total_mib"]) for gpu in gpus] == [
        (0, "NVIDIA A100-SXM4-40GB", memory), (1, "NVIDIA A100-SXM4-40GB", memory)]


def test_rows_that_may_be_repetitions_are_not_counted(written):
    row = "NVIDIA A100-SXM4-40GB, 40960 MiB\n"
    one = read_file(written("name, memory.total [MiB]\n" + row)).values["gpus"]
    assert [gpu["memory_total_mib"] for gpu in one] == [40960]
    with pytest.raises(ReadError, match="no_identity"):
        read_file(written("name, memory.total [MiB]\n" + 2 * row))


@pytest.mark.parametrize("line", [
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that "
    "the latest NVIDIA driver is installed and running.",
    "Failed to initialize NVML: Driver/library version mismatch", "No devices were found",
    "bash: nvidia-smi: command not found"])
def test_failures(line, written):
    reading = read_file(written(line + "\n"))
    assert (reading.values["form"], reading.values["gpus"]) == ("failure", [])
    assert [warning.code for warning in reading.warnings] == ["nvidia_smi_failed"]


@pytest.mark.parametrize("text", [
    "run nvidia-smi topo -m\nnvidia-smi -q\n", "name, memory of the machine, index\nx, y, z\n",
    'out = "| NVIDIA-SMI 555.42  Driver Version: 555.42  CUDA Version: 12.5 |"\n',
    '{"text": ["| NVIDIA-SMI 555.42  Driver Version: 555.42  CUDA Version: 12.5     |"]}\n'])
def test_what_only_names_the_tool(text, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))
