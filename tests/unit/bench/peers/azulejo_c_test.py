"""The ctypes layer on the CPU, with nothing but the standard library."""
import array
import ctypes
import math
import os
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4]
                       / "bench" / "peers"))
import azulejo_c as az  # noqa: E402

RULE = "graph.bind"


def floats(values):
    return array.array("f", values)


def tensor(memory, shape, strides=None, dtype=az.F32):
    return az.Tensor(memory.buffer_info()[0], dtype, shape, strides)


def softmax_rows(values, columns):
    result = []
    for start in range(0, len(values), columns):
        row = [math.exp(v) for v in values[start:start + columns]]
        result += [v / sum(row) for v in row]
    return result


class CapiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.az = az.Library()
        cls.cpu = cls.az.device("cpu")

    def run_on(self, exe, tensors):
        size = exe.workspace_size(tensors)
        space = ctypes.create_string_buffer(size + 64)
        address = (ctypes.addressof(space) + 63) // 64 * 64
        exe.bind(tensors, address, size)()

    def close(self, got, want):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertAlmostEqual(a, b, delta=1e-5 * max(1, abs(b)))

    def test_structs_are_those_of_the_library(self):
        options = az.CompileOptions()
        size = ctypes.sizeof(options)
        self.az.c.az_compile_options_init(ctypes.byref(options),
                                          ctypes.c_size_t(size))
        self.assertEqual(options.size, size)
        self.assertEqual(options.tune_seconds, -1)
        self.assertEqual(options.allow_fusion, 1)

    def test_softmax_of_symbolic_rows(self):
        g = self.az.graph()
        rows = g.dim("M", 1, 4096)
        g.output("y", g.op("softmax", [g.input("x", az.F32, [rows, 7])],
                           axis=-1))
        exe = self.az.compile(g, self.cpu)
        self.assertEqual(exe.bindings(), [("x", False, az.F32, 2),
                                          ("y", True, az.F32, 2)])
        for m in (1, 5, 64):
            x = floats(math.sin(i) for i in range(m * 7))
            y = floats([math.nan] * (m * 7))
            self.run_on(exe, [tensor(x, [m, 7]), tensor(y, [m, 7])])
            self.close(y, softmax_rows(x, 7))

    def test_every_kind_of_attribute(self):
        g = self.az.graph()
        x = g.input("x", az.F32, [2, 6])
        flat = g.op("reshape", [x], shape=az.Shape([3, "4"]))  # shape
        turned = g.op("transpose", [flat], perm=[1, 0])  # integers
        total = g.op("reduce_sum", [turned], axes=[0], keepdims=True)  # bool
        small = g.op("clamp", [total], low=-1.0, high=20.0)  # floats
        mask = g.op("compare", [small, g.constant(10, az.F32)],
                    predicate="le")  # text
        g.output("y", small)
        g.output("m", g.op("cast", [mask], dtype=az.DType(az.I32)))  # dtype
        exe = self.az.compile(g, self.cpu)
        data = floats(range(12))
        y, m = floats([0] * 3), array.array("i", [9] * 3)
        self.run_on(exe, [tensor(data, [2, 6]), tensor(y, [1, 3]),
                          tensor(m, [1, 3], dtype=az.I32)])
        self.close(y, [6, 20, 20])
        self.assertEqual(list(m), [1, 0, 0])

    def test_strides_count_elements(self):
        g = self.az.graph()
        x = g.input("x", az.F32, [3, 4])
        g.output("y", g.op("neg", [x]))
        exe = self.az.compile(g, self.cpu)
        x, y = floats(range(30)), floats([0] * 12)
        self.run_on(exe, [tensor(x, [3, 4], [10, 1]), tensor(y, [3, 4])])
        self.close(y, [-(10 * i + j) for i in range(3) for j in range(4)])

    def test_attention_with_two_results(self):
        g = self.az.graph()
        q, k, v = (g.input(n, az.F32, [1, 1, 2, 4]) for n in "qkv")
        o, lse = g.op("attention", [q, k, v], scale=0.5, causal="bottom_right",
                      lse=True)
        g.output("o", o)
        g.output("lse", lse)
        exe = self.az.compile(g, self.cpu)
        q, k, v = (floats((i * s) % 5 / 5 for i in range(8)) for s in (1, 2, 3))
        o, lse = floats([0] * 8), floats([0] * 2)
        shape = [1, 1, 2, 4]
        self.run_on(exe, [tensor(t, shape) for t in (q, k, v, o)]
                    + [tensor(lse, [1, 1, 2])])
        self.close(o[:4], v[:4])  # the first query sees the first key alone
        score = 0.5 * sum(a * b for a, b in zip(q[:4], k[:4]))
        self.close([lse[0]], [score])

    def test_buffers_of_the_device(self):
        g = self.az.graph()
        g.output("y", g.op("abs", [g.input("x", az.F32, [500])]))
        exe = self.az.compile(g, self.cpu)
        x, y = floats([0] * 500), floats([0] * 500)
        self.az.random(tensor(x, [500]), 7)
        self.assertTrue(min(x) < -0.5 < 0.5 < max(x))
        buffers = [az.Buffer(self.az, self.cpu, 2000) for _ in range(2)]
        buffers[0].write((ctypes.c_float * 500).from_buffer(x))
        self.run_on(exe, [az.Tensor(b.address(), az.F32, [500])
                          for b in buffers])
        self.cpu.synchronize()
        buffers[1].read((ctypes.c_float * 500).from_buffer(y))
        self.close(y, [abs(v) for v in x])

    def test_an_error_has_all_its_parts(self):
        g = self.az.graph()
        x = g.input("x", az.F32, [2, 6])
        with self.assertRaises(az.AzulejoError) as caught:
            g.op("matmul", [x, x], label="product")
        self.assertEqual(caught.exception.code, 1)  # AZ_INVALID_GRAPH
        self.assertIn("product", str(caught.exception))
        self.assertTrue(caught.exception.rule)
        with self.assertRaises(az.AzulejoError):
            self.az.device("no such device")

    def test_a_dimension_that_no_run_could_know(self):
        g = self.az.graph()
        s = g.dim("S", 1, 8)
        g.output("y", g.op("neg", [g.input("x", az.F32, [f"2*{s}"])]))
        with self.assertRaises(az.AzulejoError) as caught:
            self.az.compile(g, self.cpu)
        self.assertEqual(caught.exception.rule, RULE)

    def test_image_and_explain(self):
        g = self.az.graph()
        g.output("y", g.op("exp", [g.input("x", az.F32, [64])]))
        exe = self.az.compile(g, self.cpu)
        self.assertRegex(exe.image(), r"^[0-9a-f]{16}$")
        self.assertIn('"kernels"', exe.explain())
        self.assertFalse(exe.from_cache())

    def test_a_pinned_schedule_is_used(self):
        g = self.az.graph()
        g.output("y", g.op("matmul", [g.input("a", az.F32, [96, 64]),
                                      g.input("b", az.F32, [64, 64])]))
        exe = self.az.compile(g, self.cpu, pin=b"Matmul{tileK=64}")
        self.assertIn("tileK=64", exe.explain())
        with self.assertRaises(az.AzulejoError):
            self.az.compile(g, self.cpu, pin=b"Matmul{tileK=33}")

    def test_compiles_on_several_threads(self):
        results, failures = {}, []

        def work(n):
            try:
                g = self.az.graph()
                x = g.input("x", az.F32, [n])
                g.output("y", g.op("add", [x, g.constant(n, az.F32)]))
                exe = self.az.compile(g, self.cpu)
                x, y = floats([1] * n), floats([0] * n)
                self.run_on(exe, [tensor(x, [n]), tensor(y, [n])])
                results[n] = list(y)
            except Exception as error:  # shown by the assertion below
                failures.append(error)
        threads = [threading.Thread(target=work, args=(n,))
                   for n in range(3, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(results, {n: [1.0 + n] * n for n in range(3, 9)})

    def test_handles_are_given_back_in_any_order(self):
        for _ in range(50):
            g = self.az.graph()
            g.output("y", g.op("neg", [g.input("x", az.F32, [2])]))
            self.assertTrue(g.digest())
            del g


if __name__ == "__main__":
    if "AZULEJO_LIBRARY" not in os.environ:
        sys.exit("set AZULEJO_LIBRARY")
    unittest.main()
