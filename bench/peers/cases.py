"""What is measured: graphs, data, and what they ought to give.

A Case builds its graph through the C ABI, says which tensors it takes and
gives, and evaluates sampled parts of its outputs in float64. The peers
(peers.py) look at `kind` and `p`, its parameters. Nothing here imports torch
before a method needs it.
"""
import dataclasses
import math

import azulejo_c as az

TOKENS, WIDTH = 16384, 2048  # of the attention cases: B*S and H*D
SAMPLED_ROWS, SAMPLED_HEADS = 96, 6


@dataclasses.dataclass
class Spec:
    """One tensor. `fill`: normal (times `scale`), ones, an angle table's
    "cos" or "sin", or "ids" below `scale`."""
    name: str
    shape: list
    dtype: int = az.BF16
    fill: str = "normal"
    scale: float = 1.0

    def bytes(self):
        return math.prod(self.shape) * az.DTYPE_BYTES[self.dtype]


class Case:
    kind = ""

    def __init__(self, suite, name, **p):
        self.suite, self.name, self.p = suite, name, p

    def inputs(self):
        raise NotImplementedError

    def outputs(self):
        raise NotImplementedError

    def flops(self):
        return 0

    def bytes(self):
        """Each tensor once: what any implementation has to move."""
        return sum(s.bytes() for s in self.inputs() + self.outputs())

    def graph(self, library, suffix=""):
        """`suffix`: of its names. Plans in memory are those of equal names."""
        g = library.graph()
        values = [g.input(s.name + suffix, s.dtype, s.shape)
                  for s in self.inputs()]
        for spec, value in zip(self.outputs(), self.body(g, *values)):
            g.output(spec.name, value)
        return g

    def body(self, g, *values):
        """Appends the ops; gives the outputs."""
        raise NotImplementedError

    def exact(self, inputs):
        """Float64 values of a sample: (picker, value) per output, where
        picker(output) is the part of the output that `value` is about."""
        raise NotImplementedError


