"""R-ENV: the node, its packages and containers (DOMAIN 5.1)."""

import re

from django.utils.translation import gettext_lazy as _

from workers.rules import tool_options, version_matrix
from workers.rules.base import BLOCK, INFO, WARN, Spot, rule
from workers.rules.version_matrix import release, version

SUPPORTED_OS = ("openeuler", "ubuntu", "centos", "kylin", "euleros", "uos", "debian")
DEVICES = ("/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm")
ORDER = ("toolkit", "kernels", "nnal")
PRODUCT = re.compile(r"[A-Za-z]?\d{3}[A-Za-z]?[ -]?(?:A\d|Duo)|\d{3}[IT]\b", re.IGNORECASE)


def _unhealthy(f):
    bad = [chip for chip in f["chips"] if chip["health"] not in ("OK", "Normal")]
    if len(f["chips"]) - len(bad) >= f.get("cards_required", len(f["chips"])):
        return []
    return [Spot(chip["health"], f"chip {chip['npu']}", "chips", chip.get("line"))
            for chip in bad] or [Spot(len(f["chips"]), "chips", "chips")]


def _devices(f):
    present = set(f["container_devices"])
    wanting = [device for device in DEVICES if device not in present]
    cards = [d for d in present if d.startswith("/dev/davinci") and d[12:].isdigit()]
    wanting += [] if cards else ["/dev/davinci<N>"]
    return [] if f.get("is_privileged") else [Spot("missing", device) for device in wanting]


def _order(f):
    order = f["install_order"]
    places = [ORDER.index(name) for name in order if name in ORDER]
    wrong = places != sorted(places) or "toolkit" not in order
    return [_probed(f, ", ".join(order), "install_order")] if wrong else []


def _probed(f, value, fact) -> Spot:
    """A spot that only warns where the fact was found by looking at files of the node."""
    return Spot(value, fact, fact, severity=WARN if f.get("is_probed") else "")


def _kernels(f):
    wanting = f["uses_single_operators"] and not f["has_kernels"]
    return [_probed(f, f["has_kernels"], "has_kernels")] if wanting else []


def _image(f):
    tag = f["mindie_image"].lower()
    product = PRODUCT.search(f["product"])
    if product is None:
        raise ValueError(f"{f['product']!r} names no product of the image list")
    words = re.sub(r"[^a-z0-9]", "", tag)
    return not (re.sub(r"[^a-z0-9]", "", product[0].lower()) in words and "py3" in tag)


def _mixed(f):
    python = release(f["python"])[:2]
    return not (python == (3, 9) and f["tensorflow"] and f["mindspore"])


def _megatron(f):
    known = version_matrix.megatron_for(f["mindspeed"])
    row = version_matrix.mindspeed_row(f["mindspeed"])
    if known is None:
        raise ValueError(f"no Megatron branch is published for MindSpeed {f['mindspeed']}")
    if f["megatron"] != known and _digits(f["megatron"]) != _digits(known):
        return [Spot(f"{f['mindspeed']}, {f['megatron']} ({known})", "mindspeed, megatron",
                     "mindspeed")]
    if row.get("pytorch") and f.get("torch") and release(f["torch"]) != release(row["pytorch"]):
        return [Spot(f"{f['mindspeed']}, torch {f['torch']} ({row['pytorch']})",
                     "mindspeed, torch", "torch", severity=WARN)]
    return []


def _digits(branch: str) -> tuple[int, ...]:
    """core_r0.8.0, core_v0.8.0 → (0, 8, 0); a branch without a number has none."""
    found = re.search(r"\d+(?:\.\d+)*$", branch)
    return tuple(int(n) for n in found[0].split(".")) if found else ()


def _lowest(f):
    """Below the lowest releases; MindSpore with another CANN than published is a warning."""
    mindspore = f.get("mindspore")
    if version(f["cann"]) < version("6.0.0"):
        return [Spot(f["cann"], "cann", "cann")]
    if mindspore and version(mindspore) < version("2.0.0"):
        return [Spot(mindspore, "mindspore", "mindspore")]
    known = version_matrix.cann_for_mindspore(mindspore) if mindspore else set()
    if known and version(f["cann"]) not in map(version, known):
        return [Spot(f"MindSpore {mindspore}, CANN {f['cann']} ({', '.join(sorted(known))})",
                     "mindspore, cann", "cann", severity=WARN)]
    return []


def _pairs(f):
    """torch with torch_npu. Another CANN, or a Python without packages, is only a warning: the
    node's own Python need not be the one that torch runs in.
    """
    torch, torch_npu = f["torch"], f["torch_npu"]
    if version_matrix.torch_pair(torch, torch_npu) is False:
        return [Spot(f"{torch}, {torch_npu}", "torch, torch_npu", "torch_npu")]
    pythons, cann, found = version_matrix.pythons_for(torch), version_matrix.cann_for(torch_npu), []
    if pythons and f.get("python") and ".".join(f["python"].split(".")[:2]) not in pythons:
        found.append(Spot(f"{torch}, Python {f['python']}", "torch, python", "python",
                          severity=WARN))
    if cann and f.get("cann") and version(f["cann"]) not in map(version, cann):
        found.append(Spot(f"{torch_npu}, CANN {f['cann']} ({', '.join(sorted(cann))})",
                          "torch_npu, cann", "cann", severity=WARN))
    return found


