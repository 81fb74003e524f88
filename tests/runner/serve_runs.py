"""Do one run after the other, each in a separate process: requests in, events out, a line each.

python serve_runs.py

Events of a run end with its `Done`, or with a separate line if the process has crashed.
"""

import os
import sys

from explorer.model import Event, decode_request, encode_event
from explorer.runner.job import perform, warm_up


def main():
    warm_up()
    output = sys.stdout.fileno()

    def emit(event: Event) -> None:
        os.write(output, encode_event(event))

    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            perform(decode_request(line), emit)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            os.write(output, f'{{"event": "crash", "status": {status}}}\n'.encode())


if __name__ == "__main__":
    main()
