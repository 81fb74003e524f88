"""The pages that a rehearsal writes are copied before a job writes them."""

import subprocess
import sys

_PAGES = 2000
_SCRIPT = f"""
import mmap, os, resource
from explorer.sandbox import written_pages

memory = mmap.mmap(-1, {_PAGES} * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

def write(byte):
    for page in range(0, {_PAGES}, 2):
        memory[page * mmap.PAGESIZE] = byte

def count_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

memory[:] = bytes([1]) * len(memory)
written_pages.find(lambda: write(2))
for copies in (False, True):
    child = os.fork()
    if child == 0:
        if copies:
            written_pages.copy()
        before = count_faults()
        write(3)
        print(count_faults() - before, memory[0], memory[mmap.PAGESIZE], flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(memory[0])
"""


def test_a_process_copies_the_pages_that_the_rehearsal_wrote():
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    without, copied, parent = (line.split() for line in done.stdout.splitlines())
    assert int(without[0]) >= _PAGES // 2
    assert int(copied[0]) < _PAGES // 20
    assert without[1:] == copied[1:] == ["3", "1"]
    assert parent == ["1"]
