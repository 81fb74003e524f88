"""LLVM IR, with the intrinsics of the NVPTX and AMDGPU back ends.

Pygments' own lexer for LLVM is quadratic on a long word, and writes instructions, types and attributes
all in one color.
"""

from pygments.token import Comment, Keyword, Name, Number, Punctuation, String

from explorer.lexers.line_lexer import STRING, LineLexer, Vocabulary

_NAME = rf"(?:[\w$.-]++|{STRING})"

_WORDS = Vocabulary(
    Keyword,
    {
        Name.Function: "add addrspacecast alloca and ashr atomicrmw bitcast br call callbr catchpad catchret"
        " catchswitch cleanuppad cleanupret cmpxchg extractelement extractvalue fadd fcmp fdiv"
        " fence fmul fneg fpext fptosi fptoui fptrunc freeze frem fsub getelementptr icmp"
        " indirectbr insertelement insertvalue inttoptr invoke landingpad load lshr mul or phi"
        " ptrtoaddr ptrtoint resume ret sdiv select sext shl shufflevector sitofp srem store sub"
        " switch trunc udiv uitofp unreachable urem va_arg xor zext",
        Keyword.Type: "void half bfloat float double fp128 x86_fp80 ppc_fp128 label metadata token ptr",
        Keyword.Constant: "true false null none undef poison zeroinitializer",
        Punctuation: "x",
    },
)


class LlvmLexer(LineLexer):
    name = "LLVM IR of Triton"
    url = "https://llvm.org/docs/LangRef.html"
    aliases = ("triton-llvm", "llir")
    filenames = ("*.llir",)

    rules = (
        (r";[^\n]*+", Comment.Single),
        (rf"^({_NAME})(:)", (Name.Label, Punctuation)),
        (r"(?:[][(){}<>,=]++ ?)++", Punctuation),
        (rf"%{_NAME}", Name.Variable),
        (rf"c?{STRING}", String),
        (r"@llvm\.[\w$.-]++", Name.Builtin),
        (rf"@{_NAME}", Name.Class),
        (r"![\w$.-]++", Name.Decorator),
        (r"#\w++", Name.Decorator),
        (r"[A-Za-z_]\w*+(?=:)", Name.Attribute),
        (r"i\d++\b", Keyword.Type),
        (r"f?0x[KLMHR]?[0-9A-Fa-f]++\b", Number.Hex),
        (r"[-+]?\d++(?:\.\d*+)?+(?:[eE][-+]?\d++)?+", Number),
        (r"[-+](?:inf|[qs]?nan)\b", Number),
        (r"[\w$]++", _WORDS),
        (r"[:*|!.^+-]", Punctuation),
    )
