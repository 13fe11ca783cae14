"""Forms of training adaptation and tuning (DOMAIN 2.2: S0 3.4 and 3.5, S1 to S4)."""

from engagements.stage_forms.base import StageForm, items, lines

TRAIN_ADAPT = StageForm(
    activities=lines(
        ("脚本迁移：自动（transfer_to_npu）、工具（PyTorch GPU2Ascend）或手工",
         "Move the scripts: automatically (transfer_to_npu), by PyTorch GPU2Ascend, or by hand"),
        ("分布式改写为 HCCL", "Rewrite the distribution for HCCL"),
        ("设置环境变量与启动脚本", "Set environment variables and start-up scripts"),
        ("混合精度（原生 AMP 或 APEX）", "Mixed precision (native AMP or APEX)"),
        ("BF16/FP32 的特征值检测", "Silent-fault detection for BF16 and FP32"),
        ("数据加载、网络、损失、优化器与训练/推理/评测脚本适配",
         "Adapt data loading, network, loss, optimiser, training, inference and evaluation"),
        ("TensorFlow 脚本转换；MindSpeed/Megatron 适配与数据预处理",
         "Convert TensorFlow scripts; adapt MindSpeed/Megatron with data preprocessing"),
        ("保存检查点，导出 ONNX", "Save checkpoints, export ONNX")),
    inputs=lines(("源码、权重文件与数据", "Source code, weights and data"), ("基线", "Baseline"),
                 ("分析报告", "Analysis report")),
    outputs=lines(
        ("迁移后的代码", "Migrated code"),
        ("迁移报告（日志、不支持清单、改动清单）",
         "Migration report (log, unsupported list, changes)"),
        ("检查点", "Checkpoints"), ("ONNX 模型", "ONNX model"), ("运行日志", "Run logs")),
    exit=lines(
        ("训练运行无 CUDA 报错，识别 NPU，打印损失",
         "Training runs without CUDA errors, recognises the NPU, prints the loss"),
        ("检查点保存成功", "Checkpoints are saved"),
        ("参数正常更新，训练后产出权重文件", "Parameters update, and training produces weights")),
    risks=lines(
        ("自定义 CUDA 算子需重新实现", "Custom CUDA operators need re-implementation"),
        ("apex 等专用库没有对应实现", "Special libraries (apex layers) have no counterpart"),
        ("后续逻辑中残留 nccl", "“nccl” left in later logic")),
    tools=lines(
        ("transfer_to_npu、PyTorch GPU2Ascend", "transfer_to_npu, PyTorch GPU2Ascend"),
        ("TF 转换工具", "TF converter"), ("MindSpeed + Megatron-LM", "MindSpeed + Megatron-LM"),
        ("ONNX 导出与 ATC", "ONNX export and ATC")),
    checklist=items(
        ("数据加载已适配（或确认无需改动）",
         "Data loading adapted, or found to need no change", False),
        ("损失函数已适配（或确认无需改动）", "Loss adapted, or found to need no change", False),
        ("优化器已适配（或确认无需改动）", "Optimiser adapted, or found to need no change", False),
        ("评测脚本已适配（或确认无需改动）",
         "Evaluation script adapted, or found to need no change", False),
        ("权重文件已产出且参数正常更新", "Weights produced and parameters update", True)))

TRAIN_TUNE = StageForm(
    activities=lines(
        ("精度：配置检查 → 数据 dump → 比对", "Accuracy: configuration check → dump → compare"),
        ("精度：先对齐前向结果，再对齐损失曲线，最后对齐评测得分",
         "Accuracy: align the forward results, then the loss curve, then the score"),
        ("数据清洗、超参、混合精度选择与敏感算子",
         "Data cleaning, hyper-parameters, choice of mixed precision, sensitive operators"),
        ("性能：采集 → 分析 → 可视化循环", "Performance: profile → analyse → visualise, in a loop"),
        ("并行策略、IO、亲和适配、内存、流复用、HCCL 缓存、Python GC",
         "Parallel strategy, IO, affinity, memory, stream reuse, HCCL buffer, Python GC"),
        ("融合算子、调度与通信", "Fused operators, scheduling and communication")),
    inputs=lines(("可运行的 NPU 训练", "A running NPU training"),
                 ("GPU 参考数据与权重文件", "GPU reference data and weights"),
                 ("相同的随机种子", "The same seeds")),
    outputs=lines(
        ("配置差异", "Configuration differences"), ("比对表", "Comparison tables"),
        ("性能数据与专家建议", "Profiling data and advisor report"),
        ("调优后的配置", "Tuned configuration"),
        ("损失与得分对比、性能对比", "Comparison of loss, score and performance")),
    exit=lines(
        ("损失平均相对误差 < 2 %", "Mean relative error of the loss < 2 %"),
        ("评测得分误差 < 2 %", "Error of the evaluation score < 2 %"),
        ("性能达到合同基线", "Performance at the contract's baseline")),
    risks=lines(
        ("损失尖峰、NaN、溢出、发散", "Loss spikes, NaN, overflow, divergence"),
        ("dump 数据量可达 TB 级", "The volume of dumps reaches terabytes"),
        ("性能采集自身的开销", "Overhead of profiling"),
        ("把快卡等待慢卡误判为通信慢",
         "Fast ranks waiting for slow ones taken for slow communication")),
    tools=lines(("msprobe", "msprobe"), ("torch_npu profiler、msprof-analyze",
                                         "torch_npu profiler, msprof-analyze"),
                ("MindStudio Insight", "MindStudio Insight"), ("AOE、msprof", "AOE, msprof")),
    checklist=items(
        ("数据顺序、随机种子与初始权重与基线一致",
         "Same data order, seed and initial weights as the baseline", False)))
