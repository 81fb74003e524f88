"""Test the message about a worker that ended without a verdict."""

from unittest.mock import Mock

from explorer.sandbox.settings import Limits
from explorer.sandbox.warden import describe_end

EXITED = 1 << 8
CPP_OUTPUT = "LLVM ERROR: IO failure on output stream: File too large\n"


def test_a_file_that_is_too_large_names_the_limit_and_what_to_do():
    told = describe_end(EXITED, CPP_OUTPUT, Limits(), Mock())
    assert told.message == "The compiler wrote a file of more than 64 MiB, the limit of a job."
    assert told.hint == "Use smaller tiles or fewer stages."


def test_another_exit_names_its_status():
    assert "exit status 1" in describe_end(EXITED, "", Limits(), Mock()).message
