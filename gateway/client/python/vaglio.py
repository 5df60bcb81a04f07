"""Asks vaglio before a call runs. One file, no dependencies: copy it.

    gate = Vaglio("http://127.0.0.1:8787", token=os.environ["VAGLIO_TOKEN"])
    r = gate.guard({"executor": "send_mail", "args": args}, lambda: send_mail(**args))
    if not r.run:
        return r.text  # why not, for the model to read

Whatever fails is a refusal: only run=True means that the call may run, once.
"""

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Optional


class Problem(Exception):
    """What the daemon answered instead of a decision."""

    def __init__(self, status: int, said: dict, after: int):
        super().__init__(said.get("detail") or f"vaglio answered with status {status}")
        self.status, self.type, self.after = status, said.get("type"), after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


@dataclass
class Ruling:
    run: bool
    text: str = ""  # why it does not run
    id: Optional[str] = None  # the question that a person was asked
    words: str = ""  # what the person said who allowed it
    question: str = ""  # what a person asks first; ask again about the same call, with answer
    edited: Optional[dict] = None  # the executor and args that a person allowed instead, once; ask about those to run them
    value: Any = None  # what the call returned
    _gate: Optional["Vaglio"] = None

    def report(self, succeeded: bool, detail: str = "") -> None:
        """Tells how the run ended. What nobody was asked about has nothing to tell."""
        if self.run and self.id and self._gate:
            self._gate._send("POST", _approval(self.id) + "/outcome", {"succeeded": succeeded, "detail": detail[:1000]})


def _approval(id: str) -> str:
    return "/v1/approvals/" + urllib.parse.quote(id, safe="")


def _asked(a: dict) -> bool:
    question = a.get("question")
    return isinstance(question, dict) and not question.get("repeated")


def _form(edited: Any) -> Optional[dict]:
    return {"executor": edited.get("executor"), "args": edited.get("args")} if isinstance(edited, dict) else None


def _because(why: str, id: Optional[str] = None) -> Ruling:
    return Ruling(False, "vaglio: this call did not run: " + why, id)


class Vaglio:
    """The agent's side of one daemon. It may be used by several threads."""

    def __init__(self, url: str = "http://127.0.0.1:8787", token: str = "", patience: float = 30):
        self._base, self._token, self._patience = url.rstrip("/"), token, patience
        # No proxy and no redirect: what is proposed goes to the daemon and nowhere else.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect).open

    def _send(self, method: str, path: str, body: Any = None, key: str = "", wait: float = 0) -> Any:
        headers = {"Authorization": "Bearer " + self._token}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if key:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(self._base + path, data=data, headers=headers, method=method)
        try:
            with self._open(request, timeout=wait + 30) as response:
                text = response.read()
        except urllib.error.HTTPError as e:
            try:
                said = json.loads(e.read())
            except (ValueError, OSError, http.client.HTTPException):
                said = {}
            after = e.headers.get("Retry-After", "")
            raise Problem(e.code, said if isinstance(said, dict) else {}, int(after) if after.isdigit() else 0) from None
        return json.loads(text) if text else None

    def _persist(self, exchange: Callable[[], Any]) -> Any:
        """Asks again while the daemon is away or asks for patience; the key makes that safe."""
        since, rest = time.monotonic(), 0.1
        while True:
            try:
                return exchange()
            except (Problem, OSError, http.client.HTTPException) as e:
                if isinstance(e, Problem) and e.status != 503:
                    raise
                pause = max(rest, getattr(e, "after", 0))
                if time.monotonic() + pause - since > self._patience:
                    raise
            time.sleep(pause)
            rest = min(2 * rest, 1)

    def _decide(self, call: dict, key: str, until: float, answer: str) -> Any:
        def part() -> tuple[float, str]:
            wait = max(0.0, min(50.0, until - time.monotonic()))
            return wait, f"?wait={int(wait * 1000)}ms" if wait >= 0.001 else ""

        wait, query = part()
        a = self._persist(lambda: self._send("POST", "/v1/proposals" + query, {**call, "answer": answer} if answer else call, key, wait))
        while isinstance(a, dict) and a.get("decision") == "pending" and a.get("approval") and not _asked(a) and time.monotonic() < until:
            id, began = a["approval"]["id"], time.monotonic()
            wait, query = part()
            a = self._persist(lambda: self._send("GET", _approval(id) + query, wait=wait))
            # An answer that came early is a daemon that lets its waiters go.
            if a.get("decision") == "pending" and not _asked(a) and time.monotonic() - began < wait / 2:
                time.sleep(min(1, wait))
        return a

    def ask(self, call: dict, key: str = "", limit: float = 3600, answer: str = "") -> Ruling:
        """Asks about one call, and waits for a person at most limit seconds; answer is for their question."""
        key, until, id = key or str(uuid.uuid4()), time.monotonic() + limit, None
        proposal = {**call, "args": call.get("args") or {}}
        try:
            for n in range(5):
                a = self._decide(proposal, f"{key}.{n}" if n else key, until, answer)
                decision, permit = a.get("decision"), a.get("permit")
                id = (a.get("approval") or {}).get("id")
                if decision == "allow" and not permit and (a.get("verdict") or {}).get("approved") is True:
                    return Ruling(True)
                if decision == "deny":
                    return Ruling(False, a.get("text") or "vaglio: this call did not run", id, edited=_form(a.get("edited")))
                if decision == "pending" and id and _asked(a):
                    return Ruling(False, a.get("text") or "vaglio: this call has not run yet", id, question=a["question"].get("words", ""))
                if decision == "pending" and id:
                    return _because(f"held as {id}: nobody has answered yet. Repeat the same call after the answer, which then counts for it once", id)
                if decision != "allow" or not permit or not id:
                    break
                try:
                    self._send("POST", "/v1/permits/" + urllib.parse.quote(permit["permit"], safe="") + "/redeem", proposal)
                except Problem as e:
                    if e.type == "/problems/spent":
                        continue  # An equal call used it: one yes serves one call.
                    raise
                return Ruling(True, id=id, words=a["approval"].get("words", ""), _gate=self)
            else:
                return _because("equal calls kept using up its permits; repeat the same call", id)
            return _because("vaglio gave an answer that this client does not understand", id)
        except Problem as e:
            return _because(str(e), id)
        except Exception:  # Whatever it is, the call was not allowed.
            return _because("vaglio could not be asked", id)

    def guard(self, call: dict, run: Callable[[], Any], **options: Any) -> Ruling:
        """Asks, runs the call if it may, and tells how it ended."""
        r = self.ask(call, **options)
        if not r.run:
            return r
        try:
            r.value = run()
        except BaseException:
            self._tell(r, False)
            raise
        self._tell(r, True)
        return r

    def _tell(self, r: Ruling, succeeded: bool) -> None:
        try:
            r.report(succeeded)
        except Exception:  # The run has ended; that it could not be told stays unknown.
            pass
