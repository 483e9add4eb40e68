"""Measures cases in one process and prints a row for each.

run.py starts it and starts it again when a kernel took the device down.
"""
import concurrent.futures
import math
import os
import random
import sys
import time

import torch

import azulejo_c as az
import compile_times
import peers
import report
import timing
import verify

TORCH = {az.F32: torch.float32, az.F16: torch.float16, az.BF16: torch.bfloat16,
         az.I32: torch.int32, az.I64: torch.int64}
LOST = 3  # exit status: the device is gone, start a new process
MOST_SETS = 6


def make(spec, device, generator):
    dtype = TORCH[spec.dtype]
    if spec.fill == "ids":
        return torch.randint(0, int(spec.scale), spec.shape, device=device,
                             dtype=dtype, generator=generator)
    if spec.fill == "ones":
        return torch.ones(spec.shape, device=device, dtype=dtype)
    if spec.fill in ("cos", "sin"):
        s, half = spec.shape[0], spec.shape[-1]
        angle = torch.arange(s, device=device)[:, None] * 10000.0 ** (
            -torch.arange(half, device=device) / half)
        return getattr(angle.float(), spec.fill)().to(dtype).view(spec.shape)
    return torch.randn(spec.shape, device=device, dtype=dtype,
                       generator=generator) * spec.scale


def bound(spec, tensor):
    return az.Tensor(tensor.data_ptr(), spec.dtype, tensor.shape)


class Worker:
    def __init__(self, options):
        self.options = options
        self.gpu = options.device != "cpu"
        self.place = "cuda" if self.gpu else "cpu"
        self.az = az.Library(options.library)
        # Tunings measure: one at a time, and before anything else runs.
        self.pool = concurrent.futures.ThreadPoolExecutor(
            1 if options.tune else min(16, os.cpu_count() or 1))
        self.device = self.az.device(options.device)
        self.clock = compile_times.Clock(self.az, self.device)
        # Float32 stays float32: the reference must not be rounded.
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self.timer = timing.timer(self.place)
        self.shuffle = random.Random(options.seed)
        self.copy_tbs, self.matmul_tflops = 0.0, 0.0

    def compile(self, case):
        return self.az.compile(case.graph(self.az), self.device,
                               tune_seconds=self.options.tune,
                               cache_dir=self.options.cache)

    def pinned(self, case):
        """By schedule; those that are illegal for the case are left out."""
        found = {}
        for pin in self.options.pin:
            try:
                found[pin] = self.az.compile(
                    case.graph(self.az), self.device,
                    pin=pin.encode())
            except az.AzulejoError:
                continue
        return found

    def roofs(self):
        """The card's own limits, in this process and minute."""
        if not self.gpu:
            return None
        a = torch.randn(1 << 28, device="cuda")
        b = torch.empty_like(a)
        x, y = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
                for _ in range(2))
        found, _ = self.timer.measure(
            {"copy": lambda i: b.copy_(a), "matmul": lambda i: x @ y}, 1, 0.3,
            self.shuffle)
        self.copy_tbs = 2 * a.nbytes / found["copy"].median() / 1e9
        self.matmul_tflops = 2 * 8192 ** 3 / found["matmul"].median() / 1e9
        return {"suite": "roofs", "case": "roofs", "copy_tbs": self.copy_tbs,
                "matmul8192_tflops": self.matmul_tflops, "bytes": 0,
                "flops": 0, "peer_ms": {}, "floor_ms": 0.0, "verified": True,
                "ours_ms": None, "sm_clock": self.timer.clock_ghz()}

    def floor_ms(self, case):
        """No implementation is faster: bytes at the measured copy rate, or
        operations at the dense rate that the maker states."""
        if not self.copy_tbs:
            return 0.0
        return max(case.bytes() / self.copy_tbs / 1e9,
                   case.flops() / self.options.peak_tflops / 1e9)

    def row(self, case):
        return {"suite": case.suite, "case": case.name,
                "device": torch.cuda.get_device_name() if self.gpu
                else self.device.name(), "commit": self.options.commit,
                "image": "", "bytes": case.bytes(), "flops": case.flops(),
                "ours_ms": None, "peer_ms": {},
                "floor_ms": self.floor_ms(case), "verified": False,
                "sm_clock": 0.0, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                                       time.gmtime())}

    def run(self, case, compiling, pinned, seconds):
        row = self.row(case)
        try:
            exe = compiling.result(timeout=90)
        except az.AzulejoError as error:
            key = "skipped" if error.code == az.UNSUPPORTED else "error"
            row[key] = str(error)
            return row
        except concurrent.futures.TimeoutError:
            row["error"] = "compiling took more than 90 s"
            return row
        row["image"] = exe.image()
        if self.options.compile_times:
            row["compile_ms"] = self.clock.plan_ms(case)
            row["compile_form_ms"] = self.clock.form_ms(case)
        traffic = case.bytes()
        sets = 1
        if self.timer.l2_bytes():
            sets = min(MOST_SETS,
                       math.ceil(3 * self.timer.l2_bytes() / traffic))
        data = [self.data(case, i) for i in range(sets)]
        ours, space = self.ours(case, exe, data, row)
        row["workspace_bytes"] = space.numel()
        pins, spaces = {}, []
        for pin, other in pinned.result(timeout=90).items():
            pins[pin], space = self.ours(case, other, data, row)
            spaces.append(space)
        contestants = {"ours": ours, **pins}
        contestants.update(self.contestants(case, data, row))
        for name in [*pins, "ours"]:
            self.verify(case, contestants[name], data, row)
            if not row["verified"]:
                row["wrong"] += f" ({name})"
                return row
        before = [out.clone() for out in data[0][1]]
        found, failures = self.timer.measure(contestants, sets, seconds,
                                             self.shuffle)
        if "ours" in failures:
            row["error"] = failures.pop("ours")
        row.setdefault("peer_failed", {}).update(failures)
        for name, timings in found.items():
            if name == "ours":
                row["ours_ms"] = timings.median()
                row["spread"], row["protocol"] = (timings.spread(),
                                                  timings.protocol)
            elif name in pins:
                row.setdefault("pinned_ms", {})[name] = timings.median()
            else:
                row["peer_ms"][name] = timings.median()
        row["sm_clock"] = self.timer.clock_ghz()
        if pins: # other schedules round elsewhere
            ours(0)
            self.timer.sync()
        # The timed runs must have left what the checked run left.
        if not all(torch.equal(a, b) for a, b in zip(before, data[0][1])):
            row["verified"] = False
            row["wrong"] = "the timed runs left other values"
        return row

    def data(self, case, number):
        generator = torch.Generator(device=self.place)
        generator.manual_seed(self.options.seed + number)
        inputs = [make(s, self.place, generator) for s in case.inputs()]
        outputs = [torch.full(s.shape, math.nan, device=self.place,
                              dtype=TORCH[s.dtype]) for s in case.outputs()]
        return inputs, outputs

    def ours(self, case, exe, data, row):
        specs = case.inputs() + case.outputs()
        tensors = [[bound(s, t) for s, t in zip(specs, inputs + outputs)]
                   for inputs, outputs in data]
        size = exe.workspace_size(tensors[0])
        space = torch.empty(size + 256, dtype=torch.uint8, device=self.place)
        at = (space.data_ptr() + 255) // 256 * 256
        runs = [exe.bind(one, at, size) for one in tensors]

        def call(i):
            runs[i](torch.cuda.current_stream().cuda_stream if self.gpu
                    else None)
        return call, space

    def contestants(self, case, data, row):
        made, row["peer_failed"] = {}, {}
        for name, factory in peers.wanted(case, self.options.slow_peers):
            try:
                function = factory(case)
                function(*data[0][0])
                self.timer.sync()
                made[name] = lambda i, f=function: f(*data[i][0])
            except Exception as error:
                row["peer_failed"][name] = str(error).split("\n")[0][:120]
        return made

    def yardstick(self, case, inputs):
        for factory in peers.PEERS[case.kind].values():
            try:
                outputs = factory(case)(*inputs)
                self.timer.sync()
                return outputs
            except (peers.Unavailable, RuntimeError):
                continue
        return None

    def verify(self, case, ours, data, row):
        """Every data set: its outputs start as NaN."""
        row["verified"] = False
        for number, (inputs, outputs) in enumerate(data):
            for out in outputs:
                out.fill_(math.nan)
            ours(number)
            self.timer.sync()
            wrong, row["error_ours"], row["error_peer"] = verify.check(
                case, inputs, outputs, self.yardstick(case, inputs))
            if wrong:
                row["wrong"] = wrong
                return
        row["verified"] = True


