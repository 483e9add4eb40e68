"""GPT-2's forward pass: one graph of ours, and the same in torch."""
import functools
import math

import azulejo_c as az
from cases import Case, Spec

EPS = 1e-5


class Gpt2(Case):
    """From token numbers to logits; weights are random."""
    kind = "gpt2"

    def inputs(self):
        p, w = self.p, self.p["width"]
        specs = [Spec("ids", [p["B"], p["S"]], az.I32, "ids", p["words"]),
                 Spec("wte", [p["words"], w], scale=0.1),
                 Spec("wpe", [p["S"], w], scale=0.1)]
        for i in range(p["layers"]):
            for name, shape in (("ln1", None), ("qkv", [w, 3 * w]),
                                ("proj", [w, w]), ("ln2", None),
                                ("fc", [w, 4 * w]), ("out", [4 * w, w])):
                tag = f"{name}_{i}"
                if shape is None:
                    specs += self._norm(tag)
                else:
                    specs += [Spec(f"{tag}_w", shape,
                                   scale=1 / math.sqrt(shape[0])),
                              Spec(f"{tag}_b", shape[1:], scale=0.1)]
        return specs + self._norm("lnf")

    def _norm(self, tag):
        return [Spec(f"{tag}_w", [self.p["width"]], fill="ones"),
                Spec(f"{tag}_b", [self.p["width"]], scale=0.1)]

    def outputs(self):
        return [Spec("logits", [self.p["B"], self.p["S"], self.p["words"]])]

    def flops(self):
        p, w = self.p, self.p["width"]
        tokens = p["B"] * p["S"]
        layer = 2 * tokens * 12 * w * w + 2 * tokens * p["S"] * w
        return p["layers"] * layer + 2 * tokens * w * p["words"]

    def body(self, g, ids, wte, wpe, *weights):
        p, take = self.p, iter(weights)

        def norm(x):
            return g.op("layer_norm", [x, next(take), next(take)], eps=EPS)

        def linear(x):
            return g.op("add", [g.op("matmul", [x, next(take)]), next(take)])

        def heads(x, which):
            part = g.op("slice", [x], starts=[0, 0, which * p["width"]],
                        sizes=az.Shape([p["B"], p["S"], p["width"]]),
                        steps=[1, 1, 1])
            return g.op("reshape", [part], shape=az.Shape(
                [p["B"], p["S"], p["heads"], p["width"] // p["heads"]]))

        x = g.op("add", [g.op("gather", [wte, ids], axis=0), wpe])
        for _ in range(p["layers"]):
            qkv = linear(norm(x))
            o = g.op("attention", [heads(qkv, i) for i in range(3)],
                     scale=1 / math.sqrt(p["width"] // p["heads"]),
                     causal="bottom_right", layout="bshd")
            o = g.op("reshape", [o], shape=az.Shape(
                [p["B"], p["S"], p["width"]]))
            x = g.op("add", [x, linear(o)])
            x = g.op("add", [x, linear(g.op("gelu_tanh", [linear(norm(x))]))])
        return [g.op("matmul", [norm(x), wte], transpose_b=True)]

    def forward(self, inputs, attention):
        """In torch; attention(q, k, v) takes [B, H, S, D], causally."""
        import torch
        f, p = torch.nn.functional, self.p
        ids, wte, wpe, *weights = inputs
        take = iter(weights)

        def norm(x):
            return f.layer_norm(x, (p["width"],), next(take), next(take), EPS)

        def linear(x):
            return torch.matmul(x, next(take)) + next(take)

        x = wte[ids.long()] + wpe
        for _ in range(p["layers"]):
            q, k, v = (t.view(p["B"], p["S"], p["heads"], -1).transpose(1, 2)
                       for t in linear(norm(x)).chunk(3, -1))
            o = attention(q, k, v).transpose(1, 2)
            x = x + linear(o.reshape(p["B"], p["S"], p["width"]))
            x = x + linear(f.gelu(linear(norm(x)), approximate="tanh"))
        return torch.matmul(norm(x), wte.T)

    def exact(self, inputs):
        """One sequence, all of its positions."""
        import torch
        # The last sequence alone: sequences do not meet each other.
        one = [inputs[0][-1:]] + [t.double() if t.is_floating_point() else t
                                  for t in inputs[1:]]
        alone = Gpt2(self.suite, self.name, **dict(self.p, B=1))
        value = alone.forward(one, unfused)
        torch.cuda.empty_cache()
        return [(lambda o: o[-1:], value)]


@functools.lru_cache(maxsize=4)
def hidden(length, device):
    """Which keys a query does not see; made once, as models keep it."""
    import torch
    return torch.ones(length, length, dtype=torch.bool, device=device).triu(1)


def unfused(q, k, v):
    """Causal attention, every step a kernel of its own."""
    import torch
    s = torch.matmul(q, k.transpose(-1, -2)) * (1 / math.sqrt(q.shape[-1]))
    s = s.masked_fill(hidden(s.shape[-1], s.device), -math.inf)
    return torch.matmul(s.softmax(-1), v)
