"""Further cases of gradients.json: products by labels, sizes, indices, recurrent layers, chains, norms, transforms,
attention, and fused operators. PyTorch's own functions are the reference where it has one."""
import math
import torch
import torch.nn.functional as F

MS, ML = "com.microsoft", "ai.onnx.ml"


def fl(value):
    return {"float": value}


def add(case, grid, ints):
    for part in (einsum, resize, indices, recurrent, chains, norms, movement, transforms, attention, fused, tables, sampling):
        part(case, grid, ints)


def einsum(case, grid, ints):
    for equation, shapes in [
        ("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]), ("ij->ji", [(2, 3)]),
        ("ij->i", [(2, 3)]), ("ij,kj", [(2, 3), (4, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
        ("i,j->ij", [(3,), (2,)]), ("ij,ik->jk", [(3, 2), (3, 2)]), ("ab,bc,cd->ad", [(2, 3), (3, 2), (2, 2)]),
        ("...ij,...jk->...ik", [(2, 2, 3), (2, 3, 2)]), ("...ij,jk->...ik", [(2, 1, 2, 3), (3, 2)]),
        ("bhid,bhjd->bhij", [(1, 2, 2, 3), (1, 2, 3, 3)]), ("iij,jk->ik", [(2, 2, 3), (3, 2)]),
        ("ij,k->ik", [(2, 3), (2,)]), ("i,i->", [(4,), (4,)]),
    ]:
        case("Einsum", lambda *xs: torch.einsum(equation, *xs), [grid(*s) for s in shapes], {"equation": equation})


def resize(case, grid, ints):
    scales = lambda *values: (1, list(values), [len(values)], 1)
    def sized(shape, sizes, f, attributes):
        case("Resize", f, [grid(*shape)], attributes, integers=[ints(3, *sizes)], absent=(1, 2))
    sized((1, 2, 3, 4), (1, 2, 6, 8), lambda x: F.interpolate(x, scale_factor=2), {"mode": "nearest",
          "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})
    sized((1, 1, 4, 6), (1, 1, 3, 4), lambda x: F.interpolate(x, (3, 4)), {"mode": "nearest",
          "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})
    for size in ((6, 7), (2, 3), (8, 8)):
        sized((1, 2, 4, 4), (1, 2, *size), lambda x: F.interpolate(x, size, mode="bilinear"), {"mode": "linear"})
        sized((1, 1, 4, 5), (1, 1, *size), lambda x: F.interpolate(x, size, mode="bilinear", align_corners=True),
              {"mode": "linear", "coordinate_transformation_mode": "align_corners"})
        sized((1, 1, 5, 4), (1, 1, *size), lambda x: F.interpolate(x, size, mode="bicubic"), {"mode": "cubic"})
    sized((1, 1, 8, 6), (1, 1, 4, 3), lambda x: F.interpolate(x, (4, 3), mode="bilinear", antialias=True),
          {"mode": "linear", "antialias": 1, "exclude_outside": 1})
    sized((2, 3, 4), (2, 3, 9), lambda x: F.interpolate(x, 9, mode="linear"), {"mode": "linear"})
    case("Upsample", lambda x: F.interpolate(x, scale_factor=2), [grid(1, 2, 2, 3)], {"mode": "nearest"}, opset=9,
         integers=[scales(1, 1, 2, 2)])


def indices(case, grid, ints):
    index = torch.tensor([[0, 1], [2, 0], [0, 1]])
    case("GatherND", lambda x: x[index[:, 0], index[:, 1]], [grid(3, 2, 2)],
         integers=[(1, index.reshape(-1).tolist(), [3, 2], 7)])
    case("GatherND", lambda x: x[[2, 0, 2]], [grid(3, 2)], integers=[(1, [2, 0, -1], [3, 1], 7)])
    case("GatherND", lambda x: torch.stack([x[0, [1, 1]], x[1, [0, 2]]]), [grid(2, 3, 2)], {"batch_dims": 1},
         integers=[(1, [1, 1, 0, 2], [2, 2, 1], 7)])
    case("GatherND", lambda x: x[[1, 0]], [grid(2, 3)], integers=[(1, [1, 0], [2, 1], 7)], domain=MS, opset=13)
    place = torch.tensor([[1, 0], [2, 1]])
    flat = [1, 0, 2, 1]
    for op, opset in (("ScatterElements", 18), ("Scatter", 9)):
        case(op, lambda x, u: x.scatter(1, place, u), [grid(2, 3), grid(2, 2)], {"axis": 1}, opset=opset,
             integers=[(1, flat, [2, 2], 7)])
    # Of two updates of one element the last one stays.
    case("ScatterElements", lambda x, u: torch.cat([x[:1], u[1:2], u[2:], x[3:]]), [grid(4), grid(3)], {"axis": 0},
         integers=[ints(1, 1, 1, 2)], opset=18)
    case("ScatterElements", lambda x, u: x.scatter_add(0, place, u), [grid(3, 3), grid(2, 2)],
         {"axis": 0, "reduction": "add"}, integers=[(1, flat, [2, 2], 7)], opset=18)
    case("ScatterElements", lambda x, u: torch.cat([x[:1] * u[1:], x[1:2], x[2:] * u[:1]]), [grid(3), grid(2)],
         {"axis": 0, "reduction": "mul"}, integers=[ints(1, 2, 0)], opset=18)
    for reduction, mode in (("max", "amax"), ("min", "amin")):
        case("ScatterElements", lambda x, u: x.scatter_reduce(1, place, u, reduce=mode), [grid(2, 3), grid(2, 2)],
             {"axis": 1, "reduction": reduction}, integers=[(1, flat, [2, 2], 7)], opset=18)

    def put(x, at, u):
        y = x.clone()
        for k, i in enumerate(at):
            y = torch.cat([y[:i], u[k:k + 1], y[i + 1:]])
        return y
    case("ScatterND", lambda x, u: put(x, [2, 0], u), [grid(3, 2), grid(2, 2)], integers=[(1, [2, 0], [2, 1], 7)],
         opset=18)
    case("ScatterND", lambda x, u: put(x, [1, 1], u), [grid(3, 2), grid(2, 2)], integers=[(1, [1, 1], [2, 1], 7)],
         opset=18)
    case("ScatterND", lambda x, u: x.index_put((torch.tensor([1, 0, 1]), torch.tensor([1, 1, 1])), u, accumulate=True),
         [grid(2, 2), grid(3)], {"reduction": "add"}, integers=[(1, [1, 1, 0, 1, 1, 1], [3, 2], 7)], opset=18)
    case("ScatterND", lambda x, u: torch.stack([x[0] * u[1], x[1], x[2] * u[0]]), [grid(3, 2), grid(2, 2)],
         {"reduction": "mul"}, integers=[(1, [2, 0], [2, 1], 7)], opset=18)
    case("ScatterND", lambda x, u: torch.stack([torch.maximum(torch.maximum(x[0], u[0]), u[1]), x[1]]),
         [grid(2, 2), grid(2, 2)], {"reduction": "max"}, integers=[(1, [0, 0], [2, 1], 7)], opset=18)
    case("TensorScatter", lambda x, u: torch.stack([torch.cat([x[0, :1], u[0], x[0, 3:]]), torch.cat([u[1], x[1, 2:]])]),
         [grid(2, 4, 2), grid(2, 2, 2)], integers=[ints(2, 1, 0)], opset=24)
    case("TensorScatter", lambda x, u: torch.cat([u[:, 1:], x[:, 1:3], u[:, :1]], 1), [grid(1, 4, 2), grid(1, 2, 2)],
         {"mode": "circular"}, integers=[ints(2, 3)], opset=24)
    case("TopK", lambda x: x.topk(2, 1)[0], [grid(3, 5)], {"axis": 1}, integers=[ints(1, 2)])
    case("TopK", lambda x: x.topk(2, 0, largest=False)[0], [grid(4, 2)], {"axis": 0, "largest": 0},
         integers=[ints(1, 2)])
    spots = torch.tensor([[[[5, 7], [13, 15]]]])
    case("MaxUnpool", lambda x: F.max_unpool2d(x, spots, 2), [grid(1, 1, 2, 2)],
         {"kernel_shape": [2, 2], "strides": [2, 2]}, integers=[(1, [5, 7, 13, 15], [1, 1, 2, 2], 7)])
    case("OneHot", lambda v: torch.where(torch.tensor([[True, False, False], [False, False, True]]), v[1], v[0]),
         [grid(2)], integers=[ints(0, 0, 2), (1, [3], [], 7)])


def recurrent(case, grid, ints):
    T, B, I, H = 3, 2, 2, 3

    def gates(x, order, axis=0):
        parts = x.chunk(len(order), axis)
        return torch.cat([parts[k] for k in order], axis)

    def parameters(W, R, b, order, d):
        own = [gates(W[d], order), gates(R[d], order)]
        if b is not None:
            half = b.shape[1] // 2
            own += [gates(b[d, :half], order), gates(b[d, half:], order)]
        return own

    def y_of(y, directions):
        t, batch, _ = y.shape
        return y.reshape(t, batch, directions, H).transpose(1, 2)

    lengths = torch.tensor([3, 2])
    kinds = {
        "LSTM": (4, [0, 2, 3, 1]),
        "GRU": (3, [1, 0, 2]),
        "RNN": (1, [0]),
    }
    for op, (count, order) in kinds.items():
        for direction, D in (("forward", 1), ("bidirectional", 2)):
            def torches(x, W, R, b, h, c=None):
                own = [p for d in range(D) for p in parameters(W, R, b, order, d)]
                rest = (own, True, 1, 0.0, False, D == 2, False)
                if op == "LSTM":
                    y, hn, cn = torch._VF.lstm(x, (h, c), *rest)
                    return [y_of(y, D), hn, cn]
                y, hn = (torch._VF.gru if op == "GRU" else torch._VF.rnn_tanh)(x, h, *rest)
                return [y_of(y, D), hn]
            inputs = [grid(T, B, I), grid(D, count * H, I), grid(D, count * H, H), grid(D, 2 * count * H), grid(D, B, H)]
            inputs += [grid(D, B, H)] if op == "LSTM" else []
            attributes = {"hidden_size": H, "direction": direction}
            if op == "GRU":
                attributes["linear_before_reset"] = 1
            case(op, torches, inputs, attributes, absent=(4,))

    def lstm_cell(x, h, c, W, R, P=None, clip=None, act=(torch.sigmoid, torch.tanh, torch.tanh), coupled=False):
        limit = lambda v: v if clip is None else torch.clamp(v, -clip, clip)
        i, o, f, g = (x @ W.T + h @ R.T).chunk(4, 1)
        pi, po, pf = P.chunk(3) if P is not None else (0, 0, 0)
        i = act[0](limit(i + pi * c))
        f = 1 - i if coupled else act[0](limit(f + pf * c))
        c = f * c + i * act[1](limit(g))
        return act[0](limit(o + po * c)) * act[2](c), c

    def lstm(x, W, R, P=None, reverse=False, lengths=None, **rest):
        h = c = torch.zeros(B, H)
        ys = [None] * T
        for k in range(T):
            t = T - 1 - k if reverse else k
            nh, nc = lstm_cell(x[t], h, c, W[0], R[0], P[0] if P is not None else None, **rest)
            on = torch.ones(B, 1, dtype=torch.bool) if lengths is None else (t < lengths).reshape(B, 1)
            h, c = torch.where(on, nh, h), torch.where(on, nc, c)
            ys[t] = torch.where(on, nh, torch.zeros(B, H))
        return [torch.stack(ys).unsqueeze(1), h.unsqueeze(0), c.unsqueeze(0)]
    small = [grid(T, B, I), grid(1, 4 * H, I), grid(1, 4 * H, H)]
    case("LSTM", lambda x, W, R, P: lstm(x, W, R, P, reverse=True), [*small, grid(1, 3 * H)],
         {"hidden_size": H, "direction": "reverse"}, absent=(3, 4, 5, 6))
    for reverse in (False, True):
        case("LSTM", lambda x, W, R: lstm(x, W, R, lengths=lengths, reverse=reverse), small,
             {"hidden_size": H, "direction": "reverse" if reverse else "forward"}, absent=(3,),
             integers=[(4, lengths.tolist(), [B], 6)])
    case("LSTM", lambda x, W, R: lstm(x, W, R, clip=0.75, coupled=True, act=(
        lambda v: torch.clamp(0.25 * v + 0.5, 0, 1), F.softsign, torch.relu)), small,
         {"hidden_size": H, "input_forget": 1, "clip": fl(0.75),
          "activations": {"strings": ["HardSigmoid", "Softsign", "Relu"]}, "activation_alpha": {"floats": [0.25]},
          "activation_beta": {"floats": [0.5]}})
    case("LSTM", lambda x, W, R: [lstm(x.transpose(0, 1), W, R)[0].permute(2, 0, 1, 3)], [grid(B, T, I), *small[1:]],
         {"hidden_size": H, "layout": 1})

    def gru(x, W, R, b):
        h = torch.zeros(B, H)
        ys = []
        for t in range(T):
            (wz, wr, wh), (rz, rr, rh) = W[0].chunk(3), R[0].chunk(3)
            bz, br, bh, cz, cr, ch = b[0].chunk(6)
            z = torch.sigmoid(x[t] @ wz.T + h @ rz.T + bz + cz)
            r = torch.sigmoid(x[t] @ wr.T + h @ rr.T + br + cr)
            g = torch.tanh(x[t] @ wh.T + (r * h) @ rh.T + bh + ch)
            h = (1 - z) * g + z * h
            ys.append(h)
        return [torch.stack(ys).unsqueeze(1), h.unsqueeze(0)]
    case("GRU", gru, [grid(T, B, I), grid(1, 3 * H, I), grid(1, 3 * H, H), grid(1, 6 * H)], {"hidden_size": H})

    for name, alpha, beta, f in [
        ("Affine", [1.5], [0.25], lambda v: 1.5 * v + 0.25), ("LeakyRelu", [0.1], [], lambda v: F.leaky_relu(v, 0.1)),
        ("ThresholdedRelu", [0.5], [], lambda v: F.threshold(v, 0.5, 0.0)),
        ("ScaledTanh", [1.25], [0.5], lambda v: 1.25 * torch.tanh(0.5 * v)),
    ]:
        def rnn(x, W, R):
            h, ys = torch.zeros(B, H), []
            for t in range(2):
                h = f(x[t] @ W[0].T + h @ R[0].T)
                ys.append(h)
            return [torch.stack(ys).unsqueeze(1)]
        case("RNN", rnn, [grid(2, B, I), grid(1, H, I), grid(1, H, H)],
             {"hidden_size": H, "activations": {"strings": [name]}, "activation_alpha": {"floats": alpha},
              "activation_beta": {"floats": beta}})


def chains(case, grid, ints):
    case("ReduceProd", lambda x: x.prod(1), [grid(2, 5)], {"keepdims": 0}, integers=[ints(1, 1)], opset=18)
    case("ReduceProd", lambda x: x.prod(0, keepdim=True).prod(2, keepdim=True), [grid(2, 2, 3)],
         integers=[ints(1, 0, 2)], opset=18)
    case("ReduceProd", lambda x: x.prod(1), [torch.tensor([[0.0, 1.5, 2.0], [0.0, 0.0, 0.5]])], {"keepdims": 0},
         integers=[ints(1, 1)], opset=18)

    def products(x, exclusive, reverse):
        x = x.flip(1) if reverse else x
        y = x.cumprod(1)
        y = torch.cat([torch.ones(y.shape[0], 1), y[:, :-1]], 1) if exclusive else y
        return y.flip(1) if reverse else y
    for exclusive in (0, 1):
        for reverse in (0, 1):
            case("CumProd", lambda x: products(x, exclusive, reverse), [grid(2, 5)],
                 {"exclusive": exclusive, "reverse": reverse}, integers=[(1, [1], [], 7)], opset=26)
    case("Det", torch.det, [grid(3, 3)])
    case("Det", torch.det, [grid(2, 2, 2)])


def norms(case, grid, ints):
    case("LpNormalization", lambda x: F.normalize(x, 2, 1), [grid(2, 3, 2)], {"axis": 1})
    case("LpNormalization", lambda x: F.normalize(x, 1, -1), [grid(2, 4)], {"p": 1})
    case("LRN", lambda x: F.local_response_norm(x, 3, 0.5, 0.75, 1.5), [grid(2, 5, 3)],
         {"size": 3, "alpha": fl(0.5), "beta": fl(0.75), "bias": fl(1.5)})
    mvn = lambda x, d: (x - x.mean(d, keepdim=True)) / (x.std(d, unbiased=False, keepdim=True) + 1e-9)
    case("MeanVarianceNormalization", lambda x: mvn(x, (0, 2, 3)), [grid(2, 2, 2, 3)])
    case("MeanVarianceNormalization", lambda x: mvn(x, (1,)), [grid(3, 4)], {"axes": [1]})
    for p in (1, 2, 3):
        case("LpPool", lambda x: F.lp_pool2d(x.abs(), p, (2, 2), (2, 1)), [grid(1, 2, 4, 4)],
             {"kernel_shape": [2, 2], "strides": [2, 1], "p": p}, opset=18)
        case("GlobalLpPool", lambda x: x.abs().pow(p).sum((2, 3), keepdim=True).pow(1 / p), [grid(1, 2, 3, 2)], {"p": p})
    case("LpPool", lambda x: F.lp_pool1d(F.pad(x, (1, 1)).abs(), 2, 3, 2), [grid(2, 1, 6)],
         {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}, opset=18)
    case("GroupNormalization", lambda x, s, b: F.group_norm(x, 2, s.repeat_interleave(2), b.repeat_interleave(2)),
         [grid(2, 4, 3), grid(2), grid(2)], {"num_groups": 2}, opset=18)


def movement(case, grid, ints):
    case("Shrink", lambda x: F.hardshrink(x, 0.755) - 0.25 * torch.sign(F.hardshrink(x, 0.755)), [grid(2, 6)],
         {"lambd": fl(0.755), "bias": fl(0.25)})
    case("Mod", torch.fmod, [grid(2, 4), grid(4, low=0.4)], {"fmod": 1})
    for mode in ("reflect", "edge"):
        torches = {"reflect": "reflect", "edge": "replicate"}[mode]
        case("Pad", lambda x: F.pad(x, (2, 1, 1, 0), torches), [grid(1, 1, 3, 4)], {"mode": mode},
             integers=[ints(1, 0, 0, 1, 2, 0, 0, 0, 1)])
    case("Pad", lambda x: F.pad(x, (1, 2), "circular"), [grid(1, 2, 4)], {"mode": "wrap"},
         integers=[ints(1, 0, 0, 1, 0, 0, 2)], opset=19)
    case("Pad", lambda x: F.pad(x, (1, 2)), [grid(2, 3)], {"mode": "constant"}, integers=[ints(1, 0, 1, 0, 2)],
         domain=MS, opset=13)
    case("Trilu", lambda x: torch.triu(x), [grid(3, 3)], domain=MS, opset=13)
    crd = lambda x: F.pixel_shuffle(x, 2)
    case("DepthToSpace", crd, [grid(1, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"})
    case("ReverseSequence", lambda x: torch.stack([torch.cat([x[:2, 0].flip(0), x[2:, 0]]), x[:, 1].flip(0)], 1),
         [grid(3, 2, 2)], integers=[ints(1, 2, 3)])
    case("CenterCropPad", lambda x: F.pad(x[1:4], (0, 1)), [grid(5, 2)], integers=[ints(1, 3, 3)])
    case("Compress", lambda x: x[:, [0, 2]], [grid(2, 3)], {"axis": 1}, integers=[(1, [1, 0, 1], [3], 9)])
    case("Compress", lambda x: x.reshape(-1)[[1, 2, 4]], [grid(2, 3)], integers=[(1, [0, 1, 1, 0, 1], [5], 9)])
    case("AffineGrid", lambda t: F.affine_grid(t, [2, 1, 2, 3], False), [grid(2, 2, 3)], integers=[ints(1, 2, 1, 2, 3)],
         opset=20)
    case("AffineGrid", lambda t: F.affine_grid(t, [1, 1, 2, 2, 3], True), [grid(1, 3, 4)], {"align_corners": 1},
         integers=[ints(1, 1, 1, 2, 2, 3)], opset=20)
    case("Col2Im", lambda x: F.fold(x, (4, 5), (2, 3), padding=1, stride=(2, 1)), [grid(1, 12, 15)],
         {"pads": [1, 1, 1, 1], "strides": [2, 1]}, integers=[ints(1, 4, 5), ints(2, 2, 3)])
    for logs in (False, True):
        labels = torch.tensor([1, 0, 2])
        f = lambda x: [F.cross_entropy(x, labels)] + ([F.log_softmax(x, 1)] if logs else [])
        case("SoftmaxCrossEntropyLoss", f, [grid(3, 3)], integers=[ints(1, 1, 0, 2)])


def transforms(case, grid, ints):
    complexes = lambda z: torch.view_as_real(z)
    case("DFT", lambda x: complexes(torch.fft.fft(x[..., 0])), [grid(2, 5, 1)], opset=20)
    case("DFT", lambda x: complexes(torch.fft.rfft(x[..., 0])), [grid(2, 6, 1)], {"onesided": 1}, opset=20)
    case("DFT", lambda x: complexes(torch.fft.fft(torch.complex(x[..., 0], x[..., 1]), dim=0)), [grid(4, 2, 2)],
         {"axis": 0}, opset=17)
    case("DFT", lambda x: complexes(torch.fft.ifft(torch.complex(x[..., 0], x[..., 1]), dim=1)), [grid(2, 4, 2)],
         {"inverse": 1}, opset=20)
    window = lambda x, w: complexes(torch.stft(x, 4, 2, window=w, center=False, return_complex=True)).transpose(1, 2)
    case("STFT", window, [grid(1, 10), grid(4, low=0.2)], integers=[(1, [2], [], 7)])


def attention(case, grid, ints):
    def attend(q, k, v, bias=0, scale=None, cap=None):
        k, v = [x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v)]
        s = q @ k.transpose(2, 3) * (scale or 1 / math.sqrt(q.shape[3]))
        s = torch.tanh(s / cap) * cap if cap else s
        return torch.softmax(s + bias, 3) @ v
    split = lambda x, heads: x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)
    join = lambda x: x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)
    q, k, v = (1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 2)
    case("Attention", attend, [grid(*s) for s in (q, k, v)], opset=23)
    causal = torch.triu(torch.full((3, 3), -math.inf), 1)
    case("Attention", lambda q, k, v: attend(q, k, v, causal, 0.75, 1.5), [grid(*s) for s in (q, k, v)],
         {"is_causal": 1, "scale": fl(0.75), "softcap": fl(1.5)}, opset=23)
    case("Attention", lambda q, k, v, m: join(attend(split(q, 4), split(k, 2), split(v, 2), m)),
         [grid(1, 2, 8), grid(1, 3, 4), grid(1, 3, 4), grid(2, 3)], {"q_num_heads": 4, "kv_num_heads": 2}, opset=23)
    case("Attention", lambda q, k, v, pk, pv: [attend(q, torch.cat([pk, k], 2), torch.cat([pv, v], 2)),
                                              torch.cat([pk, k], 2), torch.cat([pv, v], 2)],
         [grid(1, 1, 2, 2)] * 1 + [grid(1, 1, 2, 2), grid(1, 1, 2, 2), grid(1, 1, 1, 2), grid(1, 1, 1, 2)], absent=(3,),
         opset=23)
    seen = torch.tensor([[True, False, True], [True, True, False]])
    case("Attention", lambda q, k, v: attend(q, k, v, torch.where(seen, 0.0, -math.inf)),
         [grid(1, 1, 2, 2), grid(1, 1, 3, 2), grid(1, 1, 3, 2)], integers=[(3, [1, 0, 1, 1, 1, 0], [2, 3], 9)], opset=23)

    def projected(x, w, b, bias=0):
        y = x @ w + b
        q, k, v = [split(part, 2) for part in y.chunk(3, 2)]
        return join(attend(q, k, v, bias))
    inputs = [grid(2, 3, 4), grid(4, 12), grid(12)]
    case("Attention", projected, inputs, {"num_heads": 2}, domain=MS, absent=(), opset=13)
    low = torch.triu(torch.full((3, 3), -1e30), 1)
    case("Attention", lambda x, w, b: projected(x, w, b, low), inputs, {"num_heads": 2, "unidirectional": 1}, domain=MS,
         opset=13)
    keys = torch.tensor([[1, 1, 0], [1, 0, 1]])
    case("Attention", lambda x, w, b: projected(x, w, b, torch.where(keys > 0, 0.0, -10000.0).reshape(2, 1, 1, 3)),
         inputs, {"num_heads": 2}, integers=[(3, keys.reshape(-1).tolist(), [2, 3], 6)], domain=MS, opset=13)
    ends = torch.tensor([[True, True, False], [True, True, True]])
    case("Attention", lambda x, w, b: projected(x, w, b, torch.where(ends, 0.0, -10000.0).reshape(2, 1, 1, 3)),
         inputs, {"num_heads": 2}, integers=[ints(3, 2, 3)[:3] + (6,)], domain=MS, opset=13)

    def multi(q, k, v, b, bias):
        bq, bk, bv = b.split([4, 4, 4])
        return join(attend(split(q + bq, 2), split(k + bk, 2), split(v + bv, 2), bias))
    case("MultiHeadAttention", multi, [grid(1, 2, 4), grid(1, 3, 4), grid(1, 3, 4), grid(12), grid(1, 1, 2, 3)],
         {"num_heads": 2}, domain=MS, absent=(4,), opset=13)

    def rotate(x, cos, sin, interleaved):
        half = cos.shape[-1]
        r, rest = x[..., :2 * half], x[..., 2 * half:]
        p, q = (r[..., 0::2], r[..., 1::2]) if interleaved else r.chunk(2, -1)
        a, b = cos * p - sin * q, sin * p + cos * q
        y = torch.stack([a, b], -1).reshape(r.shape) if interleaved else torch.cat([a, b], -1)
        return torch.cat([y, rest], -1)
    for interleaved in (0, 1):
        case("RotaryEmbedding", lambda x, c, s: rotate(x, c.unsqueeze(1), s.unsqueeze(1), interleaved),
             [grid(1, 2, 3, 4), grid(1, 3, 2), grid(1, 3, 2)], {"interleaved": interleaved}, opset=23)
    at = torch.tensor([[0, 2, 1]])
    case("RotaryEmbedding", lambda x, c, s: rotate(x, c[at].unsqueeze(1), s[at].unsqueeze(1), False),
         [grid(1, 2, 3, 6), grid(4, 2), grid(4, 2)], {"rotary_embedding_dim": 4},
         integers=[(3, [0, 2, 1], [1, 3], 7)], opset=23)
    case("RotaryEmbedding", lambda x, c, s: join(rotate(split(x, 2), c[1:4], s[1:4], False)),
         [grid(2, 3, 8), grid(5, 2), grid(5, 2)], {"num_heads": 2}, integers=[ints(1, 1)], domain=MS, opset=13)


def fused(case, grid, ints):
    def ms(op, f, inputs, attributes=None, **rest):
        case(op, f, inputs, attributes, domain=MS, opset=13, **rest)
    gelu = F.gelu
    ms("Gelu", gelu, [grid(2, 4)])
    ms("BiasGelu", lambda x, b: gelu(x + b), [grid(2, 4), grid(4)])
    ms("BiasAdd", lambda x, b, s: x + b + s, [grid(2, 3, 4), grid(4), grid(2, 3, 4)])
    ms("BiasSplitGelu", lambda x, b: (x + b)[..., :2] * gelu((x + b)[..., 2:]), [grid(1, 3, 4), grid(4)])
    fast = lambda x: 0.5 * x * (1 + torch.tanh(x * (0.797885 + 0.035677 * x * x)))
    ms("FastGelu", lambda x, b: fast(x + b), [grid(2, 4), grid(4)])
    ms("QuickGelu", lambda x: x * torch.sigmoid(1.5 * x), [grid(2, 4)], {"alpha": fl(1.5)})
    for op in ("FusedMatMul", "TransposeMatMul"):
        ms(op, lambda a, b: 0.5 * a.transpose(1, 2) @ b.transpose(1, 2), [grid(2, 3, 2), grid(2, 4, 3)],
           {"transA": 1, "transB": 1, "alpha": fl(0.5)})
    ms("FusedConv", lambda x, w, b, z: torch.relu(F.conv2d(x, w, b, padding=1) + z),
       [grid(1, 2, 3, 3), grid(2, 2, 3, 3), grid(2), grid(1, 2, 3, 3)],
       {"pads": [1, 1, 1, 1], "activation": "Relu"})
    ms("FusedGemm", lambda a, b, c: F.leaky_relu(a @ b.T + c, 0.25), [grid(2, 3), grid(4, 3), grid(4)],
       {"transB": 1, "activation": "LeakyRelu", "activation_alpha": fl(0.25)})
    ms("SkipLayerNormalization", lambda x, s, g, b, c: F.layer_norm(x + s + c, [4], g, b, 1e-5),
       [grid(1, 2, 4), grid(1, 2, 4), grid(4), grid(4), grid(4)], {"epsilon": fl(1e-5)})
    rms = lambda s, g: s / torch.sqrt((s * s).mean(-1, keepdim=True) + 1e-5) * g
    ms("SkipSimplifiedLayerNormalization", lambda x, s, g: rms(x + s, g), [grid(1, 2, 4), grid(1, 2, 4), grid(4)],
       {"epsilon": fl(1e-5)})
    words, kinds = torch.tensor([[1, 0, 2]]), torch.tensor([[0, 1, 1]])
    ms("EmbedLayerNormalization", lambda w, p, s, g, b: F.layer_norm(w[words] + p[:3] + s[kinds], [4], g, b, 1e-5),
       [grid(4, 4), grid(5, 4), grid(2, 4), grid(4), grid(4)], {"epsilon": fl(1e-5)},
       integers=[(0, [1, 0, 2], [1, 3], 6), (1, [0, 1, 1], [1, 3], 6)])
    last = lambda x: x.permute(0, 2, 3, 1)
    second = lambda x: x.permute(0, 3, 1, 2)
    swish = lambda y: y * torch.sigmoid(y)
    ms("GroupNorm", lambda x, g, b: swish(last(F.group_norm(second(x), 2, g, b, 1e-5))),
       [grid(1, 2, 2, 4), grid(4), grid(4)], {"groups": 2, "activation": 1, "epsilon": fl(1e-5)})
    ms("SkipGroupNorm", lambda x, g, b, s: last(F.group_norm(second(x + s.reshape(1, 1, 1, 4)), 2, g, b, 1e-5)),
       [grid(1, 2, 2, 4), grid(4), grid(4), grid(1, 4)], {"groups": 2, "activation": 0, "epsilon": fl(1e-5)})
    ms("NhwcConv", lambda x, w, b: last(F.conv2d(second(x), second(w), b)), [grid(1, 3, 3, 2), grid(2, 2, 2, 2), grid(2)])
    ms("CDist", lambda a, b: torch.cdist(a, b), [grid(3, 2), grid(2, 2)], {"metric": "euclidean"})
    ms("CDist", lambda a, b: torch.cdist(a, b) ** 2, [grid(3, 2), grid(2, 2)], {"metric": "sqeuclidean"})
    ms("ExpandDims", lambda x: x.unsqueeze(1), [grid(2, 3)], integers=[(1, [1], [], 6)])


def tables(case, grid, ints):
    def ml(op, f, inputs, attributes=None, **rest):
        case(op, f, inputs, attributes, domain=ML, opset=13, **rest)
    ml("Scaler", lambda x: (x - torch.tensor([0.5, -1.0, 0.25])) * torch.tensor([2.0, 0.5, 1.5]), [grid(2, 3)],
       {"offset": {"floats": [0.5, -1.0, 0.25]}, "scale": {"floats": [2.0, 0.5, 1.5]}})
    missing = torch.tensor([[0.5, -1.0, 1.5], [2.0, 1.0, -1.0]])
    ml("Imputer", lambda x: torch.where((x + 1).abs() < 0.01, torch.tensor([7.0, 8.0, 9.0]), x), [missing],
       {"imputed_value_floats": {"floats": [7.0, 8.0, 9.0]}, "replaced_value_float": fl(-1.0)})
    for norm, f in [("MAX", lambda x: x.amax(1, keepdim=True)), ("L1", lambda x: x.abs().sum(1, keepdim=True)),
                    ("L2", lambda x: x.norm(dim=1, keepdim=True))]:
        ml("Normalizer", lambda x: x / f(x), [grid(2, 4)], {"norm": norm})
    ml("FeatureVectorizer", lambda a, b: torch.cat([a, b], 1), [grid(2, 1), grid(2, 3)], {"inputdimensions": [1, 3]})
    ml("ArrayFeatureExtractor", lambda x: x[:, [2, 0]], [grid(2, 3)], integers=[ints(1, 2, 0)])
    weights = torch.tensor([[0.5, -1.0], [1.5, 0.25]])
    ml("LinearRegressor", lambda x: torch.sigmoid(x @ weights.T + torch.tensor([0.5, -0.5])), [grid(3, 2)],
       {"coefficients": {"floats": [0.5, -1.0, 1.5, 0.25]}, "intercepts": {"floats": [0.5, -0.5]}, "targets": 2,
        "post_transform": "LOGISTIC"})


def sampling(case, grid, ints):
    names = {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}
    for mode in names:
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1) if mode == "linear" else (0,):
                f = lambda x, g: F.grid_sample(x, g, names[mode], padding, bool(corners))
                at = grid(1, 2, 3, 2, low=-0.9, high=0.9)
                attributes = {"mode": mode, "padding_mode": padding, "align_corners": corners}
                if mode == "nearest":
                    # It reads steps of the grid: there is no gradient by that.
                    case("GridSample", lambda x: f(x, at), [grid(1, 2, 3, 4)], attributes, opset=20,
                         integers=[(1, at.reshape(-1).tolist(), [1, 2, 3, 2], 1)])
                else:
                    case("GridSample", f, [grid(1, 2, 3, 4), at], attributes, opset=20)
    outside = torch.tensor([[[[1.21, -0.4], [-1.3, 0.7]]]])
    for padding in ("zeros", "border", "reflection"):
        case("GridSample", lambda x, g: F.grid_sample(x, g, "bilinear", padding, False), [grid(1, 1, 3, 3), outside],
             {"mode": "linear", "padding_mode": padding}, opset=20)
    case("GridSample", lambda x, g: F.grid_sample(x, g, "bilinear", "zeros", False),
         [grid(2, 1, 3, 3), grid(2, 1, 2, 2, low=-0.9, high=0.9)], {"mode": "bilinear"}, domain=MS, opset=13)

    def linear(q, k, v, decay=None, beta=None, state=None):
        batch, length, heads, own = q.shape[0], q.shape[1], 2, 1
        s = torch.zeros(batch, own, 2, 3) if state is None else state
        out = []
        for t in range(length):
            kt, w = k[:, t].reshape(batch, own, 2), v[:, t].reshape(batch, own, 3)
            if decay is not None:
                s = s * torch.exp(decay[:, t]).reshape(batch, own, -1, 1)
            if beta is not None:
                w = beta[:, t].reshape(batch, own, 1) * (w - torch.einsum("bhkv,bhk->bhv", s, kt))
            s = s + torch.einsum("bhk,bhv->bhkv", kt, w)
            qt = q[:, t].reshape(batch, own, heads, 2)
            out.append((torch.einsum("bhgk,bhkv->bhgv", qt, s) / math.sqrt(2)).reshape(batch, 1, 6))
        return [torch.cat(out, 1), s]
    inputs = [grid(1, 3, 4), grid(1, 3, 2), grid(1, 3, 3)]
    heads = {"q_num_heads": 2, "kv_num_heads": 1}
    case("LinearAttention", linear, inputs, {**heads, "update_rule": "linear"}, opset=27)
    case("LinearAttention", lambda q, k, v, s, d, b: linear(q, k, v, d, b, s),
         [*inputs, grid(1, 1, 2, 3), grid(1, 3, 2), grid(1, 3, 1)], heads, opset=27)
    conv = lambda x, w, b, s: [(lambda y: y * torch.sigmoid(y))(F.conv1d(torch.cat([s, x], 2), w, b, groups=2)),
                               torch.cat([s, x], 2)[:, :, -2:]]
    case("CausalConvWithState", conv, [grid(1, 2, 4), grid(2, 1, 3), grid(2), grid(1, 2, 2)], {"activation": "silu"},
         opset=27)
