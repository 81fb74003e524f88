"""The readable tree of a Python AST: a line per node (`BinOp  # 12:4`), fields indented (`left:`)."""

from pygments.token import Comment, Keyword, Name, Number, Punctuation, String

from explorer.lexers.line_lexer import SPACE, STRING, LineLexer, Vocabulary

_CAPITALIZED = Vocabulary(Name.Class, {Keyword.Constant: "None True False Ellipsis"})


class PythonAstLexer(LineLexer):
    name = "Python AST"
    url = "https://docs.python.org/3/library/ast.html"
    aliases = ("python-ast",)

    rules = (
        (r"#[^\n]*+", Comment.Single),
        (rf"[bfru]?{STRING}", String),
        (r"[bfru]?'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?+", String),
        (rf"[A-Za-z_]\w*+(?={SPACE}[:=])", Name.Attribute),
        (r"[A-Z]\w*+", _CAPITALIZED),
        (r"-?(?:0x[0-9a-fA-F]++|\d++(?:\.\d*+)?+(?:e[-+]?\d++)?+j?)\b", Number),
        (r"\w++", Name),
        (r"[][(){}<>,=:.*+|/%@&^~-]", Punctuation),
    )