def _hdk(f):
    if "expandable_segments:true" not in f["PYTORCH_NPU_ALLOC_CONF"].lower():
        return False
    hdk = version(f["hdk"])
    return hdk < version("23.0.0") or (
        hdk < version("24.1.RC3") and f.get("cards_per_process", 1) > 1)


def _options(f):
    """Options that the tool's release lacks; what only the survey says of it is a warning."""
    for tool, used in f["tool_options"].items():
        known = tool_options.release_of(tool, used, f)
        stated = tool_options.release_of(tool, used, f.get("surveyed_versions") or {})
        for row in map(tool_options.rows_of(tool).get, used["options"]):
            release = known or stated or ("0" if row["until"] == "0" else None)
            if release and tool_options.is_without(row, release):
                yield Spot(f"{tool_options.needed(row)}; {tool_options.NAMES[tool]} {release}",
                           row["option"], severity="" if known or release == "0" else WARN)


def _unknown_releases(f):
    """Bounds where the tool's release is not known, and options of which nothing is known."""
    for tool, used in f["tool_options"].items():
        known = (tool_options.release_of(tool, used, f)
                 or tool_options.release_of(tool, used, f.get("surveyed_versions") or {}))
        rows = [tool_options.rows_of(tool)[name] for name in used["options"]]
        wanted = [tool_options.needed(row) for row in rows if row["until"] != "0"
                  and (not known or row["since"] == tool_options.UNKNOWN)]
        if wanted:
            yield Spot(", ".join(wanted), tool_options.NAMES[tool])


PACKAGE_ARCH = re.compile(r"(aarch64|arm64|x86[_-]64|amd64)", re.IGNORECASE)
SAME_ARCH = {"arm64": "aarch64", "x86-64": "x86_64", "amd64": "x86_64", "x86": "x86_64"}
# The series of a chip in the name of a driver or kernels package, and as npu-smi names it.
# Seed 000, 3.3.1: Ascend-hdk-<chip>-npu-driver_…, Ascend-cann-kernels-<chip>_…; of the Atlas A3
# series, whose chip is the 910C, Atlas-A3-cann-kernels_….
PACKAGE_SERIES = re.compile(
    r"(?:(?:hdk|kernels)-(310p|310b|310|910b|910c|910)|Atlas-(A3)-(?:cann-kernels|hdk))"
    r"(?![a-z0-9])", re.IGNORECASE)
CHIP_SERIES = re.compile(r"^(?:Ascend)?\s?(?:(910_93)\d\d|(310P|310B|310|910B|910C|910)"
                         r"(?![0-9_ ]\d))", re.IGNORECASE)
SERIES = {"a3": "910c", "910_93": "910c"}


def _arch(text: str) -> str:
    return SAME_ARCH.get(text.lower(), text.lower())


def _series(found: re.Match[str] | None) -> str:
    named = next(filter(None, found.groups())).lower() if found else ""
    return SERIES.get(named, named)


def _packages(f):
    """Packages whose name carries another architecture or series of chips than the node has.

    A name without them says nothing; chips whose series the name does not tell are not compared.
    """
    chip = _series(CHIP_SERIES.match(f.get("chip") or ""))
    for name in f["packages"]:
        arch, series = PACKAGE_ARCH.search(name), _series(PACKAGE_SERIES.search(name))
        if arch and _arch(arch[1]) != _arch(f["arch"]):
            yield Spot(f"{name}, {f['arch']}", "packages, arch", "arch")
        if chip and series and series != chip:
            yield Spot(f"{name}, {f['chip']}", "packages, chip", "chip")


rule("R-ENV-01", BLOCK, "S3, X12", "chips",
     _("Every required chip must report the health OK."),
     _("Take the chip out of use, or reset it and read the chips again."), _unhealthy)
rule("R-ENV-02", BLOCK, "S0", "python mindspore",
     _("MindSpore needs Python 3.9 to 3.11."),
     _("Install a supported Python; check the MindSpore release's own list."),
     lambda f: not (3, 9) <= release(f["python"])[:2] <= (3, 11), "MindSpore 2.x")
rule("R-ENV-03", WARN, "S0", "gcc arch is_compiling",
     _("MindSpore and TensorFlow are built with GCC 7.3.0 on aarch64."),
     _("Install GCC 7.3.0 for the build, or use a ready package."),
     lambda f: bool(f["is_compiling"]) and f["arch"] == "aarch64"
     and release(f["gcc"]) != (7, 3, 0), _("only when compiling"))
rule("R-ENV-04", WARN, "S0", "os",
     _("The operating system is not in the supported list."),
     _("Check the list of the CANN release, or reinstall the host."),
     lambda f: not any(name in f["os"].lower() for name in SUPPORTED_OS))
