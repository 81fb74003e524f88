"""Record results of each kind in a data folder: `python tests/record_version.py <new folder>`.

Write into the folder `backup.tar` of the data folder, `answers.zip` with what the API answered about its
contents (one file an address), `archive.zip` of the first compilation, and `ids.json` with all IDs.
"""

import json
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings

#: The deletion token of all submissions, and the key of the private ones.
TOKEN, KEY = "a-token-of-the-recorded-results-1", "0123456789abcdef" * 2
SOURCE = """import torch
import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, VALUE: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, 128), VALUE)


fill[(1,)](torch.empty(128, device="cuda"), VALUE={value})
"""
RUN = {"device": "interpreter", "measures": ["counts"]}
API = "/api/v1"


class Recorder:
    """A client that submits results and waits for them."""

    def __init__(self, client):
        self.client = client
        self.ids = {}

    def get(self, address):
        response = self.client.get(address)
        assert response.status_code == 200, response.text
        return response

    def submit(self, name, path, **body):
        response = self.client.post(f"{API}/{path}", json=body, headers={"Deletion-Token": TOKEN})
        assert response.status_code < 300, response.text
        ticket = response.get_json()
        if "events" in ticket and path != "runs/imported":
            self.get(ticket["events"])
        while path == "matrices" and self.get(ticket["api"]).get_json()["is_at_work"]:
            time.sleep(0.05)
        self.ids[name] = ticket["id"]
        return ticket["id"]

    def submit_all(self):
        """Submit a result of each kind, public and private."""
        for kind, private in (("", False), ("private ", KEY)):
            body = {"source": SOURCE.format(value=1), "target": "cuda:90", "private": private}
            compilation = self.submit(f"{kind}compilation", "compilations", **body)
            run = self.submit(f"{kind}run", "runs", compilation=compilation, run=RUN)
            kernels = [{"compilation": compilation, "launches": 3}]
            self.submit(f"{kind}session", "sessions", title=f"A {kind}program", kernels=kernels)
            self.submit(f"{kind}matrix", "matrices", compilation=body, targets=["cuda:90", "cuda:80"])
        stages = {"ttir": self.get(f"{API}/compilations/{compilation}/stages/ttir?raw=1").text}
        # The kernel is not compiled here: this run has no compilation of its own.
        capture = {"source": SOURCE.format(value=2), "target": "cuda:90", "kernel": "fill", "stages": stages}
        captured = self.submit("capture", "captures", triton="3.5.9", again=False, **capture)
        self.submit("run of a capture", "runs", compilation=captured, run=RUN)
        compilation = self.ids["compilation"]
        counts = self.get(f"{API}/runs/{run}/measurements/counts").get_json()
        fields = {"compilation": compilation, "run": RUN, "measurements": {"counts": counts}}
        self.submit("imported run", "runs/imported", **fields)
        retained = self.client.put(f"{API}/compilations/{compilation}/retention")
        assert retained.status_code == 204, retained.text

    def addresses(self):
        """Yield the addresses of the documents of all results."""
        for name, result_id in self.ids.items():
            if "run" in name:
                yield from (f"{API}/runs/{result_id}", f"{API}/runs/{result_id}/measurements/counts")
            elif "session" in name:
                yield f"{API}/sessions/{result_id}"
            elif "matrix" in name:
                yield from (f"{API}/matrices/{result_id}{part}" for part in ("", "/table.csv", "/table.md"))
            else:
                address = f"{API}/compilations/{result_id}"
                yield from (address, f"{address}/source", f"{address}/stages/ttir?raw=1", f"{address}/runs")


def main(folder: Path) -> None:
    folder.mkdir()
    with tempfile.TemporaryDirectory() as data:
        app = create_app(Settings(data_dir=Path(data), slots=1))
        services = services_of(app)
        recorder = Recorder(app.test_client())
        recorder.submit_all()
        with zipfile.ZipFile(folder / "answers.zip", "w", zipfile.ZIP_DEFLATED) as answers:
            for address in recorder.addresses():
                answers.writestr(address, recorder.get(address).data)
        archive = f"{API}/compilations/{recorder.ids['compilation']}/archive.zip"
        (folder / "archive.zip").write_bytes(recorder.get(archive).data)
        (folder / "ids.json").write_text(json.dumps(recorder.ids, indent=2) + "\n")
        services.store.write_uses()
        services.store.back_up(folder / "backup.tar")
        services.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
