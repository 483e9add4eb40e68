"""What a user would call instead. A peer is one function in the table.

PEERS[kind][name](case) gives a function of the case's inputs that returns its
outputs, ordered and laid out as the case says. Either may raise Unavailable
with the reason. To add a peer, add a function and a line of the table.

The first peer of a kind is eager torch in the case's own type, without tricks:
its error is the yardstick for ours.
"""
import torch
import torch.nn.functional as f
from torch.nn.attention import SDPBackend, sdpa_kernel

from cases import Rope, Rows
from fronts import Fronted
from gpt2 import hidden, unfused


class Unavailable(Exception):
    pass


def compiled(function):
    """torch.compile of a function, or why there is none."""
    if not torch.cuda.is_available():
        raise Unavailable("no GPU to compile for")
    # All closures of one function share a cache, whose size is limited: beyond
    # it torch would quietly run eagerly.
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False)


# ---- attention --------------------------------------------------------------

def _sdpa(backend):
    def make(case):
        if not torch.cuda.is_available():
            raise Unavailable("no GPU")
        grouped = case.p["H"] != case.p["Hk"]

        def run(*inputs):
            q, k, v = (t.transpose(1, 2) for t in inputs)
            with sdpa_kernel(backend):
                o = f.scaled_dot_product_attention(
                    q, k, v, is_causal=case.p["causal"], scale=case.scale(),
                    enable_gqa=grouped)
            return (o.transpose(1, 2),)
        return run
    return make


def _flash_attention_4(case):
    """Of the package flash-attn-4, whose path for Hopper compiles itself."""
    try:
        from flash_attn.cute import flash_attn_func
    except ImportError as error:
        raise Unavailable(f"flash-attn-4 is not installed: {error}") from error

    def run(q, k, v):
        made = flash_attn_func(q, k, v, softmax_scale=case.scale(),
                               causal=case.p["causal"])
        return (made[0] if isinstance(made, tuple) else made,)
    return run


def _unfused_attention(case):
    """Scores, softmax and sum as three steps; at most 8 GB of scores."""
    p = case.p
    if p["B"] * p["H"] * p["S"] ** 2 * 2 > 8e9:
        raise Unavailable("its scores would take more than 8 GB")
    share = p["H"] // p["Hk"]

    def run(*inputs):
        q, k, v = (t.transpose(1, 2) for t in inputs)
        if share > 1:
            k, v = (t.repeat_interleave(share, 1) for t in (k, v))
        s = torch.matmul(q, k.transpose(-1, -2)) * case.scale()
        if p["causal"]:
            s = s.masked_fill(hidden(p["S"], s.device), float("-inf"))
        return (torch.matmul(s.softmax(-1), v).transpose(1, 2),)
    return run


# ---- products and rows ------------------------------------------------------

def _product(case):
    epilogue, nt = case.p["epilogue"], case.p["layout"] == "nt"

    def run(x, w, extra=None):
        if epilogue == "bias_gelu":
            y = f.linear(x, w, extra) if nt else torch.addmm(extra, x, w)
            return (f.gelu(y, approximate="tanh"),)
        y = f.linear(x, w) if nt else torch.matmul(x, w)
        return (y + extra if epilogue == "residual" else y,)
    return run


def _single(case):
    """Whether operands may be rounded is a switch of the process in torch."""
    product, flags = _product(case), torch.backends.cuda.matmul

    def run(x, w):
        flags.allow_tf32 = case.p["precision"] == "tf32"
        try:
            return product(x, w)
        finally:
            flags.allow_tf32 = False
    return run


def _inductor_product(case):
    if not case.p["epilogue"]:
        raise Unavailable("the same library call as eager")
    return compiled(_product(case))


def _fronted(case):
    return lambda *inputs: (Fronted.formula(case.p["front"], *inputs),)


def _chain(case):
    def run(*inputs):
        return Rows.formula(case.p["chain"], *inputs)
    return run


def _rope(case):
    return lambda *inputs: (Rope.formula(*inputs),)


# ---- a whole model ----------------------------------------------------------

def _causal_sdpa(q, k, v):
    return f.scaled_dot_product_attention(q, k, v, is_causal=True)


def _gpt2(attention):
    def make(case):
        return lambda *inputs: (case.forward(inputs, attention),)
    return make


PEERS = {
    "attention": {"unfused": _unfused_attention,
                  "cudnn": _sdpa(SDPBackend.CUDNN_ATTENTION),
                  "fa2": _sdpa(SDPBackend.FLASH_ATTENTION),
                  "fa4": _flash_attention_4},
    "matmul": {"eager": _product, "inductor": _inductor_product},
    "single": {"eager": _single},
    "fronted": {"eager": _fronted,
                "inductor": lambda c: compiled(_fronted(c))},
    "rows": {"eager": _chain, "inductor": lambda c: compiled(_chain(c))},
    "rope": {"eager": _rope, "inductor": lambda c: compiled(_rope(c))},
    "gpt2": {"eager": _gpt2(unfused), "eager_sdpa": _gpt2(_causal_sdpa),
             "inductor_sdpa": lambda c: compiled(_gpt2(_causal_sdpa)(c))},
}
# Asked for with --slow-peers: over ten seconds before the first result.
SLOW = {("gpt2", "inductor_sdpa"), ("attention", "fa4")}
# Timed only where the suite is about them; elsewhere they would only cost time.
ONLY = {("attention", "unfused"): "claims"}


def wanted(case, slow):
    """(name, factory) of the peers to time."""
    for name, factory in PEERS[case.kind].items():
        key = (case.kind, name)
        if case.suite == "tiny" or (
                (slow or key not in SLOW)
                and ONLY.get(key, case.suite) == case.suite):
            yield name, factory
