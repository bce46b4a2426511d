"""Writes gradients.json: cases of operators with their gradients by PyTorch's autograd and by central differences,
both in float64. Run with a Python that has torch (Debian: python3-torch)."""
import json, math, os
import torch
import torch.nn.functional as F
import families

torch.manual_seed(21)
torch.set_default_dtype(torch.float64)
CASES = []


def grid(*shape, low=-2.0, high=2.0, away=0.06):
    """Random multiples of 1/128 that differ from 0 and, in pairs, from each other."""
    count = math.prod(shape)
    steps = [k for k in range(round(low * 128), round(high * 128) + 1) if abs(k) >= away * 128]
    if count <= len(steps) // 4:
        steps = steps[:: max(1, len(steps) // (2 * count))]
        picked = torch.randperm(len(steps))[:count]
    else:
        picked = torch.randint(len(steps), (count,))
    return torch.tensor([steps[int(k)] / 128 for k in picked]).reshape(shape)


def flat(x):
    return [float("%.9g" % v) for v in x.reshape(-1).tolist()]


def case(op, f, inputs, attributes=None, opset=21, integers=None, absent=(), domain=""):
    """f takes the floats; `integers` are constants of the model: (place, values, shape, type). Inputs at the places
    `absent` are left out."""
    names = [f"x{k}" for k in range(len(inputs))]
    leaves = [x.clone().requires_grad_(True) for x in inputs]
    y = f(*leaves)
    ys = y if isinstance(y, (list, tuple)) else [y]
    weights = [grid(*each.shape) if each.dim() else torch.tensor(1.5) for each in ys]
    total = lambda values: sum((v * w).sum() for v, w in zip(values, weights))
    exact = torch.autograd.grad(total(ys), leaves)
    numeric = []
    for k, x in enumerate(inputs):
        own = torch.zeros(x.numel())
        for i in range(x.numel()):
            sides = []
            for h in (-1e-5, 1e-5):
                moved = [z.clone() for z in inputs]
                moved[k].reshape(-1)[i] += h
                values = f(*moved)
                sides.append(total(values if isinstance(values, (list, tuple)) else [values]))
            own[i] = (sides[1] - sides[0]) / 2e-5
        worst = (own.reshape(x.shape) - exact[k]).abs().max().item()
        assert worst < 1e-6 * (1 + exact[k].abs().max().item()), (op, k, worst)
        numeric.append(flat(own))
    order = list(names)
    others = [(place, f"c{place}") for place, *_ in integers or []] + [(place, "") for place in absent]
    for place, name in sorted(others):
        order.insert(place, name)
    CASES.append({
        "op": op, "domain": domain, "opset": opset, "attributes": attributes or {}, "order": order,
        "inputs": [{"shape": list(x.shape), "values": flat(x)} for x in inputs],
        "constants": [{"name": f"c{p}", "values": v, "shape": s, "type": t} for p, v, s, t in integers or []],
        "weights": [{"shape": list(w.shape), "values": flat(w)} for w in weights],
        "y": [flat(each) for each in ys], "autograd": [flat(g) for g in exact], "numeric": numeric,
    })


def ints(place, *values):
    return (place, list(values), [len(values)], 7)


fl = lambda v: {"float": v}
# Functions of one operand
positive = dict(low=0.2, high=2.0)
for op, f, limits in [
    ("Neg", torch.neg, {}), ("Abs", torch.abs, {}), ("Reciprocal", torch.reciprocal, positive),
    ("Sqrt", torch.sqrt, positive), ("Exp", torch.exp, {}), ("Log", torch.log, positive), ("Sin", torch.sin, {}),
    ("Cos", torch.cos, {}), ("Tan", torch.tan, dict(low=-1, high=1)), ("Asin", torch.asin, dict(low=-0.8, high=0.8)),
    ("Acos", torch.acos, dict(low=-0.8, high=0.8)), ("Atan", torch.atan, {}), ("Sinh", torch.sinh, {}),
    ("Cosh", torch.cosh, {}), ("Tanh", torch.tanh, {}), ("Asinh", torch.asinh, {}),
    ("Acosh", torch.acosh, dict(low=1.5, high=3)), ("Atanh", torch.atanh, dict(low=-0.8, high=0.8)),
    ("Erf", torch.erf, {}), ("Sigmoid", torch.sigmoid, {}), ("Softplus", F.softplus, {}),
    ("Softsign", F.softsign, {}), ("Relu", torch.relu, {}), ("HardSwish", F.hardswish, dict(low=-4, high=4)),
    ("Mish", F.mish, {}), ("Identity", lambda x: x + 0, {}),
]:
    case(op, f, [grid(2, 5, **limits)], opset=22 if op in ("Mish", "HardSwish") else 21)
case("Swish", lambda x: x * torch.sigmoid(1.5 * x), [grid(2, 5)], {"alpha": fl(1.5)}, opset=24)
case("Gelu", F.gelu, [grid(2, 5)])
case("Gelu", lambda x: F.gelu(x, approximate="tanh"), [grid(2, 5)], {"approximate": "tanh"})
case("LeakyRelu", lambda x: F.leaky_relu(x, 0.25), [grid(2, 5)], {"alpha": fl(0.25)})
case("Elu", lambda x: F.elu(x, 1.5), [grid(2, 5)], {"alpha": fl(1.5)})
case("Selu", F.selu, [grid(2, 5)])
case("Celu", lambda x: F.celu(x, 1.5), [grid(2, 5)], {"alpha": fl(1.5)})
case("ThresholdedRelu", lambda x: F.threshold(x, 0.51, 0.0), [grid(2, 5)], {"alpha": fl(0.51)})
case("HardSigmoid", lambda x: torch.clamp(0.25 * x + 0.5, 0, 1), [grid(2, 5, low=-3, high=3, away=0)],
     {"alpha": fl(0.25), "beta": fl(0.5)})
case("PRelu", lambda x, s: torch.where(x > 0, x, s * x), [grid(2, 3, 4), grid(3, 1)])
case("Clip", lambda x: torch.clamp(x, -0.5, 1.25), [grid(2, 8)],
     integers=[(1, [-0.5], [], 1), (2, [1.25], [], 1)])
case("Clip", lambda x: torch.clamp(x, -0.5, 1.25), [grid(2, 8)], {"min": fl(-0.5), "max": fl(1.25)}, opset=10)
# Arithmetic with broadcasting
for op, f in [("Add", torch.add), ("Sub", torch.sub), ("Mul", torch.mul), ("Div", torch.div)]:
    case(op, f, [grid(2, 3, 4), grid(3, 1)])
    case(op, f, [grid(4), grid(2, 1, 4)])
case("Pow", torch.pow, [grid(2, 3, low=0.3), grid(3)])
case("Pow", lambda x: x ** 3, [grid(2, 3)], integers=[(1, [3.0], [], 1)])
case("Pow", lambda x: x ** 2, [grid(2, 3)], integers=[(1, [2], [], 7)])
case("Min", torch.minimum, [grid(2, 6), grid(6)])
case("Max", lambda a, b, c: torch.maximum(torch.maximum(a, b), c), [grid(2, 5), grid(5), grid(2, 1)])
case("Sum", lambda a, b, c: a + b + c, [grid(2, 3), grid(3), grid(2, 1)])
case("Mean", lambda a, b, c: (a + b + c) / 3, [grid(2, 3), grid(3), grid(2, 1)])
mask = torch.tensor([[True, False, True], [False, False, True]])
case("Where", lambda a, b: torch.where(mask, a, b), [grid(2, 3), grid(3)],
     integers=[(0, [1, 0, 1, 0, 0, 1], [2, 3], 9)])
# Products
for left, right in [([3, 4], [4, 2]), ([2, 3, 4], [4, 2]), ([2, 3, 4], [2, 4, 2]), ([4], [4, 2]), ([3, 4], [4]),
                    ([4], [4]), ([2, 1, 3, 4], [5, 4, 2]), ([2, 3, 4], [4]), ([4], [2, 4, 3]), ([3, 4], [2, 4, 2])]:
    case("MatMul", torch.matmul, [grid(*left), grid(*right)])
for ta in (0, 1):
    for tb in (0, 1):
        case("Gemm", lambda a, b, c: 0.5 * ((a.T if ta else a) @ (b.T if tb else b)) + 2 * c,
             [grid(*([4, 3] if ta else [3, 4])), grid(*([2, 4] if tb else [4, 2])), grid(2)],
             {"alpha": fl(0.5), "beta": fl(2.0), "transA": ta, "transB": tb})
# Convolutions
for shape, weights, group, stride, pad, dilation in [
    ([2, 2, 5, 5], [3, 2, 3, 3], 1, [1, 1], [1, 1], [1, 1]), ([1, 2, 6, 5], [2, 2, 3, 2], 1, [2, 1], [1, 0], [1, 1]),
    ([2, 4, 5, 5], [4, 2, 2, 2], 2, [2, 2], [0, 0], [1, 1]), ([1, 3, 6, 6], [3, 1, 3, 3], 3, [1, 1], [2, 2], [2, 2]),
    ([2, 3, 8], [2, 3, 3], 1, [3], [1], [1]), ([1, 1, 7, 7], [1, 1, 2, 2], 1, [3, 3], [0, 0], [2, 2]),
]:
    f = F.conv1d if len(shape) == 3 else F.conv2d
    case("Conv", lambda x, w, b: f(x, w, b, stride, pad, dilation, group),
         [grid(*shape), grid(*weights), grid(weights[0])],
         {"group": group, "strides": stride, "pads": pad + pad, "dilations": dilation})
for shape, weights, group, stride, pad, extra, dilation in [
    ([1, 2, 3, 3], [2, 3, 2, 2], 1, [2, 2], [0, 0], [0, 0], [1, 1]),
    ([2, 2, 3, 4], [2, 1, 3, 3], 2, [2, 1], [1, 1], [1, 0], [1, 1]),
    ([1, 2, 4], [2, 2, 3], 1, [1], [1], [0], [2]),
]:
    f = F.conv_transpose1d if len(shape) == 3 else F.conv_transpose2d
    case("ConvTranspose", lambda x, w, b: f(x, w, b, stride, pad, extra, group, dilation),
         [grid(*shape), grid(*weights), grid(weights[1] * group)],
         {"group": group, "strides": stride, "pads": pad + pad, "dilations": dilation, "output_padding": extra})
# Pooling
for kernel, stride, pad in [([2, 2], [2, 2], [0, 0]), ([3, 3], [2, 2], [1, 1]), ([2, 3], [1, 1], [0, 1])]:
    attributes = {"kernel_shape": kernel, "strides": stride, "pads": pad + pad}
    x = (torch.randperm(100).reshape(2, 2, 5, 5) - 50) / 32
    case("MaxPool", lambda x: F.max_pool2d(x, kernel, stride, pad), [x], attributes)
    case("AveragePool", lambda x: F.avg_pool2d(x, kernel, stride, pad, count_include_pad=False), [grid(1, 2, 5, 5)],
         attributes)
case("AveragePool", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=True), [grid(1, 1, 5, 5)],
     {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1})
case("GlobalAveragePool", lambda x: x.mean((2, 3), keepdim=True), [grid(2, 2, 3, 3)])
case("GlobalMaxPool", lambda x: x.amax((2, 3), keepdim=True), [(torch.randperm(36).reshape(2, 2, 3, 3) - 18) / 8])
# Normalisation
case("BatchNormalization", lambda x, s, b: F.batch_norm(x, torch.tensor([0.5, -1.0]), torch.tensor([2.0, 0.5]), s, b),
     [grid(2, 2, 3), grid(2), grid(2)], integers=[(3, [0.5, -1.0], [2], 1), (4, [2.0, 0.5], [2], 1)])
case("LayerNormalization", lambda x, s, b: F.layer_norm(x, [5], s, b), [grid(2, 3, 5), grid(5), grid(5)])
case("LayerNormalization", lambda x, s: F.layer_norm(x, [3, 4], s), [grid(2, 3, 4), grid(3, 4)],
     {"axis": 1, "epsilon": fl(1e-5)})
case("InstanceNormalization", lambda x, s, b: F.instance_norm(x, None, None, s, b),
     [grid(2, 2, 6), grid(2), grid(2)])
case("GroupNormalization", lambda x, s, b: F.group_norm(x, 2, s, b), [grid(2, 4, 3), grid(4), grid(4)],
     {"num_groups": 2})
case("RMSNormalization", lambda x, s: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * s,
     [grid(2, 3, 5), grid(5)], opset=23)
# Softmax and losses
case("Softmax", lambda x: F.softmax(x, -1), [grid(2, 3, 4)])
case("Softmax", lambda x: F.softmax(x, 1), [grid(2, 3, 4)], {"axis": 1})
case("Softmax", lambda x: F.softmax(x.reshape(2, 12), 1).reshape(2, 3, 4), [grid(2, 3, 4)], {"axis": 1}, opset=11)
case("LogSoftmax", lambda x: F.log_softmax(x, 1), [grid(2, 3, 4)], {"axis": 1})
labels = torch.tensor([1, 3, 0])
case("SoftmaxCrossEntropyLoss", lambda x: F.cross_entropy(x, labels), [grid(3, 4)], integers=[ints(1, 1, 3, 0)])
case("SoftmaxCrossEntropyLoss", lambda x: F.cross_entropy(x, labels, reduction="sum"), [grid(3, 4)],
     {"reduction": "sum"}, integers=[ints(1, 1, 3, 0)])
classes = torch.tensor([[1, 0], [2, 2]])
weight = torch.tensor([0.5, 1.5, 2.0])
for reduction in ("none", "mean", "sum"):
    case("SoftmaxCrossEntropyLoss",
         lambda x: F.cross_entropy(x, classes, weight, ignore_index=0, reduction=reduction), [grid(2, 3, 2)],
         {"reduction": reduction, "ignore_index": 0},
         integers=[(1, [1, 0, 2, 2], [2, 2], 7), (2, [0.5, 1.5, 2.0], [3], 1)])
    case("NegativeLogLikelihoodLoss", lambda x: F.nll_loss(x, classes, reduction=reduction), [grid(2, 3, 2)],
         {"reduction": reduction}, integers=[(1, [1, 0, 2, 2], [2, 2], 7)])
# Reductions
for op, f in [("ReduceSum", lambda x, d, k: x.sum(d, keepdim=k)), ("ReduceMean", lambda x, d, k: x.mean(d, keepdim=k)),
              ("ReduceSumSquare", lambda x, d, k: (x * x).sum(d, keepdim=k)),
              ("ReduceL1", lambda x, d, k: x.abs().sum(d, keepdim=k)),
              ("ReduceL2", lambda x, d, k: x.norm(dim=d, keepdim=k)),
              ("ReduceMax", lambda x, d, k: x.amax(d, keepdim=k)), ("ReduceMin", lambda x, d, k: x.amin(d, keepdim=k)),
              ("ReduceLogSumExp", lambda x, d, k: x.logsumexp(d, keepdim=k))]:
    case(op, lambda x: f(x, (0, 2), False), [grid(2, 3, 4)], {"keepdims": 0}, integers=[ints(1, 0, -1)])
    case(op, lambda x: f(x, (1,), True), [grid(2, 3, 4)], integers=[ints(1, 1)])
case("ReduceSum", lambda x: x.sum(), [grid(2, 3)], {"keepdims": 0})
case("ReduceMean", lambda x: x.mean(1), [grid(2, 3)], {"keepdims": 0, "axes": [1]}, opset=13)
case("ReduceLogSum", lambda x: x.sum(1).log(), [grid(2, 3, **positive)], {"keepdims": 0}, integers=[ints(1, 1)])
cum = lambda x, exclusive, reverse: (lambda z: z.flip(1) if reverse else z)(
    (lambda z: z.cumsum(1) - (z if exclusive else 0))(x.flip(1) if reverse else x))
for exclusive in (0, 1):
    for reverse in (0, 1):
        case("CumSum", lambda x: cum(x, exclusive, reverse), [grid(2, 4)],
             {"exclusive": exclusive, "reverse": reverse}, integers=[(1, [1], [], 7)])
# Movement
case("Reshape", lambda x: x.reshape(3, 4), [grid(2, 6)], integers=[ints(1, 3, 4)])
case("Flatten", lambda x: x.reshape(2, 12), [grid(2, 3, 4)])
case("Squeeze", lambda x: x.squeeze(1), [grid(2, 1, 3)], integers=[ints(1, 1)])
case("Unsqueeze", lambda x: x.unsqueeze(1), [grid(2, 3)], integers=[ints(1, 1)])
case("Transpose", lambda x: x.permute(2, 0, 1), [grid(2, 3, 4)], {"perm": [2, 0, 1]})
case("Transpose", lambda x: x.permute(2, 1, 0), [grid(2, 3, 4)])
case("Expand", lambda x: x.expand(2, 3, 4), [grid(3, 1)], integers=[ints(1, 2, 3, 4)])
case("Concat", lambda a, b, c: torch.cat([a, b, c], 1), [grid(2, 1), grid(2, 3), grid(2, 2)], {"axis": 1})
case("Split", lambda x: list(x.split([1, 3], 1)), [grid(2, 4)], {"axis": 1}, integers=[ints(1, 1, 3)])
case("Slice", lambda x: x[:, 1:3], [grid(2, 5)],
     integers=[ints(1, 1), ints(2, 3), ints(3, 1)])
case("Slice", lambda x: x[0:4:2, 1:6:3], [grid(5, 7)],
     integers=[ints(1, 0, 1), ints(2, 4, 6), ints(3, 0, 1), ints(4, 2, 3)])
case("Slice", lambda x: x.flip(1)[:, 0:5:2], [grid(2, 6)],
     integers=[ints(1, -1), ints(2, -100), ints(3, 1), ints(4, -2)])
case("Slice", lambda x: x[:, -3:-1], [grid(2, 5)], {"starts": [-3], "ends": [-1], "axes": [1]}, opset=9)
case("Pad", lambda x: F.pad(x, (1, 2, 0, 1)), [grid(2, 3)], integers=[ints(1, 0, 1, 1, 2)])
case("Pad", lambda x: F.pad(x, (-1, 2)), [grid(2, 4)], integers=[ints(1, 0, -1, 0, 2)])
case("Tile", lambda x: x.repeat(2, 3), [grid(2, 2)], integers=[ints(1, 2, 3)])
case("Trilu", lambda x: torch.tril(x, 1), [grid(3, 4)], {"upper": 0}, integers=[(1, [1], [], 7)])
case("Gather", lambda x: x[[0, 2, 0, 1]], [grid(3, 4)], integers=[ints(1, 0, 2, 0, 1)])
case("Gather", lambda x: x[:, [[0, -1], [1, 0]]], [grid(2, 3, 2)], {"axis": 1},
     integers=[(1, [0, -1, 1, 0], [2, 2], 7)])
case("Gather", lambda x: x[1], [grid(3, 4)], integers=[(1, [1], [], 7)])
index = torch.tensor([[0, 2], [1, 1]])
case("GatherElements", lambda x: torch.gather(x, 1, index), [grid(3, 3)], {"axis": 1},
     integers=[(1, [0, 2, 1, 1], [2, 2], 7)])
case("GatherElements", lambda x: torch.gather(x, 0, index), [grid(3, 3)], {"axis": 0},
     integers=[(1, [0, 2, 1, 1], [2, 2], 7)])
dcr = lambda x: x.reshape(1, 2, 2, 2, 2, 3).permute(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)
case("DepthToSpace", dcr, [grid(1, 8, 2, 3)], {"blocksize": 2})
case("SpaceToDepth", lambda x: x.reshape(1, 2, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3),
     [grid(1, 2, 4, 6)], {"blocksize": 2})

families.add(case, grid, ints)

path = os.path.join(os.path.dirname(__file__), "gradients.json")
with open(path, "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in CASES) + "\n]\n")
print(len(CASES), "cases")
