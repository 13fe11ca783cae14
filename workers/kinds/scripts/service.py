"""Starts a service in the foreground, proves that it answers, holds it, and ends it.

Argument: JSON of settings {service, started, command, weights, port, probe, wait, hold}; for
MindIE also {folder, name, cards, config}. Writes `service.report.json` and the configuration that
the service was given (`config.json` of MindIE, `command.json` of others).
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request


def mindie(asked):
    """MindIE's own configuration with what was asked for: command, folder, variables, text."""
    folder = os.path.expanduser(asked["folder"])
    with open(os.path.join(folder, "conf", "config.json")) as stream:
        config = json.load(stream)
    config.setdefault("ServerConfig", {}).update({"port": asked["port"], "httpsEnabled": False})
    backend = config["BackendConfig"]
    backend["npuDeviceIds"] = [list(range(asked["cards"]))]
    deploy = backend["ModelDeployConfig"]
    model = deploy["ModelConfig"][0]
    model.update({"modelName": asked["name"], "worldSize": asked["cards"],
                  "modelWeightPath": os.path.expanduser(asked["weights"])})
    given = asked.get("config") or {}
    model.update(given.get("model", {}))
    deploy.update(given.get("deploy", {}))
    backend.setdefault("ScheduleConfig", {}).update(given.get("schedule", {}))
    described(model["modelWeightPath"])
    text = json.dumps(config, indent=4)
    keep("config.json", text)
    env = {"MIES_CONFIG_JSON_PATH": os.path.abspath("config.json"), "MIES_INSTALL_PATH": folder,
           "MINDIE_LOG_TO_STDOUT": "1", "MINDIE_LLM_LOG_TO_STDOUT": "1"}
    return ["./bin/mindieservice_daemon"], folder, env, text


def command(asked):
    """A service that is configured by its command line."""
    weights = os.path.expanduser(asked["weights"])
    words = [weights if word == asked["weights"] else word for word in asked["command"]]
    described(weights)
    text = json.dumps(words, indent=1)
    keep("command.json", text)
    return words, ".", {}, text


def described(weights):
    path = os.path.join(weights, "config.json")
    if os.path.isfile(path):
        shutil.copyfile(path, "model_config.json")


def keep(name, text):
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)


def pass_on(child, line_of_start, started):
    """Pass the log on to its end, so that the service never waits; notes the line of the start."""
    for line in child.stdout:
        print(line, end="", flush=True)
        if line_of_start in line:
            started.set()


def hold(child, url, until, report):
    """Ask every five seconds at most while the service is held."""
    while report["first"] and child.poll() is None and time.time() < until:
        report["probes"] += 1
        report["answered"] += bool(answer(url))
        time.sleep(min(5, max(0.1, until - time.time())))


def answer(url):
    """Seconds until the service answered and what it said; None while it does not."""
    began = time.time()
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return {"status": reply.status, "seconds": time.time() - began,
                    "text": reply.read(2000).decode("utf-8", "replace")}
    except (OSError, ValueError):
        return None


def probed(url, until, child):
    while time.time() < until and child.poll() is None:
        found = answer(url)
        if found:
            return found
        time.sleep(1)
    return None


def end(child):
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(60)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def main(settings):
    asked = json.loads(settings)
    words, folder, more, text = (mindie if asked["service"] == "mindie" else command)(asked)
    report = {"desk_report": "service", "service": asked["service"],
              "sha256": hashlib.sha256(text.encode()).hexdigest(), "probes": 0, "answered": 0,
              "first": None}
    url = f"http://127.0.0.1:{asked['port']}{asked['probe']}"
    env = dict(os.environ, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1", **more)
    began = time.time()
    child = subprocess.Popen(words, cwd=folder, env=env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    started = threading.Event()
    threading.Thread(target=pass_on, args=(child, asked["started"], started),
                     daemon=True).start()
    while not started.wait(0.2) and child.poll() is None and time.time() < began + asked["wait"]:
        pass
    report["is_started"] = started.is_set()
    report["started_after_seconds"] = round(time.time() - began, 2)
    if report["is_started"]:
        report["first"] = probed(url, time.time() + 60, child)
        print(f"desk: service answers {bool(report['first'])}", flush=True)
        hold(child, url, time.time() + asked["hold"], report)
    report["ended_by_itself"] = child.poll() is not None
    if child.poll() is None:
        end(child)
    with open("service.report.json", "w") as stream:
        json.dump(report, stream, indent=1)
    return 0 if report["first"] and not report["ended_by_itself"] else 1


sys.exit(main(sys.argv[1]))
