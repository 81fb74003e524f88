"""PTX as LLVM's NVPTX back end writes it, inline assembly included."""

from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from explorer.lexers.line_lexer import BLOCK_COMMENT, GAP, SPACE, STRING, LineLexer, any_of

_OPCODE = r"[a-z]\w*+"
_TYPE = r"\.(?:[busf]\d++(?:x\d)?|pred|tf32(?:x2)?|bf16(?:x2)?|e\d++m\d++(?:x\d)?)\b"
_SPECIAL_REGISTERS = (
    "tid ntid laneid warpid nwarpid ctaid nctaid smid nsmid gridid is_explicit_cluster clusterid nclusterid"
    " cluster_ctaid cluster_nctaid cluster_ctarank cluster_nctarank clock clock_hi clock64 globaltimer"
    " globaltimer_lo globaltimer_hi lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt"
    " dynamic_smem_size total_smem_size aggr_smem_size"
)


class PtxLexer(LineLexer):
    """An opcode starts a statement, follows a predicate, or precedes a modifier."""

    name = "PTX of Triton"
    url = "https://docs.nvidia.com/cuda/parallel-thread-execution/"
    aliases = ("triton-ptx",)
    filenames = ("*.ptx",)

    rules = (
        (r"//[^\n]*+", Comment.Single),
        (BLOCK_COMMENT, Comment.Multiline),
        (rf"^({SPACE})([\w$.]++)(:)(?!:)", (Text, Name.Label, Punctuation)),
        (rf"^({SPACE})({_OPCODE})(?![(:])", (Text, Name.Function)),
        (rf"(@!?+[%$\w]++)({GAP})({_OPCODE})", (Name.Variable, Text, Name.Function)),
        (r"@!?+[%$\w]++", Name.Variable),
        (STRING, String),
        (rf"%{any_of(_SPECIAL_REGISTERS.split())}(?:\.[xyzw]\b)?+", Name.Builtin),
        (r"%[\w$]++(?:\.[xyzw]\b)?+", Name.Variable),
        (r"\$[\w$]++", Name.Label),
        (_TYPE, Keyword.Type),
        (r"(?<=\w)(?:\.|::)\w++", Name.Attribute),
        (r"\.[A-Za-z_]\w*+", Keyword),
        (r"0[xX][0-9a-fA-F]++U?\b", Number.Hex),
        (r"0[fFdD][0-9a-fA-F]++\b", Number.Float),
        (r"-?\d++(?:\.\d++)?+(?:[eE][-+]?\d++)?+U?\b", Number),
        (rf"{_OPCODE}(?=\.[a-z])", Name.Function),
        (r"[\w$]++", Name),
        (r"(?:[][(){}<>,=;]++ ?)++", Punctuation),
        (r"[:*+|!~&^%/?@.$-]", Punctuation),
    )
