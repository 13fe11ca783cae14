"""The price lists a new installation starts with.

Resources: the solution guide's table (region North China–Beijing 4, monthly fees, DOMAIN 6.1);
its fees are taken as line totals. Services: the guide leaves their prices blank (DOMAIN 6.2), so
the day rate is the public sample of DOMAIN 9.2 (25,474 yuan per person-month, 21.75 days:
1,171.22 per day, Xi'an 2023) times a factor per grade, which the firm replaces by its own.
"""

from decimal import Decimal

STATED_TOTAL = Decimal("92414.45")

# code, name, English name, specification, English specification, quantity, printed fee
RESOURCES = [
    ("VPC", "虚拟私有云 VPC", "VPC", "网段 172.16.0.0/16，其他采用默认配置",
     "172.16.0.0/16, defaults", 1, "0.00"),
    ("SUBNET", "子网", "Subnet", "网段 172.16.0.0/24，其他采用默认配置",
     "172.16.0.0/24, defaults", 1, "0.00"),
    ("SG", "安全组", "Security group", "按需开放，最小权限，如数据库按需开通入方向 3306 等端口",
     "least privilege, e.g. inbound 3306", 1, "0.00"),
    ("ECS", "弹性云服务器 ECS", "Elastic cloud server", "c7.2xlarge.2，8 核 16 GB；操作系统 Linux；区域 华北-北京四；VPC VPC-BJ4",
     "c7.2xlarge.2, 8 vCPU 16 GB; OS Linux; region CN North-Beijing4; VPC VPC-BJ4", 5, "4500.00"),
    ("BMS", "裸金属服务器 BMS", "Bare-metal server", "8 × Ascend 910，192 核 768 GB；操作系统 鲲鹏；区域 华北-北京四；VPC VPC-BJ4",
     "8 × Ascend 910, 192 cores 768 GB; OS Kunpeng; region CN North-Beijing4; VPC VPC-BJ4", 1, "45000.00"),
    ("EVS", "云硬盘 EVS", "Block storage", "通用型 SSD 500 GB", "general-purpose SSD 500 GB", 10,
     "3500.00"),
    ("EIP", "弹性公网 IP", "Elastic IP", "按需，加入共享带宽", "pay per use, shared bandwidth", 5,
     "72.00"),
    ("ELB", "弹性负载均衡 ELB", "Load balancer", "独享型，中型 I；新建连接数 8,000 HTTP / 800 HTTPS；并发连接数 800,000；每秒查询 16,000；带宽 200 Mbit/s；40 LCU",
     "dedicated, medium I; 8,000/800 new HTTP/HTTPS, 800,000 concurrent, 16,000 QPS; 200 Mbit/s; 40 LCUs",
     1, "1715.00"),
    ("OBS", "对象存储 OBS", "Object storage", "单 AZ 标准存储 5 TB", "single-AZ standard, 5 TB", 1,
     "456.00"),
    ("DMS", "分布式消息服务 DMS", "Message service", "rocketmq.4u8g.cluster.small；代理 1 个；超高 IO 300 GB",
     "rocketmq.4u8g.cluster.small; 1 broker; ultra-high I/O 300 GB", 1, "4080.00"),
    ("DCS", "分布式缓存 DCS", "Cache service", "基础版 5.0，主备，X86，DRAM，副本 2，512 MB",
     "basic 5.0, primary/standby, x86, DRAM, 2 replicas, 512 MB", 1, "33.75"),
    ("SMS", "主机迁移服务 SMS", "Server migration", "主机迁移", "server migration", 1, "0.00"),
    ("OMS", "对象存储迁移 OMS", "Object storage migration", "对象存储迁移", "object storage migration",
     1, "0.00"),
    ("DRS", "数据复制服务 DRS", "Data replication", "数据库迁移", "database migration", 1, "0.00"),
    ("RDS", "云数据库 RDS", "Relational database", "MySQL 5.7 单机，2 核 4 GB 40 GB",
     "MySQL 5.7 single, 2 vCPU 4 GB 40 GB", 1, "196.00"),
    ("BANDWIDTH", "共享带宽", "Shared bandwidth", "200 Mbit/s", "200 Mbit/s", 1, "16000.00"),
    ("DNS", "云解析 DNS", "DNS", "域名解析", "name resolution", 1, "0.00"),
    ("DDOS", "DDoS 防护", "DDoS protection", "保底 10 Gbit/s，业务 100 Mbit/s，50 个域名",
     "10 Gbit/s guaranteed, 100 Mbit/s service, 50 domains", 1, "8820.00"),
    ("HSS", "主机安全", "Host security", "专业版", "professional", 1, "90.00"),
    ("WAF", "Web 应用防火墙 WAF", "Web application firewall", "标准版", "standard", 1, "3880.00"),
]

