from explorer.documents import split_lines
from explorer.views.lines import lines_document


def test_lines_of_megabytes_come_without_colours(app):
    text = "%a" * 1_000_000 + "\nmodule {\n\n"
    with app.test_request_context("/"):
        document = lines_document(split_lines(text), "ttir")
    assert [line.tokens for line in document.lines] == [[("", "%a" * 1_000_000)], [("", "module {")], []]
    with app.test_request_context("/?from=2"):
        document = lines_document(split_lines(text), "ttir")
    assert document.lines[0].tokens[0] == ("k", "module")
