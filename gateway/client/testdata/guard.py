import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from vaglio import Vaglio  # noqa: E402

ran = []
r = Vaglio(sys.argv[1], "the-token", patience=3).guard({"turn_id": "t", "executor": "x", "args": {"n": 1}}, lambda: ran.append(1), limit=int(sys.argv[2]) / 1000)
print(json.dumps({"ran": len(ran), "text": r.text, "edited": r.edited}))
