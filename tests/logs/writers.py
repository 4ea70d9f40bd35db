"""One log, written in every format by the packages that own the formats. `make fuzz` damages the same files."""

import json

import numpy as np

JOINTS = ("hip", "knee", "ankle")
STEP_NS = 5_000_000
COUNT = 60
START_NS = 1_700_000_000_000_000_000


def motion():
    time = np.arange(COUNT) * STEP_NS * 1e-9
    position = np.sin(2 * np.pi * np.outer(time, [1.5, 2.25, 0.75])) * [0.3, -0.7, 1.1]
    return time, position, np.gradient(position, time, axis=0)


def joint_state(typestore, number, version):
    kinds = typestore.types
    _, position, velocity = motion()
    stamp = START_NS + number * STEP_NS
    time = kinds["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
    extra = {"seq": number} if version == 1 else {}
    header = kinds["std_msgs/msg/Header"](stamp=time, frame_id="robot", **extra)
    return kinds["sensor_msgs/msg/JointState"](
        header=header, name=list(JOINTS), position=position[number], velocity=velocity[number], effort=np.zeros(0)
    )


def write_rosbag1(path):
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS1_NOETIC)
    bag = Writer(path)
    bag.set_compression(Writer.CompressionFormat.LZ4)
    bag.chunk_threshold = 1000  # several chunks, so that a part of them can be read
    with bag:
        topic = bag.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=types)
        for number in range(COUNT):
            content = types.serialize_ros1(joint_state(types, number, 1), "sensor_msgs/msg/JointState")
            bag.write(topic, START_NS + number * STEP_NS + 2_000_000, content)
    return path


def write_rosbag2(path, storage, packed=None):
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS2_HUMBLE)
    bag = Writer(path, version=9, storage_plugin=StoragePlugin[storage])
    if packed:
        bag.set_compression(CompressionMode[packed], CompressionFormat.ZSTD)
    with bag:
        topic = bag.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=types)
        for number in range(COUNT):
            content = types.serialize_cdr(joint_state(types, number, 2), "sensor_msgs/msg/JointState")
            bag.write(topic, START_NS + number * STEP_NS + 2_000_000, content)
    return path


def write_mcap_json(path):
    from mcap.writer import Writer

    _, position, velocity = motion()
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=1000)
        writer.start()
        schema = writer.register_schema("joints", "jsonschema", b'{"type": "object"}')
        channel = writer.register_channel("/joint_states", "json", schema)
        for number in range(COUNT):
            data = {"position": position[number].tolist(), "velocity": velocity[number].tolist()}
            stamp = START_NS + number * STEP_NS
            writer.add_message(channel, stamp, json.dumps(data).encode(), stamp)
        writer.finish()
    return path


def write_lerobot(path, layout):
    import pyarrow as pa
    import pyarrow.parquet as pq

    time, position, velocity = motion()
    names = {"motors": list(JOINTS)} if layout == "v2.1" else list(JOINTS)
    features = {name: {"dtype": "float64", "shape": [3], "names": names} for name in ("position", "velocity")}
    file = {"v2.1": "data/chunk-000/episode_000000.parquet", "v3.0": "data/chunk-000/file-000.parquet"}[layout]
    for place in (path / "meta" / "info.json", path / file):
        place.parent.mkdir(parents=True, exist_ok=True)
    (path / "meta" / "info.json").write_text(json.dumps({"codebase_version": layout, "fps": 200, "features": features}))
    columns = {
        "position": pa.array(position.tolist(), pa.list_(pa.float64(), 3)),
        "velocity": pa.array(velocity.tolist(), pa.list_(pa.float64())),
        "timestamp": pa.array(time),
        "episode_index": pa.array(np.zeros(COUNT, np.int64)),
        "frame_index": pa.array(np.arange(COUNT)),
    }
    pq.write_table(pa.table(columns), path / file)
    return path


def write_csv(path, *, vectors):
    time, position, velocity = motion()
    if vectors:
        lines = ["timestamp,position,velocity"]
        lines += [
            f'{t!r},"{p.tolist()}","{v.tolist()}"' for t, p, v in zip(time.tolist(), position, velocity, strict=True)
        ]
    else:
        lines = ["time_us;" + ";".join(f"{name}_{joint}" for name in ("position", "velocity") for joint in range(3))]
        for t, p, v in zip(time, position, velocity, strict=True):
            lines.append(";".join([repr(float(t * 1e6)), *(repr(float(one)) for one in (*p, *v))]))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_npz(path):
    time, position, velocity = motion()
    np.savez(path, time=time, position=position, velocity=velocity, kp=np.array(20.0))
    return path


def write_jsonl(path):
    rows = zip(*(part.tolist() for part in motion()), strict=True)
    path.write_text("".join(json.dumps({"t": t, "position": p, "velocity": v}) + "\n" for t, p, v in rows))
    return path


WRITERS = {
    "rosbag 1": ("log.bag", write_rosbag1),
    "rosbag 2, SQLite": ("sqlite", lambda path: write_rosbag2(path, "SQLITE3")),
    "rosbag 2, MCAP": ("mcap", lambda path: write_rosbag2(path, "MCAP")),
    "rosbag 2, SQLite, packed files": ("sqlite-files", lambda path: write_rosbag2(path, "SQLITE3", "FILE")),
    "rosbag 2, MCAP, packed files": ("mcap-files", lambda path: write_rosbag2(path, "MCAP", "FILE")),
    "rosbag 2, packed messages": ("sqlite-messages", lambda path: write_rosbag2(path, "SQLITE3", "MESSAGE")),
    "MCAP with JSON": ("log.mcap", write_mcap_json),
    "LeRobot 2": ("lerobot2", lambda path: write_lerobot(path, "v2.1")),
    "LeRobot 3": ("lerobot3", lambda path: write_lerobot(path, "v3.0")),
    "CSV": ("log.csv", lambda path: write_csv(path, vectors=False)),
    "CSV with vectors": ("vectors.csv", lambda path: write_csv(path, vectors=True)),
    "npz": ("log.npz", write_npz),
    "JSON lines": ("log.jsonl", write_jsonl),
}
