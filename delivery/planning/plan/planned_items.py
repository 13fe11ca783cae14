"""Items of the target environment that can be planned, by the names that probes give them."""

ITEMS = ("chip", "cards", "driver", "firmware", "cann", "torch", "torch_npu", "tensorflow",
         "mindspore", "mindie", "vllm", "python", "os", "arch")
