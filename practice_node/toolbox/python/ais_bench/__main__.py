import os
import shutil
import sys

os.execv(shutil.which("ais_bench"), ["ais_bench", *sys.argv[1:]])
