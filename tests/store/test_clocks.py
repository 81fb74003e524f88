"""A server with a wrong clock harms no results of other servers."""

import os
import subprocess
import sys
import time
from contextlib import closing
from datetime import timedelta

import pytest
from clocks import clock_environment
from served import ROOT

from explorer.model import Done, Request
from explorer.store import open_store
from explorer.store.entry_writer import EntryWriter

pytestmark = pytest.mark.slow

REQUEST = Request("source", "cuda:90", "3.9.0")


#: An S3 store refuses requests of a clock that is further off.
@pytest.mark.parametrize(("clock", "has_s3"), [("+3h", False), ("+14m", True)], ids=["folder", "s3"])
def test_a_process_with_a_wrong_clock_removes_nothing_that_is_young(
    tmp_path, postgresql, request, clock, has_s3
):
    blobs_url = request.getfixturevalue("blobs_url") if has_s3 else ""
    texts = request.getfixturevalue("bucket") / "texts" if has_s3 else tmp_path / "blobs"
    database_url = postgresql.new_database()
    file = tmp_path / "clock"
    file.write_text(clock)
    settings = {"DATABASE_URL": database_url, "BLOBS_URL": blobs_url}
    variables = {f"TRITON_EXPLORER_{name}": value for name, value in settings.items()}
    with closing(open_store(tmp_path, database_url, blobs_url=blobs_url)) as store:
        typed = store.submit(REQUEST, is_live=True)
        batch = store.batch()
        store.finish(typed.id, [EntryWriter(batch).write(Done("complete", 1.0))], batch)
        written = store.batch()
        address = written.add("a text that no row refers to yet")
        written.commit()
        (text,) = texts.rglob(f"{address}*")
        a_while_ago = time.time() - 120
        os.utime(text, (a_while_ago, a_while_ago))
        pruned = subprocess.run(
            [sys.executable, "-m", "explorer", "store", "prune", "--data-dir", str(tmp_path)],
            env={**os.environ, **variables, **clock_environment(file), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert pruned.returncode == 0, pruned.stderr
        assert store.find(typed.id).is_finished
        assert text.exists()


def test_a_token_ends_by_the_clock_of_the_database(tmp_path, postgresql):
    url = postgresql.new_database()
    file = tmp_path / "clock"
    file.write_text("+3h")
    program = f"""
from pathlib import Path
from explorer.store import open_store
for token in {{tokens!r}}:
    print(open_store(Path({str(tmp_path)!r}), {url!r}).tokens.find(token) is not None)
"""
    with closing(open_store(tmp_path, url)) as store:
        lifetimes = (timedelta(hours=1), timedelta(seconds=-1), None)
        tokens = [store.tokens.add("ada", lifetime=each)[0] for each in lifetimes]
        assert [each.is_expired for each in store.tokens.of("ada")].count(True) == 1
        answers = subprocess.run(
            [sys.executable, "-c", program.format(tokens=tokens)],
            env={**os.environ, **clock_environment(file), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
    assert answers.stdout.split() == ["True", "False", "True"], answers.stderr
