"""Runs a command after a person has allowed it:

    python3 gated.py [--wait SECONDS] [--vaglio PROGRAM] -- COMMAND…

Starts vaglio's daemon if none runs, and ends the one that it started. The command's
exit code becomes this one's; 1 it did not run: nobody answered in time, somebody said
no, or vaglio could not be asked; 2 a mistake in the command line.

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


def data_dir() -> str:
    given = os.environ.get("METNOS_DATA_DIR")
    return os.path.expanduser(given) if given else os.path.expanduser("~/.local/share/metnos")


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
        with open(os.path.join(data_dir(), "agent.token"), encoding="utf-8") as f:
            token = f.read().strip()
        gate = Vaglio(os.environ.get("VAGLIO_URL", "http://" + os.environ.get("METNOS_LISTEN", "127.0.0.1:8787")), token)
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
    except OSError as e:
        print(f"vaglio: {e}; the command did not run", file=sys.stderr)
        return 1
    finally:
        if daemon is not None and daemon.poll() is None:
            daemon.terminate()
            daemon.wait()


if __name__ == "__main__":
    sys.exit(main())
