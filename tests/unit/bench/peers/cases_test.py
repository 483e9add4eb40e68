"""The cases of bench/peers: every graph is one, and small ones run."""
import ctypes
import math
import os
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4]
                       / "bench" / "peers"))
import azulejo_c as az  # noqa: E402
import cases  # noqa: E402
import report  # noqa: E402


def row(**fields):
    base = {"suite": "s", "case": "product 1", "bytes": 1 << 20, "flops": 0,
            "ours_ms": 1.0, "peer_ms": {}, "floor_ms": 0.5, "verified": True,
            "sm_clock": 1.5}
    base.update(fields)
    return base


class CasesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.az = az.Library()

    def test_every_case_is_a_graph_with_the_stated_outputs(self):
        for suite, make in cases.SUITES.items():
            for case in make():
                with self.subTest(f"{suite}/{case.name}"):
                    g = case.graph(self.az)
                    self.az.call("az_graph_verify", g.handle)
                    self.assertGreater(case.bytes(), 0)

    def test_names_tell_cases_apart(self):
        names = [f"{case.suite}/{case.name}" for make in cases.SUITES.values()
                 for case in make()]
        self.assertEqual(len(names), len(set(names)))

    def test_tiny_ones_write_every_output(self):
        cpu = self.az.device("cpu")
        for case in cases.tiny():
            with self.subTest(case.name):
                exe = self.az.compile(case.graph(self.az), cpu)
                specs = case.inputs() + case.outputs()
                self.assertEqual(
                    [(name, dtype, rank) for name, _, dtype, rank
                     in exe.bindings()],
                    [(s.name, s.dtype, len(s.shape)) for s in specs])
                memory = [ctypes.create_string_buffer(s.bytes())
                          for s in specs]
                for out in memory[len(case.inputs()):]:
                    out.raw = b"\xff" * len(out)  # NaN
                tensors = [az.Tensor(ctypes.addressof(m), s.dtype, s.shape)
                           for m, s in zip(memory, specs)]
                size = exe.workspace_size(tensors)
                space = ctypes.create_string_buffer(size + 64)
                at = (ctypes.addressof(space) + 63) // 64 * 64
                exe.bind(tensors, at, size)()
                for out, spec in zip(memory[len(case.inputs()):],
                                     case.outputs()):
                    halves = struct.unpack(f"<{spec.bytes() // 2}H", out.raw)
                    self.assertNotIn(0xffff, halves)

    def test_flops_of_attention(self):
        full = cases.attention("t", 128, 4096, False)
        self.assertEqual(full.flops(), 4 * 4 * 16 * 4096 ** 2 * 128)
        causal = cases.attention("t", 128, 4096, True)
        self.assertEqual(causal.flops() * 2, full.flops())
        self.assertEqual(full.bytes(), 4 * 16384 * 2048 * 2)

    def test_samples_hold_both_ends(self):
        self.assertEqual(cases.sampled(5, 9), [0, 1, 2, 3, 4])
        some = cases.sampled(1000, 7)
        self.assertEqual((some[0], some[-1], len(some)), (0, 999, 7))

    def test_the_table_shows_what_went_wrong(self):
        text = report.table([
            row(peer_ms={"slow": 4.0, "fast": 2.0}),
            row(case="product 2", peer_ms={"fast": 8.0}),
            row(case="product 3", verified=False, peer_ms={"fast": 99.0}),
            row(case="product 4", ours_ms=None, skipped="no such code"),
            row(case="product 5", ours_ms=None, error="fell over")])
        self.assertIn("2.00x fast", text)
        self.assertIn("WRONG", text)
        self.assertIn("no such code", text)
        # Wrong rows are no part of a mean: sqrt(2 * 8).
        self.assertIn("geometric mean of  2 s/product: 4.000x the best peer, "
                      "least 2.000x (product 1)", text)
        self.assertIn("3 measured, 1 WRONG, 1 failed, 1 skipped", text)

    def test_pinned_schedules_are_compared_with_the_default(self):
        text = report.table([row(ours_ms=3.0, pinned_ms={"Matmul{a=1}": 2.0})])
        self.assertRegex(text, r"2\.0000 +1\.500 of the default's rate +"
                               r"Matmul\{a=1\}")

    def test_means_are_of_like_cases(self):
        text = report.table([
            row(case="matmul 1x2x3 nt", peer_ms={"eager": 0.5}),
            row(case="matmul 4x5x6 nt", ours_ms=2.0, peer_ms={"eager": 4.0}),
            row(case="matmul 1x2x3 nt bias_gelu", ours_ms=1.02,
                peer_ms={"eager": 4.08, "inductor": 2.04}),
            row(case="matmul 4x5x6 nt bias_gelu", ours_ms=2.5, verified=False),
            row(case="matmul 4x5x6 nt residual", ours_ms=2.2)])
        self.assertIn("geometric mean of  2 s/matmul nt: 1.000x the best "
                      "peer, least 0.500x (matmul 1x2x3 nt)", text)
        self.assertIn("geometric mean of  1 s/matmul nt bias_gelu: 2.000x",
                      text)
        self.assertIn("s/matmul nt bias_gelu takes at most 2.0 % more than "
                      "without (matmul 1x2x3 nt)", text)
        self.assertIn("s/matmul nt residual takes at most 10.0 % more", text)

    def test_the_products_are_those_of_the_goal(self):
        names = [case.name for case in cases.products()
                 if case.kind == "matmul"]
        self.assertEqual(len(names), 40)
        for shape in ("8192x14336x4096", "8192x4096x14336", "64x14336x4096",
                      "1000x14336x4096"):
            for tail in ("nt", "nt bias_gelu", "nt residual", "nn"):
                self.assertIn(f"matmul {shape} {tail}", names)
        case = cases.products()[2]
        self.assertEqual([s.shape for s in case.inputs()],
                         [[8192, 4096], [14336, 4096]])
        self.assertEqual(case.flops(), 2 * 8192 * 14336 * 4096)

    def test_what_stands_in_front_is_compared_with_the_product_alone(self):
        names = {case.name for case in cases.products()}
        fronts = [case for case in cases.products() if case.kind == "fronted"]
        self.assertEqual({case.p["front"] for case in fronts},
                         {"rms_norm", "rms_norm_w", "layer_norm", "row_scale",
                          "swiglu"})
        for case in fronts:
            self.assertIn(case.name.rpartition(" ")[0], names)

    def test_rows_are_json_without_noise(self):
        text = report.dump(row(ours_ms=1 / 3, peer_ms={"a": 2 / 3}))
        self.assertIn('"ours_ms": 0.333333', text)
        self.assertIn('{"a": 0.666667}', text)
        self.assertTrue(math.isclose(report.rate(row(), 1.0)[0],
                                     (1 << 20) / 1e9))


if __name__ == "__main__":
    if "AZULEJO_LIBRARY" not in os.environ:
        sys.exit("set AZULEJO_LIBRARY")
    unittest.main()
