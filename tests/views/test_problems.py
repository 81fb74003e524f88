def test_a_person_gets_a_page(client):
    response = client.get("/nothing")
    assert response.status_code == 404
    assert response.mimetype == "text/html"
    assert "There is no page at /nothing" in response.get_data(as_text=True)


def test_what_the_address_says_cannot_become_markup(client):
    page = client.get("/<script>alert(1)</script>").get_data(as_text=True)
    assert "<script>alert" not in page


def test_an_address_cannot_turn_the_words_around_it(client):
    page = client.get("/n%E2%80%AEgpj%E2%80%8B").get_data(as_text=True)
    assert r"There is no page at /n\u202egpj\u200b. Check" in page


def test_a_program_gets_a_document(client):
    response = client.get("/api/v1/nothing")
    assert response.status_code == 404
    assert response.get_json().keys() == {"error", "kind", "detail", "request_id"}


def test_a_wrong_method_is_answered_with_the_right_ones(client):
    response = client.put("/api/v1/targets")
    assert response.status_code == 405
    assert response.get_json()["kind"] == "method_not_allowed"
    assert "GET" in response.headers["Allow"]


def test_errors_are_not_kept_by_caches(client):
    assert client.get("/api/v1/nothing").cache_control.no_store