def work(options, cases):
    worker = Worker(options)
    compiling = {id(case): worker.pool.submit(worker.compile, case)
                 for case in cases}
    pinned = {id(case): worker.pool.submit(worker.pinned, case)
              for case in cases}

    def say(row):
        print(report.dump(row), flush=True)
    # Neither timing nor capture likes company.
    concurrent.futures.wait([*compiling.values(), *pinned.values()],
                            timeout=min(30 + 2 * options.tune * len(cases),
                                        max(options.until - time.time(), 30)))
    roofs = worker.roofs()
    if roofs:
        say(roofs)
    for number, case in enumerate(cases):
        left = options.until - time.time()
        if left < 0:
            row = worker.row(case)
            row["skipped"] = "the time was spent"
            say(row)
            continue
        print(f"@begin {case.suite}/{case.name}", flush=True)
        share = min(1.0, max(0.15, 0.5 * left / (len(cases) - number)))
        try:
            row = worker.run(case, compiling[id(case)], pinned[id(case)],
                             share)
        except Exception as error:
            row = worker.row(case)
            row["error"] = f"{type(error).__name__}: {error}".split("\n")[0]
        say(row)
        try:
            worker.timer.sync()
            if worker.gpu:
                torch.cuda.empty_cache()
        except Exception:
            # A kernel took the context down. Its destructors would complain.
            sys.stdout.flush()
            os._exit(LOST)
    sys.stdout.flush()
    os._exit(0)  # threads may still compile what nobody waits for
