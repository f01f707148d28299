"""A client of the server, by the official SDK. It reads calls from stdin, one {"tool", "arguments"} a line, and prints what
the server answers.

    client.py MODE PROGRAM ARGUMENT...

MODE is `legacy` (with initialize), `auto` (server/discover first) or a revision.
"""

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation


def show(value):
    print(json.dumps(value), flush=True)


async def main(mode, command):
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    info = Implementation(name="heron", title="Grey Heron", version="7")
    async with Client(server, mode=mode, client_info=info) as client:
        listed = await client.list_tools()
        show({
            "revision": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            "tools": [tool.name for tool in listed.tools],
        })
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            call = json.loads(line)
            try:
                result = await client.call_tool(call["tool"], call["arguments"])
                text = result.content[0].text
                show({"is_error": bool(result.is_error), "text": text, "result": result.structured_content})
            except MCPError as error:
                show({"code": error.error.code, "text": error.error.message})


anyio.run(main, sys.argv[1], sys.argv[2:])
