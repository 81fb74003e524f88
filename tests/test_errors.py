import re
from collections.abc import Iterator

from explorer import errors


def subclasses(base: type[errors.ExplorerError]) -> Iterator[type[errors.ExplorerError]]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = dict(re.findall(r"(\w+) +(\d{3})(?:\s|$)", errors.__doc__ or ""))
    known: set[type[errors.ExplorerError]] = {errors.ExplorerError, *subclasses(errors.ExplorerError)}
    own = {error.__name__: str(error.status) for error in known if error.__module__ == errors.__name__}
    assert drawn == own


def test_kinds_tell_errors_apart() -> None:
    own = [error for error in subclasses(errors.ExplorerError) if error.__module__ == errors.__name__]
    assert len({error.kind for error in own}) == len(own)
