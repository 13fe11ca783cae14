"""Practice stand-in for `npu-smi info`; table as printed by npu-smi 24.1.rc1 on 8 x 910B3."""

import random
import sys
import time

from faults import fault

LINE = "+---------------------------+---------------+----------------------------------------------------+"
THICK = LINE.replace("-", "=")


def chip_rows(number, rng):
    health = "Alarm" if fault("card_alarm") == number else "OK"
    power, temperature = 88 + rng.random() * 12, rng.randint(38, 46)
    used = 3300 + rng.randint(0, 60)
    bus = ["C1", "01", "C2", "02", "81", "41", "82", "42"][number % 8]
    first = f"| {number:<4}  910B3               | {health:<13} | {power:<11.1f} {temperature:<12}    0    / 0             |"
    second = f"| 0                         | 0000:{bus}:00.0  | 0           0    / 0          {used:>5}/ 65536         |"
    return [first, second, THICK]


def info():
    rng = random.Random(int(time.time()) // 5)
    version = "24.1.rc1"
    print("+------------------------------------------------------------------------------------------------+")
    print(f"| npu-smi {version:<24} Version: {version:<52} |")
    print(LINE)
    print("| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|")
    print("| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |")
    print(THICK)
    for number in range(8):
        print("\n".join(chip_rows(number, rng)))
    print("| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |")
    print(THICK)
    for number in range(8):
        print(f"| No running processes found in NPU {number:<61}|")
        print(THICK)


def main():
    if fault("missing_dcmi"):
        print("dcmi module initialize failed. ret is -8005")
        return 1
    if sys.argv[1:2] != ["info"] or len(sys.argv) > 2:
        print("Usage: npu-smi info")
        return 1
    info()
    return 0


sys.exit(main())
