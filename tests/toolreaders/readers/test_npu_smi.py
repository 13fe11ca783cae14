"""npu-smi, hccn_tool, version files and compatibility tables."""

import pytest

from toolreaders import ReadError, read_file


def codes(reading):
    return [warning.code for warning in reading.warnings]


def test_a3_has_two_chips_per_npu(sample):
    reading = read_file(sample("node/25.3.rc1_A3_Ascend910_16chips_mixed.txt"))
    values = reading.values
    assert (reading.tool_version, values["chip_count"], values["npu_ids"]) == (
        "25.3.rc1",
        16,
        list(range(8)),
    )
    assert [chip["phy_id"] for chip in values["chips"]] == list(range(16))
    assert [chip["power_w"] for chip in values["chips"][:2]] == [166.6, None]
    assert (values["hbm_used_mb"], values["hbm_total_mb"]) == (484434, 1048576)
    assert (len(values["processes"]), values["idle_npus"]) == (10, [0, 1, 2, 3])
    assert {process["name"] for process in values["processes"]} == {""}
    assert values["all_healthy"] is True


def test_a_310_has_no_hbm_and_an_odd_id(sample):
    values = read_file(sample("node/22.0.4_310P3_npuid2144.txt")).values
    assert (values["smi_version"], values["driver_version"]) == ("22.0.2", "22.0.4")
    (chip,) = values["chips"]
    assert (chip["npu"], chip["name"], chip["power_w"], chip["hbm_total_mb"]) == (
        2144,
        "310P3",
        None,
        None,
    )
    assert (chip["memory_used_mb"], chip["memory_total_mb"]) == (1807, 21527)


def test_a_warning_in_a_misaligned_table_with_rows_left_out(sample):
    reading = read_file(sample("node/23.0.5_warning_then_reset_before.txt"))
    assert reading.values["health"] == {"Warning": 1, "OK": 1}
    assert reading.values["all_healthy"] is False
    assert codes(reading) == ["unhealthy_chip", "rows_elided"]


def test_910b_without_digit_is_the_first_generation(sample):
    reading = read_file(sample("node/25.5.2_910B-gen1_8cards.txt"))
    assert codes(reading) == ["first_generation_910b"]
    assert reading.values["hbm_total_mb"] == 262144


def test_a_failure_is_not_a_healthy_node(sample, written):
    reading = read_file(sample("node/error_dcmi_init_failed.txt"))
    assert (reading.kind, reading.values["chips"], reading.values["all_healthy"]) == (
        "npu_smi",
        [],
        None,
    )
    assert reading.values["error"]["ret"] == -8005
    for text in ("bash: npu-smi: command not found\n", "Invalid card id.\n"):
        assert read_file(written(text)).values["form"] == "failure"


def test_a_cut_off_table_is_not_all_healthy(sample, written):
    text = sample("node/25.5.2_910B-gen1_8cards.txt").read_text().split("0000:02:00.0")[0]
    reading = read_file(written(text))
    assert (reading.values["chip_count"], reading.values["all_healthy"]) == (7, None)
    assert "truncated_record" in codes(reading)
    with pytest.raises(ReadError):
        read_file(written(text.split("| 0     910B")[0]))


def test_the_other_forms(sample):
    mapping = read_file(sample("node/info_-m_910A_8.txt")).values
    assert (mapping["form"], mapping["chip_count"]) == ("mapping", 8)
    usages = read_file(sample("node/info_-t_usages_card0.txt")).values
    assert (usages["form"], usages["items"]["HBM Capacity(MB)"]) == ("usages", 31129)
    topology = read_file(sample("node/info_-t_topo_910B3_8.txt")).values
    assert topology["links"] == {"HCCS": 56}
    assert topology["cpu_affinity"]["NPU7"] == "48-71"


def test_a_controller_is_no_npu(written):
    text = (
        "NPU ID    Chip ID    Chip Logic ID    Chip Name\n"
        "0         0          0                Ascend 310P3\n"
        "0         1          -                Mcu\n"
    )
    assert read_file(written(text)).values["chip_count"] == 1


def test_network_checks(sample):
    assert read_file(sample("node/net_health_dev0.txt")).values["healthy"] is False
    assert read_file(sample("node/link_stat_dev0.txt")).values["healthy"] is True
    optical = read_file(sample("node/optical_dev0.txt")).values["checks"][0]
    assert "the optical module is not present" in optical["problems"]
    assert "Rx Power1 0.0054 mW is below 0.1445" in optical["problems"]
    assert "Tx Power0 4.4035 mW is above 3.5481" in optical["problems"]


def test_versions(sample):
    driver = read_file(sample("node/driver_version.info"))
    assert driver.kind == "version_info"
    assert (driver.values["component"], driver.values["version"]) == ("driver", "24.1.rc1")
    cann = read_file(sample("node/cann_version.cfg")).values
    assert cann["version"] == "7.0.RC1"
    assert cann["installed"] == ["7.0.RC1", "7.0.0", "8.0.RC2"]
    firmware = read_file(sample("node/upgrade_tool_firmware.txt"))
    assert (firmware.values["version"], firmware.values["devices"]) == ("7.1.0.7.220", [0, 7])
    packages = read_file(sample("node/pip_frameworks.txt"))
    assert packages.values["consistent"] is False
    assert codes(packages) == ["version_mismatch"]


def test_compatibility_tables(sample):
    table = read_file(sample("node/torch_npu_matrix.csv"))
    assert table.kind == "compatibility_table"
    assert table.values["by_status"] == {"active": 26, "historical": 36}
    assert {"torch_npu": "2.7.1.post2", "pytorch": "2.7.1", "cann": "CANN 8.5.0"}.items() <= next(
        row for row in table.values["rows"] if row["torch_npu"] == "2.7.1.post2"
    ).items()
    assert codes(table) == ["unlikely_pair"]
    chain = read_file(sample("node/mindformers_version_map.json")).values["rows"]
    assert {"cann": "8.2.RC1", "driver": "25.2.0", "support": ["25.2.0"]} in chain


WIDE = """\
+-------------------------------------------------------------------------------------------+
| npu-smi 26.0.rc1                            Version: 26.0.rc1                             |
+---------------------------+---------------+-----------------------------------------------+
| NPU   Name                | Health        | Power(W)      Temp(C)   Hugepages-Usage(page) |
| Chip                      | Bus-Id        | AICore(%)     Memory-Usage(MB)  HBM-Usage(MB) |
+===========================+===============+===============================================+
| 0     910B2               | OK            | 424.0         64        0    / 0              |
| 0                         | 0000:C1:00.0  | 100           0    / 0          38711/ 65536  |
+===========================+===============+===============================================+
+-----------------+------------+--------------+--------------------+-------------------------+
| NPU     Chip    | Process id | Process name | Process memory(MB) | Process id in container |
+=================+============+==============+====================+=========================+
| 0       0       | 1712733    | python3      | 35321              | 127                     |
+=================+============+==============+====================+=========================+
"""


def test_processes_of_a_driver_that_prints_their_number_in_the_container(written):
    values = read_file(written(WIDE)).values
    assert values["chips"][0]["hbm_used_mb"] == 38711
    assert values["processes"] == [
        {"npu": 0, "chip": 0, "pid": 1712733, "name": "python3", "memory_mb": 35321}]
