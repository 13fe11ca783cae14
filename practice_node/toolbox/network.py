"""Practice stand-ins for hccn_tool, for mpirun (with HCCL's tester, too), and for bazel.

The first argument is the command's name.
"""

import hashlib
import os
import re
import sys

from faults import fault

GOOD = {
    "-link": "link status: UP",
    "-net_health": "net health status: Success",
    "-link_stat": "[devid {n}]current time        : Tue Nov 24 10:00:00 2026\n"
                  "[devid {n}]link up count       : 1\n"
                  "[devid {n}]link change records :\n"
                  "[devid {n}]    Mon Nov 23 08:12:30 2026    LINK UP",
    "-stat": "packet statistics:\nroce_rx_err_pkt_num:0\nroce_tx_err_pkt_num:0",
    "-ping": "1 packets transmitted, 1 received, 0.00% packet loss",
}
OPTICAL = """optical info:
present              : present
Tx Power0            : 1.1200 mW
Rx Power0            : 0.9800 mW
TxPower High Thres   : 3.5481 mW
TxPower Low Thres    : 0.1819 mW
RxPower High Thres   : 3.5481 mW
RxPower Low Thres    : 0.0912 mW"""
UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def hccn(words):
    device, check = int(words[1]), words[2]
    if check == "-link" and fault("link_down") == device + 1:
        print("link status: DOWN")
    else:
        print(GOOD.get(check, OPTICAL).format(n=device))
    return 0


def size(text):
    unit = UNITS.get(text[-1].upper())
    return int(text[:-1]) * unit if unit else int(text)


def mpirun(words):
    """Rows as the tester prints them; a latency and a bandwidth that no network measured.

    Any other program is started as mpirun starts it.
    """
    if "-p" not in words or not os.path.basename(words[2]).endswith("_test"):
        launchers = os.path.join(os.path.dirname(__file__), "python", "practice_launchers")
        os.execv(sys.executable, [sys.executable, os.path.join(launchers, "start.py"), "mpirun",
                                  *words])
    options = dict(zip(words[3::2], words[4::2]))
    low, high = size(options["-b"]), size(options["-e"])
    print(f"the minbytes is {low}, maxbytes is {high}, iters is {options['-n']}, "
          f"warmup_iters is {options['-w']}")
    print("data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:")
    while low <= high:
        time = 20 + low / 90_000
        result = "failed" if fault("wrong_result") and low == high else "success"
        print(f"{low:<18}| {time:<15.2f}| {low / time / 1000:<21.5f}| {result}")
        low *= 2
    return 0


def bazel(words):
    """Checks the archive that the workspace names, as bazel does, and leaves the packer."""
    with open("tensorflow/workspace2.bzl") as stream:
        text = stream.read()
    wanted = re.search(r'sha256 = "(\w+)"', text)[1]
    path = re.search(r'"file://([^"]+)"', text)[1]
    with open(path, "rb") as stream:
        if hashlib.sha256(stream.read()).hexdigest() != wanted:
            print("ERROR: Checksum was not as expected", file=sys.stderr)
            return 1
    folder = "bazel-bin/tensorflow/tools/pip_package"
    os.makedirs(folder, exist_ok=True)
    packer = os.path.join(folder, "build_pip_package")
    with open(packer, "w") as stream:
        stream.write('#!/bin/sh\necho practice > '
                     '"$1/tensorflow-2.6.5-cp39-cp39-linux_aarch64.whl"\n')
    os.chmod(packer, 0o755)
    print("INFO: Build completed successfully, 1 total action")
    return 0


sys.exit({"hccn_tool": hccn, "mpirun": mpirun, "bazel": bazel}[sys.argv[1]](sys.argv[2:]))
