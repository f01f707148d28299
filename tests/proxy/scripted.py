"""A model of the proxy that gives the assistant messages 001.json, 002.json, … of the folder named by SCRIPT, one for
each request, and stores there what it was sent."""
import json
import os

import litellm
from litellm import CustomLLM


class Scripted(CustomLLM):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.seen = []

    def _message(self, kwargs):
        folder = os.environ["SCRIPT"]
        self.count += 1
        with open(os.path.join(folder, f"seen{self.count}.json"), "w") as file:
            json.dump(kwargs.get("messages"), file)
        with open(os.path.join(folder, f"{self.count:03}.json")) as file:
            return json.load(file)

    def completion(self, *args, **kwargs):
        message = self._message(kwargs)
        response = litellm.ModelResponse(model="scripted")
        response.choices[0].message = litellm.Message(**message)
        response.choices[0].finish_reason = "tool_calls" if message.get("tool_calls") else "stop"
        return response

    async def acompletion(self, *args, **kwargs):
        return self.completion(*args, **kwargs)

    async def astreaming(self, *args, **kwargs):
        message = self._message(kwargs)
        def chunk(text="", call=None, last=False):
            reason = ("tool_calls" if message.get("tool_calls") else "stop") if last else ""
            return {"text": text, "tool_use": call, "is_finished": last, "finish_reason": reason, "index": 0, "usage": None}
        text = message.get("content") or ""
        for start in range(0, len(text), 9):
            yield chunk(text[start:start + 9])
        for index, call in enumerate(message.get("tool_calls") or []):
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            yield chunk(call={"id": call["id"], "type": "function", "index": index, "function": {"name": name, "arguments": ""}})
            for start in range(0, len(arguments), 11):
                yield chunk(call={"id": None, "type": "function", "index": index, "function": {"name": None, "arguments": arguments[start:start + 11]}})
        yield chunk(last=True)

scripted = Scripted()
