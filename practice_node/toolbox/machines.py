"""Practice stand-ins for small commands: nvidia-smi, docker, git, pip3,
converter_lite and CANN packages.

The first argument is the command's name.
"""

import hashlib
import json
import os
import sys

from faults import fault

GPU = """  <gpu id="0000000{bus}:00:00.0"><product_name>NVIDIA A100-SXM4-80GB</product_name>
    <fb_memory_usage><total>81920 MiB</total><used>4 MiB</used></fb_memory_usage></gpu>"""


def nvidia(words):
    print('<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">')
    print("<nvidia_smi_log><driver_version>535.104.05</driver_version>"
          "<cuda_version>12.2</cuda_version><attached_gpus>2</attached_gpus>")
    print("\n".join(GPU.format(bus=bus) for bus in (1, 2)))
    print("</nvidia_smi_log>")


def docker(words):
    if words[0] == "run":
        if fault("no_docker"):
            print("docker: Cannot connect to the Docker daemon", file=sys.stderr)
            return 125
        print(hashlib.sha256(" ".join(words).encode()).hexdigest())
    else:
        print("running true image sha256:" + hashlib.sha256(words[-1].encode()).hexdigest())
    return 0


def git(words):
    if words[:1] == ["clone"]:
        _clone, _b, branch, _dashes, url, folder = words
        os.makedirs(os.path.join(folder, ".git"))
        with open(os.path.join(folder, ".git", "HEAD"), "w") as stream:
            stream.write(hashlib.sha1(f"{url} {branch}".encode()).hexdigest())
        print(f"Cloning into '{folder}'...", file=sys.stderr)
    else:
        with open(os.path.join(words[1], ".git", "HEAD")) as stream:
            print(stream.read())


def pip(words):
    if words[0] == "list":
        print("torch              2.1.0\ntorch-npu          2.1.0.post8\nmindspeed          0.8.0")


def lite(words):
    options = dict(word.lstrip("-").split("=", 1) for word in words)
    if not os.path.isfile(options["modelFile"]) or fault("conversion_error"):
        print("CONVERT RESULT FAILED:-1")
        return 1
    ending = ".mindir" if options.get("saveType") == "MINDIR" else ".ms"
    with open(options["modelFile"], "rb") as source, open(
            options["outputFile"] + ending, "wb") as target:
        target.write(b"MSL2" + source.read())
    print("CONVERT RESULT SUCCESS:0")
    return 0


def package(words):
    """`package <file> --install …` (`--full` for driver and firmware): a JSON line says what it is."""
    with open(words[0]) as stream:
        about = json.loads(stream.read().splitlines()[-1].lstrip("# "))
    wanted = "--full" if "npu" in about["name"] else "--install"
    if fault("install_error") or wanted not in words:
        print(f"[{about['name']}] [ERROR]: ERR_NO:0x0080;ERR_DES: not enough space", flush=True)
        return 1
    folder = next((w.split("=", 1)[1] for w in words if w.startswith("--install-path=")), "")
    if folder and "toolkit" in about["name"]:
        place = os.path.join(folder, "ascend-toolkit", about["version"], "aarch64-linux")
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "ascend_toolkit_install.info"), "w") as stream:
            stream.write(f"package_name={about['name']}\nversion={about['version']}\n"
                         f"innerversion=V100R001C25SPC001B212\narch=aarch64\nos=linux\n"
                         f"path={place}\n")
    print(f"[{about['name']}] [INFO]: {about['name']} install success.", flush=True)
    return 0


sys.exit({"nvidia-smi": nvidia, "docker": docker, "git": git, "pip3": pip,
          "converter_lite": lite, "package": package}[sys.argv[1]](sys.argv[2:]) or 0)
