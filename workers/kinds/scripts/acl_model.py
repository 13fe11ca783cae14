"""Runs an offline model with pyACL and keeps what its profiler tells.

Arguments: model, way (subscription or marks), loops. subscription writes `subscription.csv`, a row
per operator and loop; marks leaves raw data below the working folder, each loop under a mark.
"""

import csv
import os
import sys
import threading

import acl

NONE, PIPE_UTILISATION = 0xFF, 1  # aclprofAicoreMetrics
API, TASK_TIME, METRICS, MARKS = 0x1, 0x2, 0x4, 0x80  # aclprof data types
NORMAL_ONLY = 2  # aclrtMemMallocPolicy
COLUMNS = ("model_id", "op_name", "op_type", "start_ns", "end_ns", "duration_us")


def good(answer):
    """What pyACL gave beside its status, which has to be 0."""
    *values, status = answer if isinstance(answer, tuple) else (answer,)
    if status:
        raise RuntimeError(f"pyACL: error {status}")
    return values[0] if values else None


def datasets(model):
    """Inputs of zeros and outputs, as the model describes them."""
    described = acl.mdl.create_desc()
    good(acl.mdl.get_desc(described, model))
    for name in ("input", "output"):
        dataset = acl.mdl.create_dataset()
        for index in range(getattr(acl.mdl, f"get_num_{name}s")(described)):
            size = getattr(acl.mdl, f"get_{name}_size_by_index")(described, index)
            place = good(acl.rt.malloc(size, NORMAL_ONLY))
            good(acl.rt.memset(place, size, 0, size))
            good(acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(place, size)))
        yield dataset


def receive(pipe, context, rows):
    good(acl.rt.set_context(context))
    size, data = good(acl.prof.get_op_desc_size()), b""
    while True:
        more = os.read(pipe, size * 10)
        data += more
        whole = data[:len(data) - len(data) % size]
        data = data[len(whole):]
        if whole:
            at = acl.util.bytes_to_ptr(whole), len(whole)
            for index in range(good(acl.prof.get_op_num(*at))):
                rows.writerow([
                    acl.prof.get_model_id(*at, index), good(acl.prof.get_op_name_v2(*at, index)),
                    good(acl.prof.get_op_type_v2(*at, index)), acl.prof.get_op_start(*at, index),
                    acl.prof.get_op_end(*at, index),
                    acl.prof.get_op_duration(*at, index) / 1000])
        if not more:
            return


def subscribed(model, context, run):
    reads, writes = os.pipe()
    config = acl.prof.create_subscribe_config(1, NONE, writes)
    with open("subscription.csv", "w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(COLUMNS)
        good(acl.prof.model_subscribe(model, config))
        reader = threading.Thread(target=receive, args=(reads, context, rows))
        reader.start()
        run(lambda _loop: None, lambda: None)
        good(acl.prof.model_un_subscribe(model))
        os.close(writes)
        reader.join()
    good(acl.prof.destroy_subscribe_config(config))


def marked(run):
    good(acl.prof.init(os.getcwd()))
    config = acl.prof.create_config([0], PIPE_UTILISATION, 0, API | TASK_TIME | METRICS | MARKS)
    good(acl.prof.start(config))
    stamps = []

    def begin(loop):
        stamps.append(acl.prof.create_stamp())
        text = f"loop {loop}"
        good(acl.prof.set_stamp_trace_message(stamps[-1], text, len(text)))
        good(acl.prof.push(stamps[-1]))

    def end():
        good(acl.prof.pop())
        acl.prof.destroy_stamp(stamps.pop())

    run(begin, end)
    good(acl.prof.stop(config))
    good(acl.prof.destroy_config(config))
    good(acl.prof.finalize())


def main(path, way, loops):
    good(acl.init())
    good(acl.rt.set_device(0))
    context = good(acl.rt.create_context(0))
    model = good(acl.mdl.load_from_file(os.path.expanduser(path)))
    inputs, outputs = datasets(model)

    def run(begin, end):
        for loop in range(int(loops)):
            begin(loop)
            good(acl.mdl.execute(model, inputs, outputs))
            end()

    if way == "subscription":
        subscribed(model, context, run)
    else:
        marked(run)
    good(acl.mdl.unload(model))
    good(acl.rt.destroy_context(context))
    good(acl.rt.reset_device(0))
    good(acl.finalize())
    print(f"desk: {loops} loops\nusing npu:0")


main(*sys.argv[1:])
