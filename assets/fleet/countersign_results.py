# Reports what each host did as one line of JSON on stdout, and asks before each task whether it may begin.
#
# Read by Countersign, which starts ansible-playbook with this file as its only callback plugin. Outputs are the exact
# bytes in base64. A task begins when one byte was read from stdin: "g" goes on, anything else ends the run.
import base64
import json
import os
import time

from ansible.plugins.callback import CallbackBase
from ansible.release import __version__

DOCUMENTATION = "name: countersign_results\ntype: stdout\nshort_description: results\ndescription: [results]\n"


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "countersign_results"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.began = {}

    def report(self, event, **fields):
        line = memoryview((json.dumps(dict(fields, event=event)) + "\n").encode())
        while line:
            line = line[os.write(1, line):]

    def v2_playbook_on_start(self, playbook):
        self.report("began", ansible=__version__)

    def v2_playbook_on_task_start(self, task, is_conditional):
        self.report("task", step=task.name)
        if os.read(0, 1) != b"g":
            os._exit(90)

    def v2_runner_on_start(self, host, task):
        self.began[host.name] = time.monotonic()
        self.report("started", host=host.name, step=task.name)

    def ended(self, kind, result):
        host, task, values = result._host.name, result._task.name, result._result
        stream = lambda name: base64.b64encode(
            str(values.get(name) or "").encode("utf-8", "surrogateescape")
        ).decode()
        began = self.began.pop(host, None)
        self.report(
            "ended", host=host, step=task, kind=kind, exit=values.get("rc"),
            timed_out="timedout" in values, message=str(values.get("msg") or ""),
            stdout=stream("stdout"), stderr=stream("stderr"),
            ms=0 if began is None else int((time.monotonic() - began) * 1000),
        )

    def v2_runner_on_ok(self, result):
        self.ended("ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.ended("failed", result)

    def v2_runner_on_unreachable(self, result):
        self.ended("unreachable", result)
