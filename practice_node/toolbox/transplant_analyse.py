"""Practice stand-in for pytorch_analyse.sh of msfmktransplt (mstt 99c2e0f99): really scans."""

import ast
import os
import pathlib
import shutil
import sys

import transplant
from faults import fault

PLACES = ["Torch API", "Affected 3rd-party API"]


def torch_apis(args, place, log):
    tables = transplant.scan(args.source, args.version, log)
    transplant.write_tables(place, tables)
    return {name: len(rows) for name, rows in tables.items()}


def functions(tree, module):
    """(first line, last line, qualified name) of every function."""
    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}.{child.name}"
                if not isinstance(child, ast.ClassDef):
                    found.append((child.lineno, child.end_lineno, name))
                visit(child, name)

    found = []
    visit(tree, module)
    return found


def third_party(args, place, log):
    """Which functions of the source use what is not supported or not known."""
    unsupported, unknown, full = {}, {}, {}
    for relative, tree in transplant.analysed(args.source, log):
        module = relative.removesuffix(".py").replace(os.sep, ".")
        for start, _end, name in transplant.calls(tree):
            inside = [f for f in functions(tree, module) if f[0] <= start <= f[1]]
            user = inside[-1][2] if inside else module
            if transplant.is_unsupported(name, args.version):
                unsupported.setdefault(name, []).append(user)
                full.setdefault((relative, user), []).append(
                    f"file_path:{relative}, start_line:{start}, api_name:{name} \n")
            elif transplant.UNKNOWN.match(name):
                unknown.setdefault(name, []).append(user)
    return write_third_party(place, unsupported, unknown, full)


def write_third_party(place, unsupported, unknown, full):
    def joined(uses):
        return [[name, "\n".join(dict.fromkeys(users))] for name, users in uses.items()]

    tables = {
        "cuda_op.csv": (["OP Name", PLACES[1]], []),
        "framework_unsupported_op.csv": (PLACES, joined(unsupported)),
        "full_unsupported_results.csv": (["File", "3rd-party API", "Message"],
                                         [[*key, "".join(text)] for key, text in full.items()]),
        "migration_needed_op.csv": (PLACES, []),
        "unknown_op.csv": (PLACES, joined(unknown)),
    }
    for name, (columns, rows) in tables.items():
        transplant.write(place, name, columns, rows)
    return {name: len(rows) for name, (_columns, rows) in tables.items()}


def affinity_apis(args, place, log):
    """Assignments through a condition, for which the NPU has a faster function."""
    rows = [[relative, node.lineno, node.end_lineno, "special", "input[condition] = value",
             "torch_npu.contrib.function.npu_fast_condition_index_put"]
            for relative, tree in transplant.analysed(args.source, log)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
            and isinstance(node.targets[0].slice, ast.Compare)]
    transplant.write(place, "affinity_api_call.csv", [
        "File", "Start Line", "End Line", "Api Type", "Api Call Name", "Affinity Api Name"], rows)
    return {"affinity_api_call.csv": len(rows)}


HOOKED = "from msft_dynamic_analysis.hook import DETECTOR\n"
HOOK = '''"""Stand-in of the detector: a report without rows."""
import atexit
import os


class Detector:
    def start(self, dataset):
        yield from dataset


@atexit.register
def save():
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(folder, "msft_dynamic_shape_analysis_report.csv"), "w") as stream:
        stream.write("Function Name,File Path,Line Number,Call Stack,Input Shape Range,"
                     "Output Shape Range\\n")


DETECTOR = Detector()
'''


def dynamic_shape(args, place, log):
    """The copy that the user shall run; of the instruments the stand-in has the loop and the report,
    not the calls."""
    list(transplant.analysed(args.source, log))
    shutil.copytree(args.source, place, dirs_exist_ok=True)
    for path in pathlib.Path(place).rglob("*.py"):
        text = path.read_text()
        first = ast.parse(text).body[:1]
        has_text = first and isinstance(first[0], ast.Expr)
        at = first[0].end_lineno if has_text else 0
        lines = text.splitlines(True)
        path.write_text("".join([*lines[:at], HOOKED, *lines[at:]]))
    hooks = pathlib.Path(place, "msft_dynamic_analysis")
    hooks.mkdir(exist_ok=True)
    (hooks / "__init__.py").write_text("")
    (hooks / "hook.py").write_text(HOOK)
    return {}


MODES = {"torch_apis": torch_apis, "third_party": third_party, "affinity_apis": affinity_apis,
         "dynamic_shape": dynamic_shape}


def main():
    options = transplant.parser()
    options.add_argument("-m", "--mode", choices=sorted(MODES), default="torch_apis")
    args = options.parse_args()
    log = transplant.Log()
    log.say("INFO", "Start to check input path...")
    log.say("INFO", "PyTorch analysis start working now, please wait for a moment.")
    log.say("INFO", "Analysis start...")
    name = f"{os.path.basename(args.source)}_analysis"
    place = os.path.join(args.output, name)
    os.makedirs(place, exist_ok=True)
    counts = MODES[args.mode](args, place, log)
    if fault("analysis_error"):
        log.say("ERROR", "An unknown error occurred, the analysis is stopped.")
        return 1
    transplant.finish(log, "Analyse", name, counts or {"result": 0})
    log.write(os.path.join(place, "pytorch_analysis.txt"))
    return 0


sys.exit(main())
