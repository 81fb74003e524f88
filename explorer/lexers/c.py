"""The C that PTX is translated to."""

from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from explorer.lexers.line_lexer import BLOCK_COMMENT, SPACE, STRING, LineLexer, any_of

_TYPES = (
    "void bool char float double half bfloat16 int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t"
    " uint64_t uint128_t"
)
_WORDS = (
    "if else do while for goto break continue return asm extern shared local constant const true false NULL"
    " INFINITY"
)


class CLexer(LineLexer):
    """A name is a function if a parenthesis follows it."""

    name = "C of Triton's PTX"
    aliases = ("triton-c",)
    filenames = ("*.c",)

    rules = (
        (r"//[^\n]*+", Comment.Single),
        (BLOCK_COMMENT, Comment.Multiline),
        (rf"^({SPACE})(\w++)(:)", (Text, Name.Label, Punctuation)),
        (STRING, String),
        (any_of(_WORDS.split()), Keyword),
        (any_of(_TYPES.split()), Keyword.Type),
        (r"\b(?:float|double|u?(?:char|short|int|longlong))[248]\b", Keyword.Type),
        (r"(?:threadIdx|blockIdx|blockDim|gridDim)\.[xyz]\b", Name.Builtin),
        (r"[A-Za-z_$]\w*+(?=\()", Name.Function),
        (r"[A-Za-z_$]\w*+", Name.Variable),
        (r"0[xX][0-9a-fA-F]++[uUlL]*+", Number.Hex),
        (r"\d++(?:\.\d++)?+(?:[eE][-+]?\d++)?+[fuUlL]*+", Number),
        (r"[][(){}<>,=;.:*+|!~&^%/?-]++", Punctuation),
    )
