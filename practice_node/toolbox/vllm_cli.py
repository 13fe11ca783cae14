"""Practice stand-in for vLLM 0.11: `vllm serve` (start messages, /v1/models, /v1/completions) and
`vllm bench serve`, whose requests really go to the service and whose JSON has the genuine keys."""

import argparse
import itertools
import json
import os
import statistics
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cards
from faults import fault

TOKEN_SECONDS = 0.0004


def serve(words):
    parser = argparse.ArgumentParser(prog="vllm serve")
    parser.add_argument("model")
    parser.add_argument("--served-model-name")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    args = parser.parse_known_args(words)[0]
    name = args.served_model_name or args.model
    if not os.path.isdir(args.model):
        print(f"OSError: {args.model} is not a local folder and is not a valid model identifier",
              flush=True)
        return 1

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            known = self.path == "/v1/models"
            self.answer(200 if known else 404, json.dumps({"object": "list", "data": [
                {"id": name, "object": "model", "owned_by": "vllm", "root": args.model}]}))

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            for _token in range(asked["max_tokens"]):
                time.sleep(TOKEN_SECONDS)
                self.wfile.write(b"data: {\"choices\": [{\"text\": \" a\"}]}\n\n")
                self.wfile.flush()

        def answer(self, status, text):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *words):
            return

    with cards.occupied(cards.visible()[:args.tensor_parallel_size], 24000):
        print("INFO 11-26 00:00:00 [__init__.py:36] Available plugins for group "
              "vllm.platform_plugins:\nINFO 11-26 00:00:00 [__init__.py:38] - ascend -> "
              "vllm_ascend:register", flush=True)
        server = ThreadingHTTPServer(("127.0.0.1", args.port), Answer)
        print(f"(APIServer pid={os.getpid()}) INFO:     Application startup complete.", flush=True)
        server.serve_forever()
    return 0


def bench(words):
    parser = argparse.ArgumentParser(prog="vllm bench serve")
    for name in ("backend", "model", "served-model-name", "base-url", "dataset-name", "result-dir",
                 "result-filename", "percentile-metrics", "metric-percentiles"):
        parser.add_argument(f"--{name}")
    for name in ("random-input-len", "random-output-len", "num-prompts", "max-concurrency", "seed"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--request-rate", type=float, default=float("inf"))
    parser.add_argument("--metadata", nargs="*", default=[])
    for name in ("ignore-eos", "save-result"):
        parser.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args(words)
    lock, times, failed = threading.Lock(), [], int(fault("failed_requests") or 0)

    def ask(_n):
        body = json.dumps({"model": args.served_model_name, "max_tokens": args.random_output_len,
                           "prompt": " a" * args.random_input_len, "stream": True}).encode()
        began, marks = time.perf_counter(), []
        request = urllib.request.Request(f"{args.base_url}/v1/completions", body)
        with urllib.request.urlopen(request, timeout=60) as reply:
            for line in reply:
                if line.strip():
                    marks.append((time.perf_counter() - began) * 1000)
        with lock:
            times.append(marks)

    try:
        began = time.perf_counter()
        with ThreadPoolExecutor(args.max_concurrency) as pool:
            list(pool.map(ask, range(args.num_prompts - failed)))
        took = time.perf_counter() - began
    except OSError as error:
        print(f"ValueError: Initial test run failed - {error}", flush=True)
        return 1
    os.makedirs(args.result_dir, exist_ok=True)
    with open(os.path.join(args.result_dir, args.result_filename), "w") as stream:
        json.dump(result(args, times, took, failed), stream)
    print("============ Serving Benchmark Result ============", flush=True)
    return 0


def result(args, times, took, failed):
    done, tokens = len(times), sum(map(len, times))
    groups = {"ttft": [marks[0] for marks in times],
              "tpot": [(marks[-1] - marks[0]) / max(1, len(marks) - 1) for marks in times],
              "itl": [b - a for marks in times for a, b in itertools.pairwise(marks)] or [0.0],
              "e2el": [marks[-1] for marks in times]}
    found = {
        "date": time.strftime("%Y%m%d-%H%M%S"), "endpoint_type": args.backend,
        "backend": args.backend, "label": None, "model_id": args.model,
        "tokenizer_id": args.model, "num_prompts": args.num_prompts,
        **dict(entry.split("=", 1) for entry in args.metadata),
        "request_rate": "inf" if args.request_rate == float("inf") else args.request_rate,
        "burstiness": 1.0, "max_concurrency": args.max_concurrency, "duration": took,
        "completed": done, "failed": failed,
        "total_input_tokens": done * args.random_input_len, "total_output_tokens": tokens,
        "request_throughput": done / took, "request_goodput": None,
        "output_throughput": tokens / took,
        "total_token_throughput": (tokens + done * args.random_input_len) / took}
    for name, values in groups.items():
        ordered = sorted(values)
        found |= {f"mean_{name}_ms": statistics.fmean(values),
                  f"median_{name}_ms": statistics.median(values),
                  f"std_{name}_ms": statistics.pstdev(values)}
        for share in (50, 90, 99):
            found[f"p{share}_{name}_ms"] = ordered[min(len(ordered) - 1,
                                                       len(ordered) * share // 100)]
    return found


words = sys.argv[1:]
if words[:1] == ["serve"]:
    sys.exit(serve(words[1:]))
sys.exit(bench(words[2:]))