rule("R-ENV-05", BLOCK, "S3", "cann",
     _("CANN 6.0.0 and MindSpore 2.0.0 are the lowest supported versions."),
     _("Install a newer release."),
     _lowest)
rule("R-ENV-06", BLOCK, "S0", "install_order",
     _("The toolkit is installed before kernels and NNAL."),
     _("Remove the packages and install toolkit, kernels, NNAL in this order."), _order)
rule("R-ENV-07", BLOCK, "S0", "uses_single_operators has_kernels",
     _("Calls of single operators need the kernels package."),
     _("Install the kernels package for this chip and architecture."),
     _kernels)
rule("R-ENV-08", BLOCK, "S0", "arch tensorflow_package",
     _("On x86 the package must be tensorflow-cpu; otherwise the GPU build is taken."),
     _("Install tensorflow-cpu explicitly."),
     lambda f: f["arch"] == "x86_64" and f["tensorflow_package"] != "tensorflow-cpu")
rule("R-ENV-09", WARN, "S0, K", "python tensorflow mindspore",
     _("TensorFlow 2.6.5 and MindSpore meet only at Python 3.9."),
     _("Use Python 3.9, or one environment for each framework."), _mixed,
     _("TensorFlow 2.6.5 with MindSpore 2.x"))
rule("R-ENV-10", WARN, "S1", "is_set_env_sourced",
     _("set_env.sh must be sourced by the user who runs CANN."),
     _("Enter the path of set_env.sh at the node."), lambda f: not f["is_set_env_sourced"])
rule("R-ENV-11", INFO, "X8", "tool_path",
     _("Older installations keep the tools below ascend-toolkit/latest, newer ones below cann."),
     _("Look for both folders."), lambda f: "ascend-toolkit/latest" in f["tool_path"])
rule("R-ENV-12", BLOCK, "S0", "mindspeed megatron",
     _("The branches of MindSpeed and Megatron must form a known pair."),
     _("Remove the old MindSpeed and check out the paired branches."), _megatron)
rule("R-ENV-13", BLOCK, "S0, X20", "container_devices",
     _("The container needs davinci_manager, hisi_hdc, devmm_svm and at least one davinci card."),
     _("Pass the devices to the container, or use the Ascend runtime."), _devices)
rule("R-ENV-14", WARN, "S0, X20", "shm_size_gb cards",
     _("Shared memory of 1 GB is little for several cards."),
     _("Start the container with a larger --shm-size."),
     lambda f: f["cards"] > 1 and f["shm_size_gb"] <= 1)
rule("R-ENV-15", BLOCK, "S0", "mindie_image product",
     _("The tag of the MindIE image names product, Python and system; it must fit the host."),
     _("Take the image of the host's product."), _image)
rule("R-ENV-16", WARN, "S0", "numa_nodes",
     _("4 or 8 NUMA nodes are expected."), _("Check the BIOS setting of the host."),
     lambda f: f["numa_nodes"] not in (4, 8))
rule("R-ENV-17", WARN, "S0", "data_storage",
     _("Training data should lie on NVMe rather than on shared storage."),
     _("Copy the data to a local disk, or attach a throughput test."),
     lambda f: f["data_storage"] != "nvme" and not f.get("has_throughput_test"))
rule("R-ENV-18", BLOCK, "S1, K", "torch torch_npu",
     _("torch and torch_npu must be a published pair."),
     _("Install the torch_npu release that belongs to this torch; see the version table."),
     _pairs)
rule("R-ENV-19", BLOCK, "X1", "PYTORCH_NPU_ALLOC_CONF hdk",
     _("expandable_segments needs HDK 23.0.0; before 24.1.RC3 one process may use one card only."),
     _("Upgrade driver and firmware, or remove expandable_segments."), _hdk)
rule("R-ENV-20", WARN, "D", "container_image",
     _("An image that is named by a tag may be another one tomorrow."),
     _("Name it by its digest: registry/name@sha256:…; the digest that ran is kept either way."),
     lambda f: not re.search(r"(^|@)sha256:[0-9a-f]{64}$", f["container_image"]))
rule("R-ENV-21", BLOCK, "D", "container_engines",
     _("A container needs an engine on the node; none that answers was found there."),
     _("Install docker, podman or nerdctl for the user of the jobs, then try the log-in again."),
     lambda f: not f["container_engines"])
rule("R-ENV-22", BLOCK, "S0", "packages arch",
     _("The name of a package must carry the architecture and the chip of the node."),
     _("Fetch the package that was built for this node."), lambda f: list(_packages(f)))
rule("R-ENV-23", BLOCK, "X28", "tool_options",
     _("An option of this command is not known to the tool's release."),
     _("Install a release that has it, or leave the option out."), lambda f: list(_options(f)))
rule("R-ENV-24", INFO, "X28", "tool_options",
     _("It is not known whether the tool's release here has these options."),
     _("Read the node's software, install MindSpeed by a job, or answer the survey's versions; “?” "
       "stands for what no public source says."),
     lambda f: list(_unknown_releases(f)))
