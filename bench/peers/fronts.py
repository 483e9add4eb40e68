"""Products with a norm, a scale or a gate in front: cases of their own, since
what comes out of it is never written where it need not be.
"""
import math

from cases import SAMPLED_ROWS, SHAPES, Case, Spec, sampled


class Fronted(Case):
    """A product like Matmul's in layout "nt" whose x comes out of p["front"]:

    rms_norm       without a weight; rms_norm_w: with one
    layer_norm     with weight and bias, and bias and GELU behind the product
    row_scale      a factor per row
    swiglu         silu(x) * u
    """
    kind = "fronted"
    TENSORS = {"rms_norm": "x w", "rms_norm_w": "x w g",
               "layer_norm": "x w g h bias", "row_scale": "x w s",
               "swiglu": "x w u"}

    def inputs(self):
        m, n, k = self.p["M"], self.p["N"], self.p["K"]
        shapes = {"x": [m, k], "u": [m, k], "w": [n, k], "g": [k], "h": [k],
                  "bias": [n], "s": [m, 1]}
        return [Spec(name, shapes[name],
                     scale=1 / math.sqrt(k) if name == "w" else 1.0)
                for name in self.TENSORS[self.p["front"]].split()]

    def outputs(self):
        return [Spec("y", [self.p["M"], self.p["N"]])]

    def flops(self):
        return 2 * self.p["M"] * self.p["N"] * self.p["K"]

    def body(self, g, x, w, *more):
        front = self.p["front"]
        if front in ("rms_norm", "rms_norm_w"):
            x = g.op("rms_norm", [x, *more], eps=1e-6)
        elif front == "layer_norm":
            x = g.op("layer_norm", [x, *more[:2]], eps=1e-5)
        elif front == "row_scale":
            x = g.op("mul", [x, more[0]])
        else:
            x = g.op("mul", [g.op("silu", [x]), more[0]])
        y = g.op("matmul", [x, w], transpose_b=True)
        if front == "layer_norm":
            y = g.op("gelu_tanh", [g.op("add", [y, more[2]])])
        return [y]

    @staticmethod
    def formula(front, x, w, *more):
        """In whatever type the tensors have."""
        import torch
        f = torch.nn.functional
        if front in ("rms_norm", "rms_norm_w"):
            return f.linear(f.rms_norm(x, x.shape[-1:], *more, eps=1e-6), w)
        if front == "layer_norm":
            y = f.linear(f.layer_norm(x, x.shape[-1:], *more[:2], 1e-5), w,
                         more[2])
            return f.gelu(y, approximate="tanh")
        if front == "row_scale":
            return f.linear(x * more[0], w)
        return f.linear(f.silu(x) * more[0], w)

    def exact(self, inputs):
        import torch
        rows = self.p["M"]
        at = torch.tensor(sampled(rows, SAMPLED_ROWS), device=inputs[0].device)
        some = [(t[at] if name in "xus" else t).double() for name, t in
                zip(self.TENSORS[self.p["front"]].split(), inputs)]
        return [(lambda o: o[at], self.formula(self.p["front"], *some))]


def fronted(suite, front, M, N, K):
    return Fronted(suite, f"matmul {M}x{N}x{K} nt {front}", M=M, N=N, K=K,
                   front=front)


FRONTS = [(front, *shape) for shape in (SHAPES[0], SHAPES[2])
          for front in ("rms_norm", "rms_norm_w", "layer_norm", "row_scale")]
FRONTS += [("swiglu", *SHAPES[0]), ("swiglu", *SHAPES[3]),
           ("rms_norm", *SHAPES[6])]
