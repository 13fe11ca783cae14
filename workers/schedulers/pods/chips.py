"""The name under which a cluster counts the cards of a chip."""

# MindCluster, "YAML parameters" of full-card scheduling, and "Creating a Job YAML File":
# https://www.hiascend.com/document/detail/en/mindcluster/730/clustersched/schedulingug/mxdlug_scheduling_013.html
# https://www.hiascend.com/document/detail/en/mindx-dl/300/dluserguide/clusterscheduling/dlug_guide_03_000023.html
# The device plugin counts every training chip (910, 910B, A3) as Ascend910.
RESOURCES = {
    "Ascend910": "huawei.com/Ascend910",
    "Ascend310P": "huawei.com/Ascend310P",
    "Ascend310": "huawei.com/Ascend310",
}
DEFAULT = RESOURCES["Ascend910"]
PREFIX = "huawei.com/"
