"""Retrieval of features with pyACL (acl.fv), as Ascend's guide orders its calls, and looked at.

Arguments: features, results, queries of N:M. Writes `feature_search.report.json`. How a table gives
a distance is not published, so what is checked holds for any way: results are as many as asked and
in order; a feature that is modified or deleted is no longer the first; N:M finds for each of its
tables the distances that 1:N finds for it.
"""

import json
import random
import struct
import sys

import acl

ONE_TO_N, N_TO_M = 0, 1  # aclfvSearchType
NORMAL_ONLY, TO_DEVICE, TO_HOST = 2, 1, 2
LENGTH, TABLE = 36, 32 * 1024  # bytes of a feature and of a table, both fixed


def good(answer):
    """What pyACL gave beside its status, which has to be 0."""
    *values, status = answer if isinstance(answer, tuple) else (answer,)
    if status:
        raise RuntimeError(f"pyACL: error {status}")
    return values[0] if values else None


def made(name, *given):
    """The address of what acl.fv created; it gives 0 where it could not."""
    place = getattr(acl.fv, "create_" + name)(*given)
    if not place:
        raise RuntimeError(f"pyACL: {name} was not created")
    return place


def on_device(data):
    place = good(acl.rt.malloc(len(data), NORMAL_ONLY))
    good(acl.rt.memcpy(place, len(data), acl.util.bytes_to_ptr(data), len(data), TO_DEVICE))
    return place


def to_host(place, size):
    here = good(acl.rt.malloc_host(size))
    good(acl.rt.memcpy(here, size, place, size, TO_HOST))
    data = acl.util.ptr_to_bytes(here, size)
    good(acl.rt.free_host(here))
    return data


def feature(offset, data):
    return made("feature_info", 0, 0, offset, LENGTH, len(data) // LENGTH, on_device(data),
                len(data))


def everything():
    return made("repo_range", 0, 1023, 0, 1023)


def search(way, tables, results):
    """(offset, distance) of each table's results, in their order."""
    count, size = len(tables), len(tables) * results * 4
    numbers, id0, id1, offsets, distances = (
        good(acl.rt.malloc(length, NORMAL_ONLY)) for length in (count * 4, size, size, size, size))
    table = made("query_table", count, TABLE, on_device(b"".join(tables)), count * TABLE)
    asked = made("search_input", table, everything(), results)
    found = made("search_result", count, numbers, count * 4, id0, id1, offsets, distances, size)
    good(acl.fv.search(way, asked, found))
    rows = list(zip(struct.unpack(f"<{size // 4}I", to_host(offsets, size)),
                    struct.unpack(f"<{size // 4}f", to_host(distances, size)), strict=False))
    return [rows[n * results:n * results + many] for n, many in enumerate(
        struct.unpack(f"<{count}I", to_host(numbers, count * 4)))]


def looked_at(data, tables, results):
    """What is wrong; "" where nothing is."""
    first = search(ONE_TO_N, tables[:1], results)[0]
    ranked = [distance for _offset, distance in first]
    if len(first) != results or ranked not in (sorted(ranked), sorted(ranked)[::-1]):
        return f"1:N: {len(first)} results for {results}, or not in their order"
    if search(N_TO_M, tables, results) != [search(ONE_TO_N, [table], results)[0]
                                           for table in tables]:
        return "N:M: not what 1:N finds"
    last = first[-1][0] * LENGTH
    good(acl.fv.modify(feature(first[0][0], data[last:last + LENGTH])))
    changed = search(ONE_TO_N, tables[:1], results)[0]
    if changed[0][1] != ranked[1]:
        return "modify: the old feature is found"
    at = changed[0][0] * LENGTH
    good(acl.fv.delete(feature(changed[0][0], data[at:at + LENGTH])))
    if search(ONE_TO_N, tables[:1], results)[0][0][1] != ranked[2]:
        return "delete: the feature is found"
    return ""


def main(features, results, queries):
    draw = random.Random(1)
    data = bytes(draw.randrange(256) for _n in range(features * LENGTH))
    tables = [struct.pack(f"<{TABLE // 4}f", *(draw.random() for _n in range(TABLE // 4)))
              for _table in range(queries)]
    good(acl.init())
    good(acl.rt.set_device(0))
    init = made("init_para", features)
    good(acl.fv.init(init))
    for way in (ONE_TO_N, N_TO_M):
        good(acl.fv.repo_add(way, feature(0, data)))
    fault = looked_at(data, tables, results)
    for way in (ONE_TO_N, N_TO_M):
        good(acl.fv.repo_del(way, everything()))
    good(acl.fv.release())
    good(acl.fv.destroy_init_para(init))
    good(acl.rt.reset_device(0))
    good(acl.finalize())
    with open("feature_search.report.json", "w") as stream:
        json.dump({"desk_report": "feature_search", "features": features, "results": results,
                   "queries": queries, "fault": fault}, stream, indent=1)
    print("using npu:0", fault, sep="\n")


main(*map(int, sys.argv[1:]))
