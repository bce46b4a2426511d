"""Gradients of small ONNX models by PyTorch, in float64, of whole batches. Reads one JSON object a line, writes one list
of gradients a line: all weights, one after the other. Run with a Python that has torch (Debian: python3-torch)."""
import json, math, sys
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def pooled(x, at, average):
    """Pools of 2 x 2, padded at the front and, with ceil_mode, as far as the last window needs at the end."""
    (kh, kw), (sh, sw), (top, left, bottom, right) = at["kernel_shape"], at["strides"], at["pads"]
    ends = []
    for size, k, s, a, b in ((x.shape[2], kh, sh, top, bottom), (x.shape[3], kw, sw, left, right)):
        count = (math.ceil if at["ceil_mode"] else math.floor)((size + a + b - k) / s) + 1
        ends.append((count - 1) * s + k - size - a)
    pads = (left, max(0, ends[1]), top, max(0, ends[0]))
    windows = lambda t, fill: F.pad(t, pads, value=fill).unfold(2, kh, sh).unfold(3, kw, sw)
    if not average:
        return windows(x, -math.inf).amax((4, 5))
    return windows(x, 0).sum((4, 5)) / windows(torch.ones_like(x), 0).sum((4, 5))


def node(op, x, at):
    if op == "Gemm": return x[0] @ x[1] + x[2]
    if op == "MatMul": return x[0] @ x[1]
    if op == "Add": return x[0] + x[1]
    if op == "Mul": return x[0] * x[1]
    if op == "Relu": return torch.relu(x[0])
    if op == "Tanh": return torch.tanh(x[0])
    if op == "Flatten": return x[0].flatten(1)
    if op == "Conv": return F.conv2d(x[0], x[1], x[2], stride=at["strides"], padding=at["pads"][:2])
    if op == "MaxPool": return pooled(x[0], at, False)
    if op == "AveragePool": return pooled(x[0], at, True)
    if op == "Gather": return x[0][x[1].long()]
    if op == "LayerNormalization": return F.layer_norm(x[0], x[0].shape[-1:], x[1], x[2])
    if op == "Reshape": return x[0].reshape([int(d) for d in x[1]])
    if op == "Transpose": return x[0].permute(at["perm"])
    if op == "Softmax": return torch.softmax(x[0], at["axis"])
    raise ValueError(op)


for line in sys.stdin:
    given = json.loads(line)
    tensor = lambda t: torch.tensor(t["values"], dtype=torch.float64).reshape(t["shape"])
    values = {name: tensor(t) for name, t in given["tensors"].items()}
    weights = [values[name].requires_grad_(True) for name in given["weights"]]
    for each in given["nodes"]:
        values[each["output"]] = node(each["op"], [values[name] for name in each["inputs"]], each["attributes"])
    y, labels = values[given["output"]], tensor(given["labels"])
    if given["loss"] == "mse":
        loss = F.mse_loss(y, labels)
    else:
        loss = F.cross_entropy(y.flatten(0, -2), labels.long().flatten())
    print(json.dumps([v for g in torch.autograd.grad(loss, weights) for v in g.flatten().tolist()]), flush=True)
