"""The parts of torch.cuda that a program may ask for, as they look where there is a GPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openmix_dm.analysis.benchmarks.device_record import DeviceRecord


def cuda_parts(record: DeviceRecord) -> dict[str, Any]:
    """Return what stands in for the names of torch.cuda."""

    class Event:
        """A place in the queue of the device; everything before it is done as soon as the next step begins."""

        def __init__(self, *args: Any, **options: Any) -> None:
            self.step: int | None = None

        def record(self, stream: Any = None) -> None:
            self.step = record.step

        def synchronize(self) -> None:
            if self.step == record.step:
                record.wait('event.synchronize')

        def query(self) -> bool:
            return self.step != record.step

        def wait(self, stream: Any = None) -> None:
            """Let a stream wait; the host goes on."""

        def elapsed_time(self, other: 'Event') -> float:
            return 1.0

    class Stream:
        """A queue of the device; all that is launched is done at once here, so that there is nothing to order."""

        device_index, cuda_stream = 0, 0

        def __init__(self, *args: Any, **options: Any) -> None:
            pass

        def synchronize(self) -> None:
            record.wait('stream.synchronize')

        def wait_stream(self, stream: Any) -> None:
            pass

        def wait_event(self, event: Any) -> None:
            pass

        def record_event(self, event: Any = None) -> Event:
            made = event or Event()
            made.record()
            return made

        def query(self) -> bool:
            return False

        def __enter__(self) -> 'Stream':
            return self

        def __exit__(self, *failure: object) -> None:
            pass

    @contextmanager
    def stream(chosen: Any) -> Iterator[None]:
        yield

    def nothing(*args: Any, **options: Any) -> None:
        pass

    def always(value: Any) -> Any:
        return lambda *args, **options: value

    return {
        'is_available': always(True),
        'is_initialized': always(True),
        '_lazy_init': nothing,
        'device_count': always(1),
        'current_device': always(0),
        'get_device_name': always('pretended'),
        'get_device_capability': always((8, 0)),
        'is_bf16_supported': always(True),
        'is_current_stream_capturing': always(False),
        'max_memory_allocated': always(0),
        'synchronize': lambda *args: record.wait('torch.cuda.synchronize'),
        'Event': Event,
        'Stream': Stream,
        'stream': stream,
        'current_stream': lambda *args: Stream(),
        'default_stream': lambda *args: Stream(),
        **dict.fromkeys(
            ('set_device', 'manual_seed', 'manual_seed_all', 'empty_cache', 'reset_peak_memory_stats'), nothing
        ),
    }
