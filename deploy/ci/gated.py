"""Runs a command after a person has allowed it:

    python3 gated.py [--wait SECONDS] [--vaglio PROGRAM] -- COMMAND…

Starts vaglio's daemon if none runs, and ends the one that it started. Exits as the
command did. Exits with 1 if the command did not run, because nobody answered in time,
somebody said no or vaglio could not be asked, and with 2 after a mistake in the command line.

It finds vaglio.py beside itself, or in the repository.
"""

import argparse
import os
import shlex
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "gateway", "client", "python")]
from vaglio import Vaglio  # noqa: E402


class Setup(Exception):
    """A variable of the environment that cannot be meant."""


def data_dir() -> str:
    given = os.environ.get("METNOS_DATA_DIR")
    if given is None:
        return os.path.expanduser("~/.local/share/metnos")
    if not (given.startswith("/") or given.startswith("~/")):
        raise Setup("METNOS_DATA_DIR: must be an absolute path, or unset")
    return os.path.expanduser(given)


def agent_token() -> str:
    """The agent's token, where every agent's is: in METNOS_AGENT_TOKEN, in the file that
    METNOS_AGENT_TOKEN_FILE names, else that of the agent `default` in the data folder."""
    given, file = os.environ.get("METNOS_AGENT_TOKEN"), os.environ.get("METNOS_AGENT_TOKEN_FILE")
    if given is not None and file is not None:
        raise Setup("METNOS_AGENT_TOKEN: is set, and so is METNOS_AGENT_TOKEN_FILE; set one of them")
    if given is not None:
        if not given:
            raise Setup("METNOS_AGENT_TOKEN: is set but empty; unset it, or give the token")
        return given
    path = os.path.join(data_dir(), "agent.token") if file is None else file
    with open(path, encoding="utf-8") as f:
        token = f.read().strip()
    if not token:
        raise Setup(path + " is empty")
    return token


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a command after a person has allowed it.")
    parser.add_argument("--wait", type=float, default=1800, help="how many seconds to wait for the person")
    parser.add_argument("--vaglio", default="vaglio", help="vaglio's program")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    o = parser.parse_args()
    command = o.command[1:] if o.command[:1] == ["--"] else o.command
    if not command or o.wait <= 0:
        parser.error("give the command behind --, and a wait of more than 0")

    def runs() -> bool:
        return subprocess.run([o.vaglio, "pending"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    daemon = None
    try:
        if not runs():
            daemon = subprocess.Popen([o.vaglio, "serve"], stdout=sys.stderr)
            started = time.monotonic()
            while not runs():
                if daemon.poll() is not None or time.monotonic() - started > 60:
                    print("vaglio: the daemon did not start; the command did not run", file=sys.stderr)
                    return 1
                time.sleep(0.1)
        gate = Vaglio(os.environ.get("VAGLIO_URL", "http://" + os.environ.get("METNOS_LISTEN", "127.0.0.1:8787")), agent_token())
        call = {"executor": "shell_exec", "args": {"command": shlex.join(command)}, "context": {"capability": "code:exec", "cwd": os.getcwd()}}
        r = gate.ask(call, limit=o.wait)
        if not r.run:
            print(r.text, file=sys.stderr)
            return 1
        code = subprocess.run(command).returncode
        try:
            r.report(code == 0, f"exit code {code}")
        except Exception as e:  # It ran; that this could not be told changes nothing.
            print(f"vaglio: how it ended could not be told: {e}", file=sys.stderr)
        return code if code >= 0 else 128 - code
    except (OSError, Setup) as e:
        print(f"vaglio: {e}; the command did not run", file=sys.stderr)
        return 1
    finally:
        if daemon is not None and daemon.poll() is None:
            daemon.terminate()
            daemon.wait()


if __name__ == "__main__":
    sys.exit(main())
