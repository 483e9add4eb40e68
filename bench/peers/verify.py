"""Whether outputs are right.

The yardstick is a peer in the case's own type: over a sample that is evaluated
in float64, our error may be twice the peer's plus a rounding, in the norm and
in the largest element. Beyond the sample the whole output is held against the
peer's, and every element must have been written.
"""
import torch

EPSILON = {torch.bfloat16: 2.0 ** -8, torch.float16: 2.0 ** -11,
           torch.float32: 2.0 ** -23}


def norm_error(got, want):
    difference = (got.double() - want.double()).norm()
    size = want.double().norm()
    return (difference / size).item() if size > 0 else difference.item()


def _whole_error(got, want):
    """norm_error without a double of the whole tensor."""
    difference = size = 0.0
    for a, b in zip(got.flatten().split(1 << 26), want.flatten().split(1 << 26)):
        a, b = a.float(), b.float()
        difference += (a - b).square().sum(dtype=torch.float64).item()
        size += b.square().sum(dtype=torch.float64).item()
    return (difference / size) ** 0.5 if size else difference ** 0.5


def check(case, inputs, ours, peer):
    """(what is wrong or "", our error, the peer's error); `peer` may be None,
    and then the bound is that of a few roundings."""
    worst = theirs_worst = 0.0
    samples = case.exact(inputs)
    for spec, out, other, (pick, want) in zip(
            case.outputs(), ours, peer or [None] * len(ours), samples):
        if not torch.isfinite(out).all().item():
            bad = (~torch.isfinite(out)).sum().item()
            return (f"{spec.name}: {bad} of {out.numel()} elements are not "
                    "finite or were not written", float("nan"), theirs_worst)
        epsilon = EPSILON[out.dtype]
        got, error = pick(out), norm_error(pick(out), want)
        largest = (got.double() - want).abs().max().item()
        theirs, theirs_largest = 4 * epsilon, 4 * epsilon * want.abs().max()
        if other is not None:
            theirs = norm_error(pick(other), want)
            theirs_largest = (pick(other).double() - want).abs().max()
        worst, theirs_worst = max(worst, error), max(theirs_worst, theirs)
        if not error <= 2 * theirs + epsilon / 8:
            return (f"{spec.name}: relative error {error:.3g}, the peer's is "
                    f"{theirs:.3g}", worst, theirs_worst)
        # One more unit in the last place of the largest element.
        bound = 2 * float(theirs_largest) + epsilon * want.abs().max().item()
        if not largest <= bound:
            return (f"{spec.name}: an element is off by {largest:.3g}, "
                    f"at most {bound:.3g}", worst, theirs_worst)
        if other is not None:
            apart = _whole_error(out, other)
            if not apart <= 4 * theirs + epsilon / 4:
                return (f"{spec.name}: the whole differs from the peer's by "
                        f"{apart:.3g}", worst, theirs_worst)
    return "", worst, theirs_worst
