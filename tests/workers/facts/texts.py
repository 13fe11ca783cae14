"""Outputs of which no genuine file is at hand, in the format of their tools."""

PROBE = """== uname -m ==
{arch}
== /etc/os-release ==
PRETTY_NAME="{os}"
NAME="{os}"
== lscpu ==
CPU(s):                          {cpus}
NUMA node(s):                    {numa}
== df -Pk ==
Filesystem     1024-blocks      Used Available Capacity Mounted on
/dev/sda2       1000000000 250000000 750000000      25% /
/dev/nvme0n1p1  2000000000         0 2000000000       0% /data
storage:/share  2000000000         0 2000000000       0% /share
== python3 --version ==
Python {python}
== gcc --version ==
gcc (GCC) {gcc}
== /sys/class/dmi/id/product_name ==
{product}
"""
USUAL = {"arch": "aarch64", "os": "openEuler 22.03 (LTS-SP4)", "cpus": 192, "numa": 8,
         "python": "3.10.12", "gcc": "7.3.0", "product": "Atlas 800I A2"}


def probe(**changed) -> dict[str, str]:
    return {"host.txt": PROBE.format(**{**USUAL, **changed})}


def pip(**packages: str) -> dict[str, str]:
    lines = [f"{name.replace('_', '-'):<18} {version}" for name, version in packages.items()]
    return {"packages.txt": "\n".join(lines) + "\n"}


def software(parts=("toolkit", "kernels", "nnal"), environment="{}", kernels="true",
             tool_path="/usr/local/Ascend/cann/tools/ms_fmk_transplt") -> dict[str, str]:
    """The report of env.software; parts in the order in which they were installed."""
    listed = ", ".join(f'{{"name": "{name}", "path": "/x", "installed_at": {hour}}}'
                       for hour, name in enumerate(parts))
    return {"software.report.json":
            f'{{"desk_report": "software", "parts": [{listed}], "has_kernels": {kernels}, '
            f'"tool_path": "{tool_path}", "environment": {environment}}}'}


def model_config(**changed) -> dict[str, str]:
    values = {"torch_dtype": "bfloat16", "model_type": "qwen2", **changed}
    pairs = "".join(f',\n  "{name}": "{value}"' for name, value in values.items())
    return {"config.json": '{\n  "architectures": ["Qwen2ForCausalLM"],\n  "hidden_size": 3584,'
                           '\n  "num_hidden_layers": 28,\n  "num_attention_heads": 28' + pairs
                           + '\n}\n'}


# Keys as in mindie_llm's conf/config.json; sizes as printed in its guide of context parallelism.
MINDIE = """{
    "ServerConfig": {"httpsEnabled": false, "tlsPkPwd": "security/pass/key_pwd.txt"},
    "BackendConfig": {
        "npuDeviceIds": [[0,1,2,3,4,5,6,7]],
        "ModelDeployConfig": {
            "maxSeqLen": 2560,
            "ModelConfig": [{
                "modelName": "DeepSeek-R1_w8a8",
                "worldSize": 8,
                "backendType": "atb"%s
            }]
        },
        "ScheduleConfig": {"maxBatchSize": 200}
    }
}
"""


def service(sizes: str = "") -> dict[str, str]:
    return {"config.json": MINDIE % sizes}


def dump_config(**changed) -> dict[str, str]:
    """PrecisionDebugger's config.json."""
    values = {"rank": "[]", "step": "[0, 1]", **changed}
    return {"dump_config.json": '{\n  "task": "statistics",\n  "dump_path": "/out",\n  "rank": '
            f'{values["rank"]},\n  "step": {values["step"]},\n  "level": "L1"\n}}\n'}


STARTED = ("using world size: {world}, data-parallel size: {dp}, context-parallel size: 1, "
           "hierarchical context-parallel sizes: None"
           "tensor-model-parallel size: 2, encoder-tensor-model-parallel size: 0, "
           "pipeline-model-parallel size: 4, encoder-pipeline-model-parallel size: 0\n")
ITERATION = (" [2025-08-01 09:31:44] iteration        1/    5000 | consumed samples:          128 |"
             " elapsed time per iteration (ms): 33186.0 | learning rate: 6.976744E-08 |"
             " global batch size:   128 | lm loss: 1.045013E+01 | loss scale: 1.0 |"
             " grad norm: 35.543 |\n")


def megatron(world: int, dp: int) -> dict[str, str]:
    return {"log.txt": STARTED.format(world=world, dp=dp) + ITERATION}
