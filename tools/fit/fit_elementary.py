#!/usr/bin/env python3
"""Fits the polynomials of ir/scalar/Elementary.cpp and gelu_erf's, which is in
ir/graph/ScalarEmitter.cpp.

Usage: fit_elementary.py            (needs numpy and mpmath)

Each table is a minimax fit on Chebyshev points by iteratively reweighted least
squares (Lawson's method). The coefficients are then rounded to the type that
the kernel computes in, one by one from the lowest power, and those that remain
are fitted again after each rounding, so that they absorb its error. Output:
C++ tables, highest power first as Horner's rule reads them, each with the
largest weighted error left.
"""

import mpmath as mp
import numpy as np

mp.mp.prec = 120
POINTS = 600
LN2 = mp.log(2)


def lawson(basis, target, rounds=400):
    """Coefficients that minimise the largest |basis @ c - target|."""
    weights = np.full(len(target), 1.0 / len(target))
    scale = np.abs(basis).max(axis=0)
    best, least = None, np.inf
    for _ in range(rounds):
        root = np.sqrt(weights)
        fit = np.linalg.lstsq((basis / scale) * root[:, None], target * root,
                              rcond=None)[0] / scale
        error = np.abs(basis @ fit - target)
        if error.max() < least:
            best, least = fit, error.max()
        if error.max() == 0:
            break
        weights *= error / error.max() + 1e-3
        weights /= weights.sum()
    return best


def fit(name, function, low, high, degree, weight, kind="float"):
    """Prints the fit of function(x) on [low, high], as a table of `kind`.

    weight(x) turns an error of the polynomial into the error that matters,
    which is mostly the relative error of the final result.
    """
    nodes = np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    x = (low + high) / 2 + (high - low) / 2 * nodes
    exact = [function(mp.mpf(v)) for v in x]
    w = np.array([float(weight(mp.mpf(v))) for v in x])
    to = np.float32 if kind == "float" else np.float64
    basis = np.stack([x**i for i in range(degree + 1)], axis=1) * w[:, None]
    rest = np.array([float(v) for v in exact]) * w
    done = []
    for i in range(degree + 1):
        value = float(to(lawson(basis[:, i:], rest)[0]))
        done.append(value)
        rest = rest - basis[:, i] * value
    error = max(abs(float(sum(mp.mpf(c) * mp.mpf(v)**i
                              for i, c in enumerate(done)) - e)) * u
                for v, e, u in zip(x, exact, w))
    suffix, digits = ("f", 9) if kind == "float" else ("", 17)
    print(f"// [{low:.4g}, {high:.4g}], error {error:.2g}")
    print(f"constexpr {kind} {name}[] = {{")
    for c in reversed(done):
        text = f"{c:.{digits}g}"
        if "." not in text and "e" not in text:
            text += ".0"
        print(f"    {text}{suffix},")
    print("};\n")


def split(name, value):
    """Prints a constant as the float nearest to it and the float left over."""
    high = np.float32(float(value))
    low = np.float32(float(value - mp.mpf(float(high))))
    print(f"// {name}: {high:.9g}f + {low:.9g}f")


def split_wide(name, value):
    high = float(value)
    print(f"// {name}: {high:.17g} + {float(value - mp.mpf(high)):.17g}")


def exp_tables():
    half = 0.5003
    # 2^f = 1 + f q(f).
    def exp2_tail(f):
        return mp.expm1(f * LN2) / f if f else LN2
    def exp2_weight(f):
        return abs(f) / mp.power(2, f)
    fit("kExp2Tail", exp2_tail, -half, half, 5, exp2_weight)
    fit("kExp2ShortTail", exp2_tail, -half, half, 4, exp2_weight)
    # e^f = 1 + f + f^2 q(f).
    r = float(LN2 / 2) * 1.0006
    fit("kExpTail", lambda f: (mp.expm1(f) - f) / f**2, -r, r, 4,
        lambda f: f * f / mp.exp(f))
    # e^(2f) = 1 + f q(f).
    fit("kExpTwiceTail", lambda f: mp.expm1(2 * f) / f, -r / 2, r / 2, 5,
        lambda f: abs(f) / mp.exp(2 * f))


def log_tables():
    # log(1 + f) = f + f^2 q(f).
    fit("kLogTail", lambda f: (mp.log1p(f) - f) / f**2, -1 / 3, 1 / 3, 8,
        lambda f: abs(f * f / mp.log1p(f)))


def trig_tables():
    # In z = r^2: sin r = r + r z q(z), cos r = 1 + z q(z).
    top = float(mp.pi / 4)**2 * 1.0005
    def sin_tail(z):
        r = mp.sqrt(z)
        return (mp.sin(r) - r) / (r * z)
    fit("kSinTail", sin_tail, 1e-9, top, 2,
        lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)))
    fit("kCosTail", lambda z: (mp.cos(mp.sqrt(z)) - 1) / z, 1e-9, top, 3,
        lambda z: z / mp.cos(mp.sqrt(z)))


def tanh_tables():
    # In z = a^2: tanh a = a + a z q(z).
    def tanh_tail(z):
        a = mp.sqrt(z)
        return (mp.tanh(a) - a) / (a * z)
    fit("kTanhTail", tanh_tail, 1e-9, 0.65**2, 4,
        lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z)))


def gelu_tables():
    # The share of the normal distribution beyond a is 2^(a q(a) - 1). The
    # exponent is rounded to f32 in any case, so its error may grow with it.
    def exponent(a):
        return mp.log(mp.erfc(a / mp.sqrt(2)) / 2, 2)
    fit("kNormalBeyond", lambda a: (exponent(a) + 1) / a, 1e-9, 5.5, 9,
        lambda a: a * LN2 / -exponent(a))


def pow_tables():
    # log2 m = s q(s^2) with s = (m - 1) / (m + 1), m in [sqrt 1/2, sqrt 2].
    s = float((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) * 1.0001
    fit("kLog2Odd", lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) / LN2,
        1e-12, s * s, 4, lambda z: LN2 / 2, "double")
    fit("kExp2Wide", lambda f: mp.power(2, f), -0.5, 0.5, 6,
        lambda f: mp.power(2, -f), "double")


if __name__ == "__main__":
    exp_tables()
    log_tables()
    trig_tables()
    tanh_tables()
    gelu_tables()
    pow_tables()
    split("ln 2", LN2)
    split("log2 e", 1 / LN2)
    split_wide("pi / 2", mp.pi / 2)
    split_wide("2 / pi", 2 / mp.pi)
