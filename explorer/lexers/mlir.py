"""MLIR as Triton prints it: TTIR, TTGIR, Gluon's first stage, and the LLVM dialect."""

from pygments.token import Comment, Keyword, Name, Number, Punctuation, String

from explorer.lexers.line_lexer import SPACE, STRING, LineLexer, Vocabulary

_NAME = r"[\w$.-]++"
_DOTTED = r"[A-Za-z_][\w$]*+(?:\.[\w$-]++)++"

_WORDS = Vocabulary(
    Name,
    {
        Keyword: "module attributes func public private nested loc callsite fused at to step iter_args else"
        " do while if for return affine_map affine_set resource external internal constant global_smem",
        Keyword.Constant: "true false dense unit array unknown sparse",
        Keyword.Type: "index none tensor memref vector tuple complex bf16 tf32 token",
    },
)


class MlirLexer(LineLexer):
    """All dialects have the same form: `%value = dialect.operation %operand {attribute = 1} : type`."""

    name = "MLIR of Triton"
    url = "https://mlir.llvm.org/docs/LangRef/"
    aliases = ("triton-mlir", "ttir", "ttgir", "glir", "mlir-llvm")
    filenames = ("*.ttir", "*.ttgir", "*.glir")

    rules = (
        (r"//[^\n]*+", Comment.Single),
        (r'"[a-z_]\w*+\.[\w.]++"(?=\()', Name.Function),
        (rf'"[\w.-]++"(?={SPACE}=)', Name.Attribute),
        (STRING, String),
        (r"%[\w$.-]++(?:#\d++)?+", Name.Variable),
        (r"\^[\w$.-]++", Name.Label),
        (r"@llvm\.[\w$.-]++", Name.Builtin),
        (rf"@(?:{_NAME}|{STRING})", Name.Class),
        (rf"#{_NAME}", Name.Decorator),
        (rf"!{_NAME}", Keyword.Type),
        (rf"{_DOTTED}(?={SPACE}[=,}}\]])", Name.Attribute),
        (_DOTTED, Name.Function),
        (rf"[A-Za-z_]\w*+(?={SPACE}=(?!=))", Name.Attribute),
        (r"(?:[su]?i|f)\d++(?:E\d++M\d++\w*+)?+\b", Keyword.Type),
        (r"0x[0-9A-Fa-f]++\b", Number.Hex),
        (r"(?:(?:\d++|\?)x)++", Number),
        (r"-?\d++(?:\.\d*+)?+(?:[eE][-+]?\d++)?+", Number),
        (r"\w++", _WORDS),
        (r"(?:[][(){}<>,=]++ ?)++", Punctuation),
        (r"->|::|:|[-+*/|&%#!^@?.;$~]", Punctuation),
    )
