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
    ("VPC", "虚拟私有云 VPC", "VPC", "172.16.0.0/16", "172.16.0.0/16", 1, "0.00"),
    ("SUBNET", "子网", "Subnet", "172.16.0.0/24", "172.16.0.0/24", 1, "0.00"),
    ("SG", "安全组", "Security group", "最小权限，如入方向 3306", "least privilege, e.g. inbound 3306",
     1, "0.00"),
    ("ECS", "弹性云服务器 ECS", "Elastic cloud server", "c7.2xlarge.2，8 核 16 GB，Linux",
     "c7.2xlarge.2, 8 vCPU 16 GB, Linux", 5, "4500.00"),
    ("BMS", "裸金属服务器 BMS", "Bare-metal server", "8 × Ascend 910，192 核 768 GB",
     "8 × Ascend 910, 192 cores 768 GB", 1, "45000.00"),
    ("EVS", "云硬盘 EVS", "Block storage", "通用型 SSD 500 GB", "general-purpose SSD 500 GB", 10,
     "3500.00"),
    ("EIP", "弹性公网 IP", "Elastic IP", "按需，加入共享带宽", "pay per use, joins shared bandwidth", 5,
     "72.00"),
    ("ELB", "弹性负载均衡 ELB", "Load balancer", "独享型，中型 I", "dedicated, medium I", 1, "1715.00"),
    ("OBS", "对象存储 OBS", "Object storage", "单 AZ 标准存储 5 TB", "single-AZ standard, 5 TB", 1,
     "456.00"),
    ("DMS", "分布式消息服务 DMS", "Message service", "rocketmq.4u8g，300 GB", "rocketmq.4u8g, 300 GB",
     1, "4080.00"),
    ("DCS", "分布式缓存 DCS", "Cache service", "基础版 5.0，主备 512 MB",
     "basic 5.0, primary/standby 512 MB", 1, "33.75"),
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

# code, category, name, English name, grade; the first eight stand in the guide
SERVICES = [
    ("S-ASSESS", "migration", "模型迁移调研评估", "Survey and assessment", "expert"),
    ("S-ENV", "migration", "环境部署搭建", "Environment set-up", "engineer"),
    ("S-LIBS", "migration", "三方库适配", "Third-party library adaptation", "senior"),
    ("S-INFER", "migration", "推理迁移", "Inference migration", "engineer"),
    ("S-PERF", "tuning", "性能评估分析", "Performance analysis", "expert"),
    ("S-ACC", "tuning", "精度对比分析", "Accuracy comparison", "senior"),
    ("S-FRAME", "tuning", "推理框架优化", "Inference framework optimisation", "expert"),
    ("S-DATA", "tuning", "数据处理优化", "Data-processing optimisation", "engineer"),
    ("S-TRAIN", "other", "训练迁移适配", "Training migration and adaptation", "senior"),
    ("S-OPS", "other", "算子开发", "Operator development", "expert"),
    ("S-PM", "other", "项目管理", "Project management", "manager"),
    ("S-TEST", "other", "测试与验收", "Testing and acceptance", "junior"),
    ("S-HANDOVER", "other", "培训与移交", "Training and handover", "engineer"),
]