DAY_RATE = Decimal("1171.22")
GRADE_FACTORS = {"manager": Decimal("1.8"), "expert": Decimal("2.2"), "senior": Decimal("1.6"),
                 "engineer": Decimal("1.2"), "junior": Decimal("1.0")}

MONTH_RATE, DAYS_PER_MONTH = Decimal("25474"), Decimal("21.75")

# code, category, name, English name, grade, deliverable, English deliverable; the first eight
# stand in the guide, the rest close the gaps that DOMAIN 6.2 names
SERVICES = [
    ("S-ASSESS", "migration", "模型迁移调研评估", "Survey and assessment", "expert",
     "调研问卷、迁移评估报告", "questionnaire, assessment report"),
    ("S-ENV", "migration", "环境部署搭建", "Environment set-up", "engineer",
     "驱动、固件、CANN 与框架就绪，环境检查报告", "driver, firmware, CANN and framework in place; environment report"),
    ("S-LIBS", "migration", "三方库适配", "Third-party library adaptation", "senior",
     "适配后的三方库与构建说明", "adapted libraries and build notes"),
    ("S-INFER", "migration", "推理迁移", "Inference migration", "engineer",
     "转换后的模型、推理脚本与转换日志", "converted models, inference scripts, conversion logs"),
    ("S-PERF", "tuning", "性能评估分析", "Performance analysis", "expert",
     "性能采集数据与瓶颈分析报告", "profiles and bottleneck analysis"),
    ("S-ACC", "tuning", "精度对比分析", "Accuracy comparison", "senior",
     "损失曲线与算子精度比对报告", "comparison of loss curves and operators"),
    ("S-FRAME", "tuning", "推理框架优化", "Inference framework optimisation", "expert",
     "推理服务配置与压测结果", "serving configuration and load-test results"),
    ("S-DATA", "tuning", "数据处理优化", "Data-processing optimisation", "engineer",
     "前后处理优化代码与耗时对比", "optimised pre- and post-processing with timings"),
    ("S-TRAIN", "other", "训练迁移适配", "Training migration and adaptation", "senior",
     "可在昇腾训练的代码与训练日志", "training code for Ascend and its logs"),
    ("S-OPS", "other", "算子开发", "Operator development", "expert",
     "自定义算子源码、测试与说明", "custom operators with tests and notes"),
    ("S-PM", "other", "项目管理", "Project management", "manager",
     "计划、周报、风险与变更记录", "plan, weekly reports, risks and changes"),
    ("S-TEST", "other", "测试与验收", "Testing and acceptance", "junior",
     "迁移测试报告、验收单与证据包", "test report, acceptance form, evidence bundle"),
    ("S-HANDOVER", "other", "培训与移交", "Training and handover", "engineer",
     "培训材料、移交清单", "training material, handover list"),
    ("S-RUN", "other", "集成运维", "Integration and operation", "engineer",
     "监控移交、回归对比与质保处理记录", "records of monitoring, regression runs and repairs"),
]

# Charged at cost: on the list, without a price.
TRAVEL = ("S-TRAVEL", "other", "差旅费", "Travel", "at_cost", "按实际发生结算", "charged at cost")

# Stages a service belongs to; the others serve every stage (R-QUO-09 compares with the scope).
STAGES = {"S-ASSESS": "survey", "S-ENV": "env", "S-INFER": "infer_migrate",
          "S-FRAME": "infer_tune", "S-TRAIN": "train_adapt", "S-TEST": "accept",
          "S-RUN": "operation"}
