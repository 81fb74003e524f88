import io
import re

from PIL import Image


def test_a_link_names_a_picture_by_its_whole_address(client, ticket):
    text = client.get(ticket["url"], base_url="http://127.0.0.1:8000").text
    image = f"http://127.0.0.1:8000{ticket['url']}/card.png"
    assert f'<meta property="og:image" content="{image}">' in text
    assert '<meta name="twitter:card" content="summary_large_image">' in text
    assert f'<meta property="og:url" content="http://127.0.0.1:8000{ticket["url"]}">' in text
    assert "og:image" not in client.get("/").text
    assert "og:image" not in client.get(f"/embed/{ticket['id']}").text


def test_the_picture_is_kept_for_ever_and_shown_anywhere(client, ticket):
    response = client.get(f"{ticket['url']}/card.png")
    assert response.mimetype == "image/png"
    assert Image.open(io.BytesIO(response.data)).size == (1200, 630)
    assert response.cache_control.immutable
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    again = client.get(f"{ticket['url']}/card.png", headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_a_picture_of_what_is_under_way_is_asked_for_again(client, api, endless):
    ticket = api.submit(endless).get_json()
    response = client.get(f"{ticket['url']}/card.png")
    client.delete(ticket["api"])
    assert response.status_code == 200
    assert response.cache_control.no_cache
    assert not response.cache_control.immutable


def test_there_is_no_picture_of_nothing(client):
    assert client.get("/k/7Qm2xV9dKcAB/card.png").status_code == 404


def test_the_sizes_of_the_page_are_those_of_the_picture(client, ticket):
    text = client.get(ticket["url"]).text
    sizes = re.findall(r'og:image:(?:width|height)" content="(\d+)"', text)
    assert sizes == ["1200", "630"]
