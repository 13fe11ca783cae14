"""Practice stand-in for pytorch_analyse.sh of msfmktransplt (mstt 99c2e0f99)."""

import os
import sys

import transplant
from faults import fault


def main():
    args = transplant.arguments()
    transplant.require_folders(args)
    transplant.log("INFO", "MsFmkTransplt start working now, please wait for a moment.")
    if fault("analysis_error"):
        transplant.log("ERROR", "Analysis failed.")
        return 1
    name = os.path.basename(os.path.normpath(args.source))
    folder = os.path.join(args.output, f"{name}_analysis")
    os.makedirs(folder, exist_ok=True)
    tables = transplant.scan(args.source)
    transplant.write_tables(folder, *tables)
    with open(os.path.join(folder, "pytorch_analysis.txt"), "w") as stream:
        transplant.log("INFO", "Analysis start...", stream)
        transplant.log("INFO", "MsFmkTransplt run succeeded, welcome to the next use.", stream)
    transplant.finish({"unsupported_api.csv": len(tables[0]), "unknown_api.csv": len(tables[1]),
                       "cuda_op_list.csv": len(tables[2])})
    return 0


sys.exit(main())
