"""DLPack's capsules made by hand, over memory of the test's own: what no library would hand over can be asked for."""

import ctypes


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Plain(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype = ctypes.c_char_p
_name.argtypes = [ctypes.py_object]


def name_of(capsule):
    """What a capsule is called."""
    return _name(capsule).decode()


class Made:
    """A structure over `values`, f32, with its capsule. It counts how often it is freed."""

    def __init__(self, values, shape, *, versioned=True, name=None, device=(1, 0), dtype=(2, 32, 1), version=1, flags=0):
        self.freed = 0
        self.values = (ctypes.c_float * len(values))(*values)
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.deleter = DELETER(self._free)
        data = ctypes.cast(self.values, ctypes.c_void_p)
        tensor = Tensor(data, Device(*device), len(shape), DataType(*dtype), self.shape, None, 0)
        if versioned:
            self.structure = Versioned(version, 0, None, self.deleter, flags, tensor)
        else:
            self.structure = Plain(tensor, None, self.deleter)
        # A capsule keeps the pointer to its name, which therefore lives here.
        self.name = name or (b"dltensor_versioned" if versioned else b"dltensor")
        self.capsule = _new(ctypes.addressof(self.structure), self.name, None)

    def _free(self, _structure):
        self.freed += 1