def sampled(count, most):
    """Up to `most` numbers below `count`, spread, both ends among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


class Attention(Case):
    """Tensors lie as (batch, sequence, head, size)."""
    kind = "attention"

    def _shape(self, heads):
        return [self.p["B"], self.p["S"], heads, self.p["D"]]

    def inputs(self):
        kv = self._shape(self.p["Hk"])
        return [Spec("q", self._shape(self.p["H"])), Spec("k", kv),
                Spec("v", kv)]

    def outputs(self):
        return [Spec("o", self._shape(self.p["H"]))]

    def flops(self):
        p = self.p
        full = 4 * p["B"] * p["H"] * p["S"] ** 2 * p["D"]
        return full // 2 if p["causal"] else full

    def scale(self):
        return 1 / math.sqrt(self.p["D"])

    def body(self, g, q, k, v):
        causal = "bottom_right" if self.p["causal"] else "none"
        return [g.op("attention", [q, k, v], scale=self.scale(),
                     causal=causal, layout="bshd")]

    def exact(self, inputs):
        import torch
        q, k, v = inputs
        p, rows = self.p, sampled(self.p["S"], SAMPLED_ROWS)
        heads = sampled(p["B"] * p["H"], SAMPLED_HEADS)
        pairs = [(one // p["H"], one % p["H"]) for one in heads]
        at = torch.tensor(rows, device=q.device)
        values = []
        for b, h in pairs:
            kv = h // (p["H"] // p["Hk"])
            s = (q[b, at, h].double() @ k[b, :, kv].double().T) * self.scale()
            if p["causal"]:
                keys = torch.arange(p["S"], device=q.device)
                s = s.masked_fill(keys[None, :] > at[:, None], -math.inf)
            values.append(s.softmax(-1) @ v[b, :, kv].double())

        def pick(o):
            return torch.stack([o[b, at, h] for b, h in pairs])
        return [(pick, torch.stack(values))]


class Matmul(Case):
    """x [M, K] times w [N, K] transposed ("nt", a linear layer's layout) or
    [K, N] ("nn"), with an epilogue: "", "bias_gelu" or "residual"."""
    kind = "matmul"

    def inputs(self):
        m, n, k = self.p["M"], self.p["N"], self.p["K"]
        w = [n, k] if self.p["layout"] == "nt" else [k, n]
        specs = [Spec("x", [m, k]), Spec("w", w, scale=1 / math.sqrt(k))]
        if self.p["epilogue"] == "bias_gelu":
            specs.append(Spec("bias", [n]))
        elif self.p["epilogue"] == "residual":
            specs.append(Spec("r", [m, n]))
        return specs

    def outputs(self):
        return [Spec("y", [self.p["M"], self.p["N"]])]

    def flops(self):
        return 2 * self.p["M"] * self.p["N"] * self.p["K"]

    def body(self, g, x, w, extra=None):
        y = g.op("matmul", [x, w], transpose_b=self.p["layout"] == "nt")
        if extra is not None:
            y = g.op("add", [y, extra])
        if self.p["epilogue"] == "bias_gelu":
            y = g.op("gelu_tanh", [y])
        return [y]

    def exact(self, inputs):
        import torch
        x, w, *extra = inputs
        at = torch.tensor(sampled(self.p["M"], SAMPLED_ROWS), device=x.device)
        w = w.double()
        y = x[at].double() @ (w.T if self.p["layout"] == "nt" else w)
        if self.p["epilogue"] == "bias_gelu":
            y = torch.nn.functional.gelu(y + extra[0].double(),
                                         approximate="tanh")
        elif self.p["epilogue"] == "residual":
            y = y + extra[0][at].double()
        return [(lambda o: o[at], y)]


class Single(Matmul):
    """The plain product of f32: exact ("ieee"), or with operands that may be
    rounded to tf32."""
    kind = "single"

    def inputs(self):
        return [dataclasses.replace(spec, dtype=az.F32)
                for spec in super().inputs()]

    def outputs(self):
        return [dataclasses.replace(spec, dtype=az.F32)
                for spec in super().outputs()]

    def body(self, g, x, w):
        return [g.op("matmul", [x, w], precision=self.p["precision"],
                     transpose_b=self.p["layout"] == "nt")]


class Rows(Case):
    """A chain over rows of [M, N]; p["chain"] names it."""
    kind = "rows"
    TENSORS = {
        "residual_rms_norm": ("x r w", "h y"), "softmax": ("x", "y"),
        "layer_norm": ("x w b", "y"), "swiglu": ("x r", "y"),
        "rms_norm": ("x w", "y"), "residual_layer_norm": ("x r w b", "h y"),
        "layer_norm_swiglu_residual": ("x w b g r", "y"),
    }

    def _specs(self, names):
        m, n = self.p["M"], self.p["N"]
        return [Spec(s, [n] if s in "wb" else [m, n]) for s in names.split()]

    def inputs(self):
        return self._specs(self.TENSORS[self.p["chain"]][0])

    def outputs(self):
        return self._specs(self.TENSORS[self.p["chain"]][1])

    def body(self, g, x, *more):
        chain = self.p["chain"]
        if chain == "rms_norm":
            return [g.op("rms_norm", [x, more[0]], eps=1e-6)]
        if chain == "residual_rms_norm":
            h = g.op("add", [x, more[0]])
            return [h, g.op("rms_norm", [h, more[1]], eps=1e-6)]
        if chain == "residual_layer_norm":
            h = g.op("add", [x, more[0]])
            return [h, g.op("layer_norm", [h, *more[1:]], eps=1e-5)]
        if chain == "layer_norm_swiglu_residual":
            y = g.op("layer_norm", [x, *more[:2]], eps=1e-5)
            return [g.op("add", [g.op("mul", [g.op("silu", [y]), more[2]]),
                                 more[3]])]
        if chain == "softmax":
            return [g.op("softmax", [x], axis=-1)]
        if chain == "layer_norm":
            return [g.op("layer_norm", [x, *more], eps=1e-5)]
        return [g.op("mul", [g.op("silu", [x]), more[0]])]

    @staticmethod
    def formula(chain, x, *more):
        """In whatever type the tensors have."""
        import torch
        f = torch.nn.functional
        if chain == "rms_norm":
            return (f.rms_norm(x, (x.shape[-1],), more[0], 1e-6),)
        if chain == "residual_rms_norm":
            h = x + more[0]
            return h, f.rms_norm(h, (h.shape[-1],), more[1], 1e-6)
        if chain == "residual_layer_norm":
            h = x + more[0]
            return h, f.layer_norm(h, (h.shape[-1],), *more[1:], 1e-5)
        if chain == "layer_norm_swiglu_residual":
            y = f.layer_norm(x, (x.shape[-1],), *more[:2], 1e-5)
            return (f.silu(y) * more[2] + more[3],)
        if chain == "softmax":
            return (f.softmax(x, -1),)
        if chain == "layer_norm":
            return (f.layer_norm(x, (x.shape[-1],), *more, 1e-5),)
        return (f.silu(x) * more[0],)

    def exact(self, inputs):
        import torch
        at = torch.tensor(sampled(self.p["M"], 512), device=inputs[0].device)
        small = [(t[at] if t.dim() == 2 else t).double() for t in inputs]
        values = self.formula(self.p["chain"], *small)
        if len(values) == 2:
            # The sum is a value of the graph, so it is rounded before the norm.
            h = values[0].to(inputs[0].dtype).double()
            zero = torch.zeros_like(h)
            values = values[0], self.formula(self.p["chain"], h, zero,
                                             *small[2:])[1]
        return [(lambda o: o[at], value) for value in values]


class Rope(Case):
    """Rotary positions on [B, S, H, D], the two halves of D paired."""
    kind = "rope"

    def inputs(self):
        p = self.p
        table = [p["S"], 1, p["D"] // 2]
        return [Spec("x", [p["B"], p["S"], p["H"], p["D"]]),
                Spec("c", table, fill="cos"), Spec("s", table, fill="sin")]

    def outputs(self):
        return [Spec("y", self.inputs()[0].shape)]

    def body(self, g, x, c, s):
        return [g.op("rope", [x, c, s])]

    @staticmethod
    def formula(x, c, s):
        import torch
        a, b = x.chunk(2, -1)
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    def exact(self, inputs):
        x, c, s = (t.double() for t in inputs)
        return [(lambda o: o[-1], self.formula(x[-1], c, s))]


def attention(suite, D, S, causal, H=None, Hk=None, B=None, label="attention"):
    H = H or WIDTH // D
    B, Hk = B or max(1, TOKENS // S), Hk or H
    name = f"{label} D{D} S{S}{' causal' if causal else ''} B{B} H{H}"
    if Hk != H:
        name += f"/{Hk}"
    return Attention(suite, name, B=B, S=S, H=H, Hk=Hk, D=D, causal=causal)


def matmul(suite, M, N, K, epilogue="", layout="nt"):
    name = f"matmul {M}x{N}x{K} {layout}{' ' + epilogue if epilogue else ''}"
    return Matmul(suite, name, M=M, N=N, K=K, epilogue=epilogue,
                  layout=layout)


def single(suite, M, N, K, precision, layout="nt"):
    return Single(suite, f"matmul {M}x{N}x{K} {layout} f32 {precision}", M=M,
                  N=N, K=K, epilogue="", layout=layout, precision=precision)


def rows(suite, chain, M, N):
    return Rows(suite, f"{chain} {M}x{N}", chain=chain, M=M, N=N)


def rope(suite, B, S, H, D):
    return Rope(suite, f"rope B{B} S{S} H{H} D{D}", B=B, S=S, H=H, D=D)


SHAPES = [(4096, 4096, 4096), (8192, 8192, 8192), (8192, 14336, 4096),
          (8192, 4096, 14336), (4096, 6144, 4096), (16384, 1024, 1024),
          (64, 14336, 4096), (256, 14336, 4096), (1000, 14336, 4096),
          (1024, 14336, 4096)]
WITH_EPILOGUES = [SHAPES[0], SHAPES[1], SHAPES[2], SHAPES[7], SHAPES[9]]


def first():
    """The most telling cases first: a budget that ends early keeps them."""
    cases = [rows("first", "residual_rms_norm", TOKENS, 8192),
             matmul("first", 4096, 4096, 4096, layout="nn")]
    sizes = [4096, 16384, 1024, 8192, 2048, 512]
    cases += [attention("first", D, S, causal) for S in sizes
              for D in (128, 64, 256) for causal in (False, True)]
    cases += [attention("first", D, 4096, causal, Hk=WIDTH // D // 4)
              for D in (128, 64) for causal in (False, True)]
    cases += [matmul("first", *shape) for shape in SHAPES]
    cases.append(matmul("first", 8192, 8192, 8192, layout="nn"))
    cases += [matmul("first", *shape, epilogue=e) for shape in WITH_EPILOGUES
              for e in ("bias_gelu", "residual")]
    cases += [rows("first", chain, TOKENS, n) for n in (8192, 1024)
              for chain in ("softmax", "layer_norm", "swiglu")]
    cases.append(rows("first", "residual_rms_norm", TOKENS, 1024))
    cases.append(rope("first", 4, 4096, 16, 128))
    return cases


def products():
    """Plain first, then what is fused into them; a linear layer's layout, and
    the plain ones in the other one, too; then with something in front."""
    from fronts import FRONTS, fronted
    cases = [matmul("matmul", *shape) for shape in SHAPES]
    cases += [matmul("matmul", *shape, epilogue=e) for shape in SHAPES
              for e in ("bias_gelu", "residual")]
    cases += [matmul("matmul", *shape, layout="nn") for shape in SHAPES]
    cases += [fronted("matmul", *front) for front in FRONTS]
    cases += [single("matmul", *shape, "tf32", layout)
              for shape in (SHAPES[0], SHAPES[4], SHAPES[9])
              for layout in ("nt", "nn")]
    cases.append(single("matmul", *SHAPES[0], "ieee"))
    return cases


def chains():
    """Rows of every length, the longest ones in fewer rows."""
    widths = [(TOKENS, n) for n in (128, 1024, 2048, 4096, 5120, 8192, 16384)]
    widths += [(2048, 50257), (2048, 65536)]
    return [rows("chains", chain, *shape) for shape in widths
            for chain in Rows.TENSORS]


def claims():
    """What the project set out to show, against torch without fusion."""
    from gpt2 import Gpt2
    cases = [attention("claims", 64, 1024, causal, H=12, B=B,
                       label="gpt2-attention")
             for B in (1, 8) for causal in (True, False)]
    cases += [attention("claims", 64, S, True, H=12, B=1, label="long-context")
              for S in (8192, 16384)]
    cases.append(Gpt2("claims", "gpt2-small forward 8x1024", B=8, S=1024,
                      layers=12, heads=12, width=768, words=50257))
    return cases


def tiny():
    """Every kind at a size that a CPU does in no time; checks the cases."""
    from fronts import Fronted, fronted
    from gpt2 import Gpt2
    cases = [attention("tiny", 16, 48, causal, H=4, Hk=hk, B=2)
             for causal in (False, True) for hk in (4, 2)]
    cases += [matmul("tiny", 33, 65, 48, epilogue=e, layout=layout)
              for e in ("", "bias_gelu", "residual") for layout in ("nt", "nn")]
    cases += [fronted("tiny", front, 33, 65, 48) for front in Fronted.TENSORS]
    cases += [single("tiny", 33, 65, 48, precision)
              for precision in ("tf32", "ieee")]
    cases += [rows("tiny", chain, 31, 257) for chain in Rows.TENSORS]
    cases.append(rope("tiny", 2, 24, 3, 16))
    cases.append(Gpt2("tiny", "gpt2 forward 2x16", B=2, S=16, layers=2,
                      heads=4, width=64, words=211))
    return cases


SUITES = {"first": first, "claims": claims, "matmul": products,
          "chains": chains, "tiny": tiny}
