"""Adam on a GPU, in one pass over each flat parameter.

torch's fused Adam gives 65,536 numbers to a program, so that a narrow model leaves most of a GPU idle.
"""

from math import inf, log

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


class GpuAdam(torch.optim.AdamW):
    """torch's AdamW with its settings, its state and its way to clip and skip, `grad_scale` and `found_inf`."""

    grad_scale: Tensor
    found_inf: Tensor

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # noqa: ARG002, torch's signature
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["step"] = torch.zeros((), device=parameter.device)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
                state["step"].add_(1 - self.found_inf)
                _adam[(triton.cdiv(parameter.numel(), BLOCK),)](
                    *(parameter, parameter.grad, state["exp_avg"], state["exp_avg_sq"], state["step"]),
                    *(group["lr"], self.grad_scale, self.found_inf, parameter.numel()),
                    BETA1=beta1,
                    BETA2=beta2,
                    LOG_BETA1=log(beta1) if beta1 else -inf,
                    LOG_BETA2=log(beta2) if beta2 else -inf,
                    EPSILON=group["eps"],
                    DECAY=group["weight_decay"],
                    BLOCK=BLOCK,
                    num_warps=4,
                )


@triton.jit
def _adam(
    parameter,
    gradient,
    average,
    square,
    count,
    rate,
    divisor,
    skipped,
    size,
    BETA1: tl.constexpr,
    BETA2: tl.constexpr,
    LOG_BETA1: tl.constexpr,
    LOG_BETA2: tl.constexpr,
    EPSILON: tl.constexpr,
    DECAY: tl.constexpr,
    BLOCK: tl.constexpr,
):
    if tl.load(skipped) == 0:
        place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        there = place < size
        steps = tl.load(count).to(tl.float64)
        # In double precision: one minus a power near one would keep few digits.
        correction1 = (1.0 - tl.exp(steps * LOG_BETA1)).to(tl.float32)
        correction2 = (1.0 - tl.exp(steps * LOG_BETA2)).to(tl.float32)
        speed = tl.load(rate)
        p = tl.load(parameter + place, mask=there)
        g = tl.load(gradient + place, mask=there) / tl.load(divisor)
        m = tl.load(average + place, mask=there)
        v = tl.load(square + place, mask=there)
        p -= speed * DECAY * p
        m += (1.0 - BETA1) * (g - m)
        v = BETA2 * v + (1.0 - BETA2) * g * g
        p -= (speed / correction1) * m / (tl.sqrt_rn(v) / tl.sqrt_rn(correction2) + EPSILON)
        tl.store(parameter + place, p, mask=there)
        tl.store(average + place, m, mask=there)
        tl.store(square + place, v, mask=there)
