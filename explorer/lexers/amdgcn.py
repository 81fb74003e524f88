"""AMDGCN assembly as LLVM's AMDGPU back end writes it, with its directives and YAML metadata."""

from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from explorer.lexers.line_lexer import BLOCK_COMMENT, SPACE, STRING, LineLexer, Vocabulary

_WORDS = Vocabulary(
    Name,
    {
        Name.Variable: "vcc vcc_lo vcc_hi exec exec_lo exec_hi m0 scc null flat_scratch flat_scratch_lo"
        " flat_scratch_hi xnack_mask src_shared_base src_private_base src_shared_limit src_private_limit"
        " src_vccz src_execz src_scc",
        Name.Attribute: "off glc slc dlc scc sc0 sc1 nt lds gds tfe lwe offen idxen addr64 clamp quad_perm",
    },
)


class AmdgcnLexer(LineLexer):
    name = "AMDGCN assembly"
    url = "https://llvm.org/docs/AMDGPUUsage.html"
    aliases = ("triton-amdgcn",)
    filenames = ("*.amdgcn",)

    rules = (
        (r"(?:;|//)[^\n]*+", Comment.Single),
        (BLOCK_COMMENT, Comment.Multiline),
        (r"^([\w$.]++)(:)", (Name.Label, Punctuation)),
        (
            rf"^({SPACE})(-?+)({SPACE})([\w$.]++)(:)(?!\S)",
            (Text, Punctuation, Text, Name.Attribute, Punctuation),
        ),
        (rf"^({SPACE})(\.[a-z_]\w*+)", (Text, Keyword)),
        (rf"^({SPACE})([a-z]\w*+)", (Text, Name.Function)),
        (STRING, String),
        (r"'[^'\n]*+'?+", String),
        (r"\b(?:[vsa]|ttmp)(?:\d++\b|\[[\d:]++\])", Name.Variable),
        (r"\.L[\w$]*+", Name.Label),
        (r"[a-z_]\w*+(?=[:(])", Name.Attribute),
        (r"@\w++", Keyword),
        (r"-?0x[0-9a-fA-F]++\b", Number.Hex),
        (r"-?\d++(?:\.\d++)?+(?:[eE][-+]?\d++)?+\b", Number),
        (r"[\w$]++", _WORDS),
        (r"\.[\w$]++", Name),
        (r"(?:[][(){}<>,=]++ ?)++", Punctuation),
        (r"[:*+|!&%/@.-]", Punctuation),
    )
