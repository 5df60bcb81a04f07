# Written by vaglio install; vaglio uninstall hermes removes it.
# What Hermes' own gate would ask its user is put to vaglio, whose people answer it.
# Whatever fails here raises, which Hermes takes for a denial.
import json
import os
import subprocess

HOOK = ["/opt/vaglio/bin/vaglio-hook","hermes","--limit","5m0s"]

# What Hermes tells of the calls that its gate asks about, by the ids of its requests.
_calls = {}


def _asked(**event):
    if event.get("surface") == "transport:vaglio":
        _calls[event.get("request_id")] = event


def _over(**event):
    _calls.pop(event.get("request_id"), None)


def _present(request):
    call = _calls.get(request.request_id, {})
    event = {
        "hook_event_name": "approval_request",
        "session_id": call.get("session_id") or call.get("session_key") or "",
        "cwd": os.getcwd(),
        "extra": {
            "command": request.command,
            "description": request.description,
            "turn_id": call.get("turn_id"),
            "tool_call_id": call.get("tool_call_id"),
        },
    }
    # Hermes waits no longer than this for an answer.
    limit = ["--limit", "%ds" % max(1, int(request.timeout_seconds))]
    told = subprocess.run(HOOK + limit, input=json.dumps(event), stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return request.respond(json.loads(told.stdout)["choice"])


def register(ctx):
    ctx.register_hook("pre_approval_request", _asked)
    ctx.register_hook("post_approval_response", _over)
    ctx.register_approval_transport("vaglio", _present)
