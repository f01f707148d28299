"""An agent of the Agent Client Protocol that does what a script says, for tests of the client.

Its argument is a JSON file: {"initialize": RESULT, "new": RESULT, "turn": [ACTION, ...]}, where a missing result is a
usual one, and {"error": ...} instead of a result is an error. What the client answers to a request is told as words, one
JSON document per line. "$SESSION" in a request is the id of the session.
"""

import json
import os
import signal
import sys

SESSION = "session-1"
script = json.load(open(sys.argv[1]))
next_id = 0


def send(message):
    message["jsonrpc"] = "2.0"
    print(json.dumps(message), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def update(content):
    params = {"sessionId": SESSION, "update": content}
    send({"method": "session/update", "params": params})


def say(value):
    text = json.dumps(value) + "\n"
    update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})


def request(method, params):
    global next_id
    params.setdefault("sessionId", SESSION)
    send({"id": next_id, "method": method, "params": params})
    answer = receive()
    while answer.get("method") == "session/cancel":
        say({"cancelled": True})
        answer = receive()
    if answer.get("id") != next_id:
        say({"other id": answer})
    next_id += 1
    say(answer.get("result", answer.get("error")))


def write_itself(path, text):
    try:
        with open(path, "w") as file:
            file.write(text)
        say("the agent has written it itself")
    except OSError as error:
        say("the agent cannot write it: " + os.strerror(error.errno))


def act(action):
    kind, value = next(iter(action.items()))
    if kind == "request":
        request(value["method"], value["params"])
    elif kind == "update":
        update(value)
    elif kind == "raw":
        print(value, flush=True)
    elif kind == "exchange":
        print(value, flush=True)
        say(receive().get("error"))
    elif kind == "close the output":
        os.close(1)
        while True:
            signal.pause()
    elif kind == "repeat":
        sys.stdout.write(value[0] * value[1])
        sys.stdout.flush()
    elif kind == "stderr":
        print(value, file=sys.stderr, flush=True)
    elif kind == "write":
        write_itself(value[0], value[1])
    elif kind == "sleep":
        while True:
            receive()
    elif kind == "ignore the end":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    elif kind == "exit":
        sys.exit(value)


def answer_with(message, result):
    if "error" in result:
        send({"id": message["id"], "error": result["error"]})
    else:
        send({"id": message["id"], "result": result})


for action in script.get("before", []):
    act(action)
while True:
    message = receive()
    method = message.get("method")
    if method == "initialize":
        usual = {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "7"}}
        answer_with(message, script.get("initialize", usual))
    elif method == "session/new":
        answer_with(message, script.get("new", {"sessionId": SESSION}))
    elif method == "session/prompt":
        for action in script.get("turn", []):
            act(action)
        send({"id": message["id"], "result": {"stopReason": script.get("reason", "end_turn")}})
