"""Files that were made to do harm, by the kind of reader that they are for; each must be refused in one sentence."""

import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper

from isthmus.io.files import LARGEST_JSON

Case = tuple[str, bytes]
DEFLATED, BZIP2, LZMA = 8, 12, 14
MANY = 40


def hostile(suffix: str, sound: bytes, canary: Path) -> Iterator[Case]:
    """Names and contents of hostile files for readers of files with that suffix; `sound` is one that is not."""
    yield "nothing", b""
    yield "text", b"hello\n" * 100
    if suffix == ".npz":
        yield from _arrays()
    elif suffix == ".zip":
        yield from _sb3(sound, canary)
    elif suffix == ".pkl":
        yield from _pickles(canary)
    elif suffix == ".onnx":
        yield from _onnx()
    elif suffix == ".json":
        yield from _json(sound)


def special(scene: Path, name: str) -> Iterator[tuple[str, Path]]:
    """What is not a file at all, by that name."""
    pipe, device, loop, folder = (scene / kind / name for kind in ("pipe", "device", "loop", "folder"))
    for path in (pipe, device, loop, folder):
        path.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    loop.symlink_to(loop.name)
    folder.mkdir()
    yield from (("a pipe", pipe), ("a device", device), ("a link to itself", loop), ("a folder", folder))


def raw_zip(*entries: tuple[str, int, bytes, int], flags: int = 0, repeat: int = 1) -> bytes:
    """A zip of (name, method, packed bytes, size that is claimed), without a check of anything."""
    body, directory, count = bytearray(), bytearray(), 0
    for name, method, packed, size in entries:
        head = struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 0, 0, len(packed), size, len(name), 0)
        at = len(body)
        body += b"PK\x03\x04" + head + name.encode() + packed
        one = b"PK\x01\x02" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, at) + name.encode()
        directory += one * repeat
        count += repeat
    end = struct.pack("<HHHHIIH", 0, 0, count & 0xFFFF, count & 0xFFFF, len(directory), len(body), 0)
    return bytes(body + directory + b"PK\x05\x06" + end)


def _zeros(megabytes: int, head: bytes = b"") -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(head)
    for _ in range(megabytes):
        packed += packer.compress(bytes(1 << 20))
    return packed + packer.flush()


def _head(descr: str, shape: str) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def _npz(meta: str = '{"kind": "policy", "activation": "relu"}', **arrays: Any) -> bytes:  # noqa: ANN401
    file = io.BytesIO()
    np.savez(file, meta=np.array(meta), **arrays)
    return file.getvalue()


def _arrays() -> Iterator[Case]:
    packed = _zeros(32)
    names = [f"x{i}.npy" for i in range(MANY)]
    yield "1.3 GB of zeros", raw_zip(*((name, DEFLATED, packed, 32 << 20) for name in names))
    yield "1.3 GB, claimed to be 100 bytes", raw_zip(*((name, DEFLATED, packed, 100) for name in names))
    yield "an entry that is listed 250 times", raw_zip(("x.npy", DEFLATED, packed, 32 << 20), repeat=250)
    yield "300,000 entries", raw_zip(("x.npy", 0, b"", 0), repeat=300_000)
    yield "a shape of 10^12", raw_zip(("meta.npy", 0, _head("'<f8'", "(1000000000000,)"), 128))
    yield "a shape of 10^12 by 0", raw_zip(("meta.npy", 0, _head("'<f8'", "(1000000000000, 0)"), 128))
    yield "a type without size", raw_zip(("meta.npy", 0, _head("'|V0'", "(1000000000000,)"), 128))
    yield "a text of 4 GB", raw_zip(("meta.npy", 0, _head("'<U1000000000'", "()"), 128))
    yield "a deep header", raw_zip(("meta.npy", 0, _head("(" * 40, "()"), 128))
    yield "objects", raw_zip(("meta.npy", 0, _head("'|O'", "()") + b"cos\nsystem\n(S'true'\ntR.", 150))
    yield "lzma, cut", raw_zip(("meta.npy", LZMA, b"\x09\x04\x05\x00\x5d\x00\x00\x80\x00" + bytes(20), 1000))
    yield "bzip2, damaged", raw_zip(("meta.npy", BZIP2, b"BZh91AY&SY" + bytes(20), 1000))
    yield "deflate, damaged", raw_zip(("meta.npy", DEFLATED, b"\xff\xfe\xfd" * 20, 1000))
    yield "encrypted", raw_zip(("meta.npy", 0, bytes(100), 88), flags=1)
    yield "a method that does not exist", raw_zip(("meta.npy", 99, bytes(100), 100))
    yield "a deep description", _npz("[" * 100_000)
    yield "a description of 5,000 digits", _npz('{"kind": ' + "9" * 5000 + "}")
    yield "a kind of 400 digits", _npz('{"kind": ' + "9" * 400 + "}")
    large = np.full((11, 11), 3e38, np.float32)
    ones, zeros = np.ones(11), np.zeros(11)
    statistics = {"input_mean": zeros, "input_scale": ones, "input_clip": np.array(np.inf)}
    layers: dict[str, Any] = {"weight_0": large, "bias_0": zeros, "weight_1": large[:, :3], "bias_1": zeros[:3]}
    yield "weights that give NaN", _npz(**statistics, **layers, output_mean=zeros[:3], output_scale=ones[:3])


