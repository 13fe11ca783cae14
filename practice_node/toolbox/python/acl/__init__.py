"""Practice stand-in for pyACL: memory of this process, a model of three operators, features.

A model's operators are computed and timed here. The distance of a feature is the sum of what the
table holds for each of its first 32 bytes; that of CANN is not published.
"""

import ctypes
import json
import math
import os
import struct
import time
from types import SimpleNamespace

OPERATORS = ("MatMul", "Softmax", "Add")
DESCRIPTION = struct.Struct("<QQQ")  # operator, start and end in ns
_memory, _handles, _pipes, _pushed, _marks, _tasks, _stores = {}, [None], {}, [], [], [], ({}, {})


def _handle(*what):
    _handles.append(what)
    return len(_handles) - 1


def _nothing(*_given):
    return 0


def _malloc(size, _policy=0):
    memory = ctypes.create_string_buffer(size)
    _memory[ctypes.addressof(memory)] = memory
    return ctypes.addressof(memory), 0


def _put(place, data):
    ctypes.memmove(place, data, len(data))
    return 0


def _pointer(data):
    place, _status = _malloc(len(data))
    _put(place, data)
    return place


init = finalize = _nothing
create_data_buffer = _handle
rt = SimpleNamespace(
    set_device=_nothing, reset_device=_nothing, create_context=lambda _device: (1, 0),
    set_context=_nothing, destroy_context=_nothing, malloc=_malloc, malloc_host=_malloc,
    free=lambda place: 0 if _memory.pop(place, None) else 107002, memset=_nothing,
    memcpy=lambda to, _room, source, size, _kind: _put(to, ctypes.string_at(source, size)))
rt.free_host = rt.free
util = SimpleNamespace(bytes_to_ptr=_pointer, ptr_to_bytes=ctypes.string_at)


def _execute(model, _inputs, _outputs):
    for number, name in enumerate(OPERATORS):
        began = time.time_ns()
        sum(math.sqrt(n) for n in range(2000 * len(name)))
        _tasks.append([name, (time.time_ns() - began) / 1000])
        if model in _pipes:
            os.write(_pipes[model], DESCRIPTION.pack(number, began, time.time_ns()))
    return 0


mdl = SimpleNamespace(
    load_from_file=lambda path: (1, 0) if os.path.isfile(path) else (0, 145001), unload=_nothing,
    create_desc=_handle, get_desc=_nothing, create_dataset=_handle, execute=_execute,
    add_dataset_buffer=lambda dataset, _buffer: (dataset, 0),
    get_num_inputs=lambda _desc: 1, get_num_outputs=lambda _desc: 1,
    get_input_size_by_index=lambda *_at: 64, get_output_size_by_index=lambda *_at: 64)


def _described(place, _size, index):
    return DESCRIPTION.unpack(ctypes.string_at(place + index * DESCRIPTION.size, DESCRIPTION.size))


def _subscribe(model, config):
    _pipes[model] = _handles[config][2]
    return 0


def _name(stamp, text, _length):
    _handles[stamp] = text
    return 0


def _push(stamp):
    _pushed.append((time.time_ns() / 1000, _handles[stamp]))
    return 0


def _pop():
    began, text = _pushed.pop()
    _marks.append((began, time.time_ns() / 1000, text))
    return 0


def _leave():
    """Raw data as the practice msprof exports them."""
    folder = os.path.join("PROF_000001_20260101000000000_PRACTICE", "device_0", "data")
    os.makedirs(folder)
    for name, rows in (("tasks.json", _tasks), ("marks.json", _marks)):
        with open(os.path.join(folder, name), "w") as stream:
            json.dump(rows, stream)
    return 0


prof = SimpleNamespace(
    create_subscribe_config=_handle, destroy_subscribe_config=_nothing, model_subscribe=_subscribe,
    model_un_subscribe=lambda model: 0 if _pipes.pop(model) else 1,
    get_op_desc_size=lambda: (DESCRIPTION.size, 0),
    get_op_num=lambda _place, size: (size // DESCRIPTION.size, 0), get_model_id=lambda *_at: 1,
    get_op_name_v2=lambda *at: (f"{OPERATORS[_described(*at)[0]]}_{_described(*at)[0]}", 0),
    get_op_type_v2=lambda *at: (OPERATORS[_described(*at)[0]], 0),
    get_op_start=lambda *at: _described(*at)[1], get_op_end=lambda *at: _described(*at)[2],
    get_op_duration=lambda *at: _described(*at)[2] - _described(*at)[1],
    init=_nothing, create_config=_handle, start=_nothing, stop=_nothing, destroy_config=_nothing,
    finalize=_leave, create_stamp=_handle, destroy_stamp=_nothing, set_stamp_trace_message=_name,
    push=_push, pop=_pop)


def _change(info, ways=(0, 1)):
    _id0, _id1, offset, length, count, place, _size = _handles[info]
    for way in ways:
        _stores[way].update((offset + n, ctypes.string_at(place + length * n, length))
                            for n in range(count))
    return 0


def _delete(info):
    return 0 if [store.pop(_handles[info][2]) for store in _stores] else 1


def _search(way, asked, found):
    table, _among, results = _handles[asked]
    count, _length, place, _size = _handles[table]
    _count, numbers, _bytes, _id0, _id1, offsets, distances, _all = _handles[found]
    for query in range(count):
        values = struct.unpack("<8192f", ctypes.string_at(place + query * 32768, 32768))
        ranked = sorted((sum(values[256 * n + code] for n, code in enumerate(data[:32])), offset)
                        for offset, data in _stores[way].items())[:results]
        _put(numbers + 4 * query, struct.pack("<I", len(ranked)))
        for at, (distance, offset) in enumerate(ranked, query * results):
            _put(offsets + 4 * at, struct.pack("<I", offset))
            _put(distances + 4 * at, struct.pack("<f", distance))
    return 0


fv = SimpleNamespace(
    create_init_para=_handle, destroy_init_para=_nothing, init=_nothing, release=_nothing,
    create_feature_info=_handle, repo_add=lambda way, info: _change(info, (way,)),
    repo_del=lambda way, _among: 0 * bool(_stores[way].clear()), modify=_change, delete=_delete,
    create_query_table=_handle, create_repo_range=_handle, create_search_input=_handle,
    create_search_result=_handle, search=_search, destroy_search_result=_nothing,
    destroy_search_input=_nothing, destroy_repo_range=_nothing, destroy_query_table=_nothing)
