"""The C ABI of azulejo through ctypes; needs the standard library only.

    az = Library("lib/libazulejo.so")
    g = az.graph()
    x = g.input("x", F32, [4, 8])
    g.output("y", g.op("softmax", [x]))
    exe = az.compile(g, az.device("cpu"))
    exe.bind([Tensor(address, F32, [4, 8]), ...], workspace, bytes)()

Addresses are integers, so that this file knows neither numpy nor torch: a
`data_ptr()` or `ctypes.addressof` will do. Errors are AzulejoError.
"""
import ctypes as c
import os

F32, F16, BF16, I1, I8, I32, I64 = 0, 1, 2, 4, 5, 6, 7
DTYPE_BYTES = {F32: 4, F16: 2, BF16: 2, I1: 1, I8: 1, I32: 4, I64: 8}

UNSUPPORTED, DEVICE_LOST = 2, 14
CACHE_DEFAULT, CACHE_READ_WRITE, CACHE_READ_ONLY, CACHE_OFF = range(4)
INT, FLOAT, BOOL, STRING, INTS, SHAPE, DTYPE = range(7)


class Attr(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p),
                ("kind", c.c_int32), ("i", c.c_int64), ("f", c.c_double),
                ("s", c.c_char_p), ("ints", c.POINTER(c.c_int64)),
                ("dims", c.POINTER(c.c_char_p)), ("count", c.c_size_t)]


class CompileOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("tune_seconds", c.c_double),
                ("strict", c.c_int32), ("deterministic", c.c_int32),
                ("batch_invariant", c.c_int32), ("allow_fusion", c.c_int32),
                ("cache_mode", c.c_int32), ("cache_dir", c.c_char_p),
                ("cache_path_ro", c.c_char_p), ("worker_path", c.c_char_p),
                ("compiler_path", c.c_char_p), ("log", c.c_void_p),
                ("log_user", c.c_void_p), ("progress", c.c_void_p),
                ("progress_user", c.c_void_p), ("pool", c.c_void_p),
                ("device", c.c_void_p), ("pin", c.c_char_p),
                ("typical_sizes", c.c_char_p), ("debug_kernels", c.c_char_p),
                ("max_variants", c.c_int32)]


class TensorStruct(c.Structure):
    _fields_ = [("size", c.c_size_t), ("data", c.c_void_p),
                ("dtype", c.c_int32), ("rank", c.c_int32),
                ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64))]


class RunOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("stream", c.c_void_p),
                ("pool", c.c_void_p), ("check_pointers", c.c_int32)]


class BindingInfo(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p),
                ("is_output", c.c_int32), ("dtype", c.c_int32),
                ("rank", c.c_int32)]