def _sb3(sound: bytes, canary: Path) -> Iterator[Case]:
    with zipfile.ZipFile(io.BytesIO(sound)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    weights: dict[str, Any] = torch.load(io.BytesIO(entries["policy.pth"]), weights_only=True)

    def with_weights(content: bytes) -> bytes:
        return _zip(entries | {"policy.pth": content})

    def with_tensor(change: Callable[[torch.Tensor], object], *, zipped: bool = True) -> bytes:
        file = io.BytesIO()
        changed = {name: change(value) if value.ndim == 2 else value for name, value in weights.items()}
        torch.save(changed, file, _use_new_zipfile_serialization=zipped)
        return with_weights(file.getvalue())

    for name, content in _pickles(canary):
        yield f"weights: {name}", with_weights(_zip({"archive/data.pkl": content, "archive/version": b"3\n"}))
    for name, content in _arrays():
        yield f"arrays: {name}", content
    packed = _zeros(32)
    bomb = raw_zip(*((f"archive/data/{i}", DEFLATED, packed, 32 << 20) for i in range(MANY)))
    yield "weights of 1.3 GB", with_weights(bomb)
    yield "settings of 1.3 GB", raw_zip(("policy.pth", 0, b"", 0), ("data", DEFLATED, _zeros(1300), 1300 << 20))
    for name, change in _odd_tensors().items():
        try:
            yield f"tensors: {name}", with_tensor(change)
        except (RuntimeError, NotImplementedError):  # this torch does not save them
            continue
    yield "a file of before torch 1.6, odd", with_tensor(lambda one: one.to_sparse(), zipped=False)
    for name, text in {
        "a deep setting": "[" * 100_000,
        "no object": "[]",
        "settings of 400 digits": '{"policy_kwargs": {"clip_mean": ' + "9" * 400 + ', "squash_output": 7}}',
        "settings of 5,000 digits": '{"policy_kwargs": ' + "9" * 5000 + "}",
    }.items():
        yield name, _zip(entries | {"data": text.encode()})


def _odd_tensors() -> dict[str, Callable[[torch.Tensor], object]]:
    return {
        "sparse": lambda one: one.to_sparse(),
        "meta": lambda one: one.to("meta"),
        "quantised": lambda one: torch.quantize_per_tensor(one, 0.1, 0, torch.qint8),
        "nested": lambda one: torch.nested.nested_tensor([one[0], one[0][:2]]),
        "0-D": lambda one: one[0, 0],
        "stride 0": lambda one: one[:1].expand(one.shape),
        "complex": lambda one: one.to(torch.complex64),
        "integers": lambda one: one.to(torch.int64),
        "NaN": lambda one: one * float("nan"),
        "bfloat16": lambda one: one.to(torch.bfloat16),
        "text": lambda _one: "weights",
        "empty": lambda one: one[:0],
    }


def _zip(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def _pickles(canary: Path) -> Iterator[Case]:
    command = f"touch {canary}"
    yield "memo of 4 GB", b"\x80\x02Nr\xff\xff\xff\xff."
    yield "a memo number of 4,000 digits", b"Np" + b"9" * 4000 + b"\n."
    for name, code in {"bytes": b"\x8e", "bytearray": b"\x96", "text": b"\x8d", "frame": b"\x95"}.items():
        yield f"{name} of 8 exabytes", b"\x80\x05" + code + b"\xff" * 7 + b"\x7f."
        yield f"{name} of 4 GB", b"\x80\x05" + code + struct.pack("<Q", 1 << 32) + b"."
    doubled = b"\x80\x02)q\x00" + b"".join(b"0h%ch%c\x86q%c" % (i, i, i + 1) for i in range(60))
    yield "a key that doubles 60 times", b"\x80\x02}" + doubled[2:] + b"Ns."
    yield "a set of what doubles 60 times", b"\x80\x04\x8f(" + doubled[2:] + b"\x90."
    yield "a persistent id that doubles 60 times", doubled + b"Q."
    lists = b"]q\x00K\x00a" + b"".join(b"0]q%ch%cah%ca" % (i + 1, i, i) for i in range(60))
    mean = b"cstable_baselines3.common\nRunningMeanStd\n)R}U\x04mean" + lists + b"sU\x03varh\x05sb"
    yield (
        "a mean that doubles 60 times",
        b"\x80\x02cstable_baselines3.common\nVecNormalize\n)R}U\x07obs_rms" + mean + b"sb.",
    )
    yield "a type that doubles 60 times", b"\x80\x02cnumpy\ndtype\n(" + lists + b"tR."
    text = b"X" + struct.pack("<I", 1 << 20) + b"a" * (1 << 20)
    encode = b"0h\x01h\x00U\x06latin1\x86R"
    yield "1 MB of bytes, 20,000 times", b"\x80\x02" + text + b"q\x000c_codecs\nencode\nq\x01" + encode * 20_000 + b"."
    numbers = b"(" + b"K\x01" * 50_000 + b"tq\x00"
    yield (
        "50,000 arguments, 40,000 times",
        b"\x80\x02" + numbers + b"0cgym.x\ny\nq\x01" + b"h\x00R0h\x01" * 40_000 + b".",
    )
    yield "a million instructions", b"N0" * 500_000 + b"N."
    yield "a number of 8 MB as a key", b"\x80\x02}\x8b" + struct.pack("<i", 8 << 20) + b"\x7f" * (8 << 20) + b"Ns."
    yield "lists in lists", b"]" * 150_000 + b"a" * 149_999 + b"."
    yield "code, by GLOBAL", f"cos\nsystem\n(S'{command}'\ntR.".encode()
    yield "code, by INST", f"(S'{command}'\nios\nsystem\n.".encode()
    yield "code, by OBJ", f"(cos\nsystem\nS'{command}'\no.".encode()
    yield "code, by STACK_GLOBAL", b"\x80\x04\x8c\x02os\x8c\x06system\x93" + f"(S'{command}'\ntR.".encode()
    yield "code, by BUILD", f"cgym.x\ny\n)R}}S'__setstate__'\ncos\nsystem\nsbS'{command}'\nb.".encode()
    yield "an extension", b"\x82\x01."
    yield "nothing to take", b"."


def _model(
    nodes: list[Any],
    constants: dict[str, np.ndarray] | None = None,
    output: tuple[str, int, list[Any] | None] = ("action", TensorProto.FLOAT, ["batch", 3]),
    batch: str | int = "batch",
    **options: Any,  # noqa: ANN401
) -> bytes:
    tensors = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("seen", TensorProto.FLOAT, [batch, 11])],
        [helper.make_tensor_value_info(*output)],
        tensors,
    )
    imports = options.pop("opset_imports", [helper.make_opsetid("", 13)])
    return helper.make_model(graph, opset_imports=imports, ir_version=8, **options).SerializeToString()


