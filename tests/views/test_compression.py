import gzip

import pytest
import zstandard


@pytest.mark.parametrize(
    ("encoding", "decode"),
    [("gzip", gzip.decompress), ("zstd", lambda data: zstandard.ZstdDecompressor().decompress(data))],
)
def test_large_texts_are_compressed(client, ticket, encoding, decode):
    url = ticket["api"] + "/stages/ptx"
    plain = client.get(url)
    packed = client.get(url, headers={"Accept-Encoding": encoding})
    assert packed.headers["Content-Encoding"] == encoding
    assert decode(packed.data) == plain.data
    assert len(packed.data) < len(plain.data) / 2
    assert "Accept-Encoding" in packed.headers["Vary"]
    headers = {"Accept-Encoding": encoding, "If-None-Match": packed.headers["ETag"]}
    assert client.get(url, headers=headers).status_code == 304


def test_an_encoding_that_is_refused_is_not_used(client, ticket):
    response = client.get(ticket["api"] + "/stages/ptx", headers={"Accept-Encoding": "gzip;q=0, identity"})
    assert "Content-Encoding" not in response.headers
