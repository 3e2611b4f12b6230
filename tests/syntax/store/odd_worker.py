"""A parser process that does what its files say: dies, hangs, eats memory; else parses."""

import os
import signal
import sys
import time

from vacmcpd.adapters.syntax import worker

REAL = worker.parsed


def parsed(job):
    if b"DIE" in job.content:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"ONCE" in job.content:
        # The first process that meets it dies, the next does not.
        try:
            descriptor = os.open(os.environ["ODD_WORKER_MARK"], os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return REAL(job)
        os.close(descriptor)
        os.kill(os.getpid(), signal.SIGKILL)
    if b"HANG" in job.content:
        time.sleep(600)
    if b"EAT" in job.content:
        raise MemoryError
    if b"SAY" in job.content:
        print("what a library says on standard output")
    if b"BUG" in job.content:
        raise KeyError("a mistake in an extractor")
    return REAL(job)


if __name__ == "__main__":
    if "--silent" in sys.argv:
        sys.exit("no grammar of this platform")
    worker.parsed = parsed
    worker.main()
