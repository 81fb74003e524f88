"""SASS as nvdisasm prints it, with or without a column of control codes before or after the address."""

from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from explorer.lexers.line_lexer import BLOCK_COMMENT, GAP, SPACE, STRING, LineLexer

_OPCODE = r"[A-Z][A-Z0-9_]*+"
_GUARD = r"@!?+U?P[0-9T]++"
_CONTROL = r"B[\d-]{6}:R[\d-]:W[\d-]:[\w-]:S\d++"
_ADDRESS = r"/\*[0-9a-f]++\*/"


class SassLexer(LineLexer):
    """An opcode is the first word after the address, the control codes or the guarding predicate."""

    name = "SASS"
    url = "https://docs.nvidia.com/cuda/cuda-binary-utilities/"
    aliases = ("triton-sass",)
    filenames = ("*.sass",)

    rules = (
        (r"//[^\n]*+", Comment.Single),
        *(
            (rf"({prefix})({GAP})({_OPCODE})\b", (token, Text, Name.Function))
            for prefix, token in (
                (_GUARD, Name.Variable),
                (_CONTROL, Comment.Special),
                (_ADDRESS, Comment),
            )
        ),
        (_CONTROL, Comment.Special),
        (BLOCK_COMMENT, Comment),
        (_GUARD, Name.Variable),
        (rf"^({SPACE})([\w$.]++)(:)", (Text, Name.Label, Punctuation)),
        (rf"^({SPACE})(\.[a-z_]\w*+)", (Text, Keyword)),
        (STRING, String),
        (r"(?<=\w)\.\w++", Name.Attribute),
        (r"\.L[\w$]*+", Name.Label),
        (r"\b(?:U?R|U?P|S?B)(?:\d++|Z|T)\b", Name.Variable),
        (r"\b(?:SR_\w++|SRZ|U?PR)\b", Name.Builtin),
        (r"[a-z]\w*+(?=\[)", Keyword),
        (r"@\w++", Keyword),
        (r"[?&]\w++", Comment.Special),
        (r"[-+]?0x[0-9a-f]++\b", Number.Hex),
        (r"[-+]?(?:\d++(?:\.\d*+)?+(?:e[-+]?\d++)?+|(?:INF|[QS]?NAN)\b)", Number),
        (r"[\w$]++", Name),
        (r"\.[\w$]++", Name),
        (r"(?:[][(){}<>,=;]++ ?)++", Punctuation),
        (r"[:*+|!~&`@.-]", Punctuation),
    )
