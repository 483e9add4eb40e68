"""How contestants are timed: in turns, in one process, on one stream.

A contestant is a function of a data set's number. On a GPU its calls are
captured in a CUDA graph, so the host's cost is nobody's. Two protocols:

- sustained, for calls of 80 us and more: per round and in random order, each
  contestant replays for some milliseconds untimed and then timed, back to back,
  going round its data sets, of which there are enough to overflow the L2 cache.
  This is the card in the power state of real work.
- cold, for shorter ones: the L2 is flushed before each single replay. The flush
  also covers the launch, so only the replay is timed.

The reported time is the median over rounds or replays. On a CPU (to test the
scripts) calls are timed one by one.
"""
import random
import statistics
import time

import torch

COLD_BELOW_MS = 0.08
WARM_MS, TIMED_MS = 8.0, 16.0
MOST_CALLS = 48
COLD_REPLAYS = 80


class Timings:
    def __init__(self, protocol, samples):
        self.protocol, self.samples = protocol, samples

    def median(self):
        return statistics.median(self.samples)

    def spread(self):
        """Half of the middle 80 % over the median."""
        s = sorted(self.samples)
        low, high = s[len(s) // 10], s[-1 - len(s) // 10]
        return (high - low) / 2 / self.median()


class Host:
    """perf_counter, for machines without a GPU."""

    def measure(self, contestants, sets, seconds, shuffle):
        samples = {name: [] for name in contestants}
        for _ in range(5):
            for name, call in contestants.items():
                start = time.perf_counter()
                call(0)
                samples[name].append((time.perf_counter() - start) * 1e3)
        return {n: Timings("host", s) for n, s in samples.items()}, {}

    def clock_ghz(self):
        return 0.0

    def l2_bytes(self):
        return 0

    def sync(self):
        pass


class Cuda:
    def __init__(self):
        from clock import ClockKernel
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self.l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.empty(max(2 * self.l2, 1 << 27) // 4,
                                 dtype=torch.int32, device="cuda")
        self.clock = ClockKernel()

    def l2_bytes(self):
        return self.l2

    def clock_ghz(self):
        """Of the last sustained round, or of the last cold replays."""
        return self.clock.ghz()

    def sync(self):
        torch.cuda.synchronize()

    def _events(self):
        return (torch.cuda.Event(enable_timing=True),
                torch.cuda.Event(enable_timing=True))

    def _once(self, call, count):
        """Milliseconds of one call, roughly."""
        start, end = self._events()
        start.record()
        for i in range(count):
            call(i)
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / count

    def _capture(self, call, calls, sets):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream,
                              capture_error_mode="thread_local"):
            for i in range(calls):
                call(i % sets)
        return graph

    def measure(self, contestants, sets, seconds, shuffle):
        """Timings by name, and failures by name."""
        failures, rough, graphs, calls = {}, {}, {}, {}
        for name, call in contestants.items():
            try:
                for i in range(3):  # module loading, plans of libraries
                    call(i % sets)
                torch.cuda.synchronize()
                rough[name] = self._once(lambda i: call(i % sets), 2)
            except Exception as error:
                failures[name] = str(error).split("\n")[0]
        if not rough:
            return {}, failures
        cold = min(rough.values()) < COLD_BELOW_MS
        for name in list(rough):
            count = int(4.0 / max(rough[name], 1e-3))
            count = 1 if cold else max(1, min(MOST_CALLS, count))
            # Whole turns round the data sets.
            calls[name] = 1 if cold else -(-count // sets) * sets
            try:
                graphs[name] = self._capture(contestants[name], calls[name],
                                             sets)
            except Exception as error:
                failures[name] = "capture: " + str(error).split("\n")[0]
                torch.cuda.synchronize()
        order, samples = list(graphs), {name: [] for name in graphs}
        protocol = self._cold if cold else self._sustained
        deadline = time.monotonic() + seconds
        rounds = 0
        while order and (rounds < 3 or time.monotonic() < deadline):
            shuffle.shuffle(order)
            protocol(order, graphs, calls, samples)
            rounds += 1
            if rounds >= (4 if cold else 9):
                break
        kind = "cold" if cold else "sustained"
        return {n: Timings(kind, s) for n, s in samples.items()}, failures

    def _sustained(self, order, graphs, calls, samples):
        for name in order:
            graph, count = graphs[name], calls[name]
            warm, end = self._events()
            warm.record()
            graph.replay()
            end.record()
            end.synchronize()
            one = max(warm.elapsed_time(end), 1e-3)
            for _ in range(max(0, int(WARM_MS / one) - 1)):
                graph.replay()
            times = max(1, round(TIMED_MS / one))
            start, end = self._events()
            start.record()
            for _ in range(times):
                graph.replay()
            end.record()
            self.clock.launch(self.stream.cuda_stream)
            end.synchronize()
            samples[name].append(start.elapsed_time(end) / times / count)

    def _cold(self, order, graphs, calls, samples):
        pairs = []
        for _ in range(COLD_REPLAYS // 4):
            for name in random.sample(order, len(order)):
                start, end = self._events()
                self.flush.zero_()
                start.record()
                graphs[name].replay()
                end.record()
                pairs.append((name, start, end))
        self.clock.launch(self.stream.cuda_stream)
        torch.cuda.synchronize()
        for name, start, end in pairs:
            samples[name].append(start.elapsed_time(end))


def timer(device):
    return Cuda() if device != "cpu" else Host()
