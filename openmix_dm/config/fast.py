"""What one word switches on: `train.py --fast`, or configs/_base_/fast.py to inherit."""

from typing import Any

from mmengine.config import Config

AUTO = 'auto'  # as `optim_wrapper.amp`: what the device computes fast

# The same as configs/_base_/fast.py. What is fused needs no setting: on a GPU SGD, Adam and AdamW are.
FAST: dict[str, Any] = {
    'channels_last': True,
    'prefetch_to_device': True,
    'env_cfg': {'cudnn_benchmark': True},
    'optim_wrapper': {'amp': AUTO},
    'model_wrapper_cfg': {'gradient_as_bucket_view': True},
}


def make_fast(config: Config) -> None:
    """Switch on all that makes a training fast; what the config says itself stays."""
    for key, value in FAST.items():
        if not isinstance(value, dict):
            config.setdefault(key, value)
            continue
        config.setdefault(key, {})  # what this returns is not what the config keeps
        for name, setting in value.items():
            config[key].setdefault(name, setting)


def resolve_precision(config: Config) -> None:
    """Put the best precision of this machine in the place of 'auto'; without a GPU, the full one."""
    wrapper = config.get('optim_wrapper') or {}
    if wrapper.get('amp') == AUTO:
        wrapper['amp'] = best_precision(on_cpu=None)


def best_precision(on_cpu: str | None = 'bf16') -> str | None:
    """Choose bf16 unless the GPU computes only fp16 fast, as V100 and T4, which emulate it; `on_cpu` without a GPU."""
    import torch

    if not torch.cuda.is_available():
        return on_cpu
    return 'bf16' if torch.cuda.is_bf16_supported(including_emulation=False) else 'fp16'


def describe_speed(config: Config, optimizer: Any) -> list[str]:
    """Name what is switched on of all that makes a training fast, as it is used on this machine."""
    import torch

    on_gpu = torch.cuda.is_available()
    wrapper, env, wrapping = (config.get(key) or {} for key in ('optim_wrapper', 'env_cfg', 'model_wrapper_cfg'))
    form = next((form for form in ('fused', 'foreach') if optimizer.param_groups[0].get(form)), None)
    switched_on = {
        str(wrapper.get('amp')): bool(wrapper.get('amp')),
        'channels_last': bool(config.get('channels_last')),
        'cudnn_benchmark': on_gpu and bool(env.get('cudnn_benchmark')),
        f'{form} {type(optimizer).__name__}': form is not None,
        'gradients as views of buckets': on_gpu and bool(wrapping.get('gradient_as_bucket_view')),
        'prefetched copies': on_gpu and bool(config.get('prefetch_to_device')),
        'compiled backbone': bool(config.get('compile')),
    }
    return [name for name, is_on in switched_on.items() if is_on]
