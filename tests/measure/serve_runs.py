"""Do one run after the other, each in a process of its own: requests in, events out, a line each.

python serve_runs.py

Events of a run end with its `Done`, or with a line of their own where the process has crashed.
"""

import os
import sys

from explorer.measure.job import perform, warm_up
from explorer.model import decode_request, encode_event


def main():
    warm_up()
    output = sys.stdout.fileno()
    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            perform(decode_request(line), lambda event: os.write(output, encode_event(event)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            os.write(output, f'{{"event": "crash", "status": {status}}}\n'.encode())


if __name__ == "__main__":
    main()