def _with_constant(*nodes: Any, **constants: np.ndarray) -> bytes:  # noqa: ANN401
    """A sound policy to which the sum of a constant "big" is added, which is computed when the file is loaded."""
    node = helper.make_node
    ends = [
        node("MatMul", ["seen", "w"], ["a"]),
        node("ReduceSum", ["big"], ["s"], keepdims=0),
        node("Add", ["a", "s"], ["action"]),
    ]
    return _model([*nodes, *ends], constants | {"w": np.ones((11, 3), np.float32)})


def _onnx() -> Iterator[Case]:
    node, ints = helper.make_node, np.array
    huge = ints([100_000, 100_000], np.int64)
    yield "ConstantOfShape", _with_constant(node("ConstantOfShape", ["n"], ["big"]), n=huge)
    yield "ConstantOfShape of 2^62", _with_constant(node("ConstantOfShape", ["n"], ["big"]), n=ints([2**62], np.int64))
    one = np.ones(1, np.float32)
    yield "Expand", _with_constant(node("Expand", ["x", "n"], ["big"]), n=huge, x=one)
    yield "Tile", _with_constant(node("Tile", ["x", "n"], ["big"]), n=huge, x=one[None])
    ends = {"a": ints(0, np.int64), "b": ints(10**10, np.int64), "c": ints(1, np.int64)}
    yield "Range", _with_constant(node("Range", ["a", "b", "c"], ["r"]), node("Cast", ["r"], ["big"], to=1), **ends)
    fine = {"a": ints(0.0, np.float32), "b": ints(1.0, np.float32), "c": ints(1e-10, np.float32)}
    yield "Range in steps of 1e-10", _with_constant(node("Range", ["a", "b", "c"], ["big"]), **fine)
    yield "Pad", _with_constant(node("Pad", ["x", "n"], ["big"]), n=ints([0, 10**10], np.int64), x=one)
    sizes = {
        "x": np.ones((1, 1, 1, 1), np.float32),
        "e": np.zeros(0, np.float32),
        "n": ints([1, 1, 10**5, 10**5], np.int64),
    }
    yield "Resize", _with_constant(node("Resize", ["x", "e", "e", "n"], ["big"]), **sizes)
    yield "RandomNormal", _with_constant(node("RandomNormal", [], ["big"], shape=[10**5, 10**5]))
    doubling = [node("Concat", [f"x{i}", f"x{i}"], [f"x{i + 1}"], axis=0) for i in range(40)]
    yield "Concat that doubles 40 times", _with_constant(*doubling, node("Identity", ["x40"], ["big"]), x0=one)
    wide = {"x": np.ones((60_000, 1), np.float32), "y": np.ones((1, 60_000), np.float32)}
    yield "an outer product", _with_constant(node("MatMul", ["x", "y"], ["big"]), **wide)
    yield "a broadcast sum", _with_constant(node("Add", ["x", "y"], ["big"]), **wide)
    square = node("ConstantOfShape", ["n"], ["x0"], value=helper.make_tensor("v", TensorProto.FLOAT, [1], [0.5]))
    powers = [node("MatMul", [f"x{i}", f"x{i}"], [f"x{i + 1}"]) for i in range(400)]
    yield (
        "400 large products",
        _with_constant(square, *powers, node("Identity", ["x400"], ["big"]), n=ints([3000, 3000], np.int64)),
    )
    yield from _control_flow()
    yield from _odd_models()