class DimValue(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class AzulejoError(Exception):
    def __init__(self, code, message, where, rule, hint):
        text = f"{where}: {message} [{rule}]" + (f"; hint: {hint}" * bool(hint))
        super().__init__(text)
        self.code, self.message, self.where = code, message, where
        self.rule, self.hint = rule, hint


class DType(int):
    """An attribute that is an element type, not an integer."""


class Shape(list):
    """An attribute that is a shape: numbers, or text such as "2*S"."""


class Tensor:
    """Memory of the caller's. Strides count elements; None is contiguous."""

    def __init__(self, address, dtype, shape, strides=None):
        self.address, self.dtype = address, dtype
        self.shape, self.strides = list(shape), strides and list(strides)


def _text_array(items):
    return (c.c_char_p * len(items))(*[str(i).encode() for i in items])


def _ints(items):
    return (c.c_int64 * len(items))(*items)


class Library:
    def __init__(self, path=None):
        self.c = c.CDLL(path or os.environ.get("AZULEJO_LIBRARY")
                        or "libazulejo.so")
        for name in ("az_error_message", "az_error_where", "az_error_rule",
                     "az_error_hint", "az_device_name", "az_version",
                     "az_build_id"):
            getattr(self.c, name).restype = c.c_char_p
        self.c.az_string_data.restype = c.c_void_p
        self.c.az_string_size.restype = c.c_size_t
        self.c.az_executable_binding_count.restype = c.c_size_t
        self.c.az_buffer_data.restype = c.c_void_p
        for name in ("az_error_destroy", "az_buffer_destroy", "az_string_destroy",
                     "az_graph_destroy", "az_device_destroy",
                     "az_executable_destroy", "az_pool_destroy"):
            getattr(self.c, name).restype = None

    def call(self, name, *args):
        """Calls a function that ends in `az_error **`."""
        error = c.c_void_p()
        if getattr(self.c, name)(*args, c.byref(error)) == 0:
            return
        # c_void_p, since ctypes passes a bare integer as a C int.
        code = self.c.az_error_code(error)
        parts = [getattr(self.c, "az_error_" + part)(error).decode()
                 for part in ("message", "where", "rule", "hint")]
        self.c.az_error_destroy(error)
        raise AzulejoError(code, *parts)

    def text(self, name, *args):
        """Calls a function that gives an az_string before its error."""
        return self.data(name, *args).decode()

    def data(self, name, *args):
        made = c.c_void_p()
        self.call(name, *args, c.byref(made))
        text = c.string_at(self.c.az_string_data(made),
                           self.c.az_string_size(made))
        self.c.az_string_destroy(made)
        return text

    def random(self, tensor, seed, int_max=1):
        """Fills host memory: floats from [-1, 1)."""
        array, keep = _tensors([tensor])
        self.call("az_tensor_random", array, c.c_uint64(seed),
                  c.c_int64(int_max))
        del keep

    def version(self):
        return self.c.az_version().decode()

    def build_id(self):
        return self.c.az_build_id().decode()

    def graph(self):
        return Graph(self)

    def device(self, name=None):
        return Device(self, name)

    def pool(self, threads=0):
        return Pool(self, threads)

    def compile(self, graph, device, tune_seconds=0.0, fuse=True,
                cache_dir=None, **options):
        """`options`: further fields of az_compile_options by name."""
        o = CompileOptions()
        self.c.az_compile_options_init(c.byref(o), c.c_size_t(c.sizeof(o)))
        o.tune_seconds, o.allow_fusion = tune_seconds, int(fuse)
        o.cache_mode = CACHE_READ_WRITE if cache_dir else CACHE_OFF
        o.cache_dir = os.fsencode(cache_dir) if cache_dir else None
        for name, value in options.items():
            setattr(o, name, value)
        handle = c.c_void_p()
        self.call("az_compile", graph.handle, device.handle, c.byref(o),
                  c.byref(handle))
        return Executable(self, handle)


class _Owned:
    """A handle that is given back with this object."""
    destroy = None

    def __init__(self, library, handle):
        self.api, self.handle = library, handle

    def __del__(self):
        if self.handle:
            getattr(self.api.c, self.destroy)(self.handle)
            self.handle = None


class Device(_Owned):
    destroy = "az_device_destroy"

    def __init__(self, library, name):
        super().__init__(library, c.c_void_p())
        library.call("az_device_open", name.encode() if name else None,
                     c.byref(self.handle))

    def name(self):
        return self.api.c.az_device_name(self.handle).decode()

    def describe(self):
        return self.api.text("az_device_describe", self.handle)

    def synchronize(self, stream=None):
        self.api.call("az_device_synchronize", self.handle,
                          c.c_void_p(stream))


class Pool(_Owned):
    """Threads for runs on a CPU, and as many for compiling."""
    destroy = "az_pool_destroy"

    def __init__(self, library, threads):
        super().__init__(library, c.c_void_p())
        library.call("az_pool_create", c.c_int32(threads),
                     c.byref(self.handle))


class Buffer(_Owned):
    """Memory of a device, for programs that have no other way to get it."""
    destroy = "az_buffer_destroy"

    def __init__(self, library, device, size):
        super().__init__(library, c.c_void_p())
        library.call("az_buffer_create", device.handle, c.c_size_t(size),
                     c.byref(self.handle))

    def address(self):
        return self.api.c.az_buffer_data(self.handle)

    def write(self, host):
        """From a ctypes array, done on return."""
        self.api.call("az_buffer_write", self.handle, c.c_size_t(0), host,
                          c.c_size_t(c.sizeof(host)), None)

    def read(self, host):
        self.api.call("az_buffer_read", self.handle, c.c_size_t(0), host,
                          c.c_size_t(c.sizeof(host)), None)


class Graph(_Owned):
    destroy = "az_graph_destroy"

    def __init__(self, library):
        super().__init__(library, c.c_void_p())
        library.call("az_graph_create", c.byref(self.handle))

    def dim(self, name, low, high):
        self.api.call("az_graph_dim", self.handle, name.encode(),
                          c.c_int64(low), c.c_int64(high))
        return name

    def input(self, name, dtype, shape):
        value = c.c_int32()
        self.api.call("az_graph_input", self.handle, name.encode(),
                          c.c_int32(dtype), _text_array(shape),
                          c.c_size_t(len(shape)), c.byref(value))
        return value.value

    def op(self, kind, operands, label=None, **attrs):
        """The result, or a list of them if there are several."""
        keep = []  # what the attributes point to
        array = (Attr * max(len(attrs), 1))()
        for place, (name, value) in zip(array, attrs.items()):
            _fill(place, name, value, keep)
        results, count = (c.c_int32 * 8)(), c.c_size_t()
        self.api.call(
            "az_graph_op", self.handle, kind.encode(),
            (c.c_int32 * len(operands))(*operands), c.c_size_t(len(operands)),
            array, c.c_size_t(len(attrs)), label.encode() if label else None,
            results, c.c_size_t(8), c.byref(count))
        made = list(results[:count.value])
        return made[0] if len(made) == 1 else made

    def constant(self, value, dtype):
        return self.op("constant", [], value=float(value), dtype=DType(dtype))

    def output(self, name, value):
        self.api.call("az_graph_output", self.handle, name.encode(),
                          c.c_int32(value))

    def digest(self):
        return self.api.text("az_graph_digest", self.handle)


def _fill(attr, name, value, keep):
    attr.size, attr.name = c.sizeof(Attr), name.encode()
    if isinstance(value, bool):
        attr.kind, attr.i = BOOL, int(value)
    elif isinstance(value, DType):
        attr.kind, attr.i = DTYPE, int(value)
    elif isinstance(value, int):
        attr.kind, attr.i = INT, value
    elif isinstance(value, float):
        attr.kind, attr.f = FLOAT, value
    elif isinstance(value, str):
        attr.kind, attr.s = STRING, value.encode()
    elif isinstance(value, Shape):
        keep.append(_text_array(value))
        attr.kind, attr.count = SHAPE, len(value)
        attr.dims = c.cast(keep[-1], c.POINTER(c.c_char_p))
    else:
        keep.append(_ints(value))
        attr.kind, attr.count = INTS, len(value)
        attr.ints = c.cast(keep[-1], c.POINTER(c.c_int64))


class Executable(_Owned):
    destroy = "az_executable_destroy"

    def bindings(self):
        """(name, is_output, dtype, rank) of each, in the order of a run."""
        found = []
        for i in range(self.api.c.az_executable_binding_count(
                self.handle)):
            info = BindingInfo(size=c.sizeof(BindingInfo))
            self.api.call("az_executable_binding", self.handle,
                              c.c_size_t(i), c.byref(info))
            found.append((info.name.decode(), bool(info.is_output),
                          info.dtype, info.rank))
        return found

    def workspace_size(self, tensors):
        array, keep = _tensors(tensors)
        size = c.c_size_t()
        self.api.call("az_executable_workspace_size_for", self.handle,
                          array, c.c_size_t(len(tensors)), None,
                          c.byref(size))
        del keep
        return size.value

    def bind(self, tensors, workspace=None, workspace_bytes=0):
        """A function of a stream that runs on these tensors: checks, names
        and arrays are dealt with here, once."""
        array, keep = _tensors(tensors)
        options = RunOptions(size=c.sizeof(RunOptions))
        count, size = c.c_size_t(len(tensors)), c.c_size_t(workspace_bytes)
        place = c.c_void_p(workspace)

        def run(stream=None, keep=keep):
            options.stream = stream
            self.api.call("az_executable_run", self.handle, array, count,
                              place, size, c.byref(options))
        return run

    def explain(self, dims=None):
        values = [DimValue(n.encode(), v) for n, v in (dims or {}).items()]
        return self.api.text("az_executable_explain", self.handle, 1,
                                 (DimValue * len(values))(*values),
                                 c.c_size_t(len(values)))

    def image(self):
        """The digests of the code, from the header of the saved plan."""
        plan, field = self.api.data("az_executable_save",
                                        self.handle), b'"digest":"'
        parts = plan.split(field)[1:]
        return "+".join(part[:16].decode(errors="replace") for part in parts)

    def from_cache(self):
        return bool(self.api.c.az_executable_from_cache(self.handle))


def _tensors(tensors):
    array, keep = (TensorStruct * max(len(tensors), 1))(), []
    for place, one in zip(array, tensors):
        place.size, place.data = c.sizeof(TensorStruct), one.address
        place.dtype, place.rank = one.dtype, len(one.shape)
        for field, numbers in (("shape", one.shape), ("strides", one.strides)):
            if numbers is not None:
                keep.append(_ints(numbers))
                setattr(place, field, c.cast(keep[-1],
                                             c.POINTER(c.c_int64)))
    return array, keep