def _control_flow() -> Iterator[Case]:
    node = helper.make_node
    yes = helper.make_tensor_value_info("yes", TensorProto.BOOL, [])
    body = helper.make_graph(
        [node("Identity", ["go"], ["yes"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        ],
        [yes],
    )
    limit = {"n": np.array(2**62, np.int64), "true": np.array(True)}
    product = node("MatMul", ["seen", "w"], ["action"])
    weights = {"w": np.ones((11, 3), np.float32)}
    yield "Loop for ever", _model([node("Loop", ["n", "true"], [], body=body), product], limit | weights)
    branch = helper.make_graph(
        [node("MatMul", ["seen", "w"], ["y"])], "b", [], [helper.make_tensor_value_info("y", 1, None)]
    )
    yield "If", _model([node("If", ["true"], ["action"], then_branch=branch, else_branch=branch)], limit | weights)
    yield "an unknown operator with a graph", _model([node("Foo", ["seen"], ["action"], body=body)], weights)
    twice = [
        helper.make_function(
            "f",
            f"F{i}",
            ["x"],
            ["z"],
            [node(f"F{i - 1}", ["x"], ["y"], domain="f"), node(f"F{i - 1}", ["y"], ["z"], domain="f")],
            [helper.make_opsetid("", 13), helper.make_opsetid("f", 1)],
        )
        for i in range(1, 40)
    ]
    first = helper.make_function("f", "F0", ["x"], ["z"], [node("Tanh", ["x"], ["z"])], [helper.make_opsetid("", 13)])
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("f", 1)]
    yield (
        "functions that double 40 times",
        _model([node("F39", ["seen"], ["action"], domain="f")], functions=[first, *twice], opset_imports=imports),
    )


def _odd_models() -> Iterator[Case]:
    node, weight = helper.make_node, {"w": np.ones((11, 3), np.float32)}
    product = node("MatMul", ["seen", "w"], ["action"])
    yield "observations four at a time", _model([product], weight, ("action", 1, [4, 3]), batch=4)
    yield "too few numbers in a tensor", _external(dims=[100_000, 100_000])
    yield "weights in another file", _external(dims=[11, 3], location="../../../../etc/passwd")
    yield "weights at an address", _external(dims=[11, 3], location="*/_ORT_MEM_ADDR_/*")
    yield (
        "NaN",
        _model(
            [product, node("Log", ["m"], ["n"]), node("Add", ["action", "n"], ["z"])],
            weight | {"m": -np.ones(3, np.float32)},
            ("z", 1, ["batch", 3]),
        ),
    )
    yield "integers", _model([product, node("Cast", ["action"], ["z"], to=7)], weight, ("z", 7, ["batch", 3]))
    yield (
        "a table for one observation",
        _model([node("Reshape", ["seen", "n"], ["action"])], {"n": np.array([11, -1], np.int64)}, ("action", 1, None)),
    )
    yield "opset 99999", _model([product], weight, opset_imports=[helper.make_opsetid("", 99_999)])
    yield "an operator that does not exist", _model([node("Frobnicate", ["seen"], ["action"])], weight)
    yield "20,000 nodes", _model([node("Tanh", [f"t{i}"], [f"t{i + 1}"]) for i in range(20_000)], weight)
    yield "messages in messages", b"\x3a\xff\x7f" * 5000


def _external(dims: list[int], location: str = "") -> bytes:
    weight = TensorProto(name="w", data_type=1, dims=dims)
    if location:
        weight.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, "offset": "0", "length": "132"}.items():
            weight.external_data.add(key=key, value=value)
    seen = helper.make_tensor_value_info("seen", 1, ["batch", 11])
    action = helper.make_tensor_value_info("action", 1, ["batch", 3])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["seen", "w"], ["action"])], "policy", [seen], [action], [weight]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def _json(sound: bytes) -> Iterator[Case]:
    yield "a list", b"[]"
    yield "null", b"null"
    yield "deep", b"[" * 200_000
    yield "an object that is deep", b'{"a":' * 200_000
    yield (
        "as deep as can be read",
        json.dumps(json.loads(sound) | {"extra": "?"}).replace('"?"', "[" * 950 + "]" * 950).encode(),
    )
    for name, unit in {"lists": b"[]", "tables": b'{"a":{}}'}.items():
        yield f"8 MB of {name}", b'{"x": [' + b",".join([unit] * (LARGEST_JSON // (len(unit) + 1) - 10)) + b"]}"
    yield "a name of 8 MB", b'{"' + b"x" * (LARGEST_JSON - 100) + b'": 1}'
    yield "5,000 digits", b'{"format": ' + b"9" * 5000 + b"}"
    yield "UTF-16", sound.decode().encode("utf-16")
    data: dict[str, Any] = json.loads(sound)
    numbers = [name for name, value in data.items() if isinstance(value, int | float) and not isinstance(value, bool)]
    for name in numbers:
        yield f"{name} of 400 digits", json.dumps(data | {name: "?"}).replace('"?"', "9" * 400).encode()
        yield f"{name} that is a text", json.dumps(data | {name: "many"}).encode()
        yield f"{name} that is not a number", json.dumps(data | {name: float("nan")}).encode()
