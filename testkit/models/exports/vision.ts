/** Networks on pictures, in the export forms of PyTorch and TensorFlow. */
import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { Exporter, type Exported } from "./exporter.ts";

const BATCH = { x: ["batch_size", 3, "height", "width"] };

/** ResNet, batch normalisation not folded, any batch. */
function resNet(): Exported {
  const g = new Exporter(1);
  const x = g.random.float([2, 3, 32, 32], -1, 1);
  let y = g.node("Relu", [g.batchNorm(g.conv("x", 3, 8, [7, 7], { strides: [2, 2] }, false), 8)]);
  y = g.node("MaxPool", [y], { ceil_mode: 0, kernel_shape: [3, 3], pads: [1, 1, 1, 1], strides: [2, 2] });
  for (const [from, to, stride] of [
    [8, 8, 1],
    [8, 16, 2],
  ] as const) {
    const inner = g.node("Relu", [g.batchNorm(g.conv(y, from, to, [3, 3], { strides: [stride, stride] }, false), to)]);
    const outer = g.batchNorm(g.conv(inner, to, to, [3, 3], {}, false), to);
    const skip =
      from === to
        ? y
        : g.batchNorm(g.conv(y, from, to, [1, 1], { strides: [stride, stride], pads: [0, 0, 0, 0] }, false), to);
    y = g.node("Relu", [g.node("Add", [outer, skip])]);
  }
  const flat = g.node("Flatten", [g.node("GlobalAveragePool", [y])], { axis: 1 });
  const logits = g.node("Gemm", [flat, g.weight([10, 16]), g.weight([10])], {
    alpha: { float: 1 },
    beta: { float: 1 },
    transB: 1,
  });
  return g.model("resNet", 13, { x }, BATCH, { logits: [logits] });
}

/** MobileNetV2: inverted residuals, ReLU6 as Clip with constant bounds, the mean over pixels by ReduceMean. */
function mobileNet(): Exported {
  const g = new Exporter(2);
  const x = g.random.float([1, 3, 32, 32], -1, 1);
  const relu6 = (v: string): string => g.node("Clip", [v, g.float(0), g.float(6)]);
  let y = relu6(g.conv("x", 3, 8, [3, 3], { strides: [2, 2] }));
  for (const [from, to, stride] of [
    [8, 8, 1],
    [8, 12, 2],
  ] as const) {
    const wide = 6 * from;
    const expanded = relu6(g.conv(y, from, wide, [1, 1]));
    const deep = relu6(g.conv(expanded, wide, wide, [3, 3], { group: wide, strides: [stride, stride] }));
    const narrow = g.conv(deep, wide, to, [1, 1]);
    y = from === to && stride === 1 ? g.node("Add", [y, narrow]) : narrow;
  }
  const pooled = g.node("ReduceMean", [y], { axes: [2, 3], keepdims: 0 });
  return g.model("mobileNet", 12, { x }, BATCH, {
    logits: [g.node("Gemm", [pooled, g.weight([10, 12]), g.weight([10])], { transB: 1 })],
  });
}

/** EfficientNet: SiLU and squeeze-and-excitation, padding as TensorFlow pads. */
function efficientNet(): Exported {
  const g = new Exporter(3);
  const x = g.random.float([1, 3, 33, 31], -1, 1);
  const silu = (v: string): string => g.node("Mul", [v, g.node("Sigmoid", [v])]);
  const padded = g.node("Pad", ["x", g.ints(0, 0, 0, 0, 0, 0, 1, 1), g.float(0)], { mode: "constant" });
  let y = silu(g.conv(padded, 3, 8, [3, 3], { strides: [2, 2], pads: [0, 0, 0, 0] }));
  const deep = silu(g.conv(y, 8, 8, [5, 5], { group: 8 }));
  const squeezed = g.node("ReduceMean", [deep, g.ints(2, 3)], { keepdims: 1 });
  const gate = g.node("Sigmoid", [g.conv(silu(g.conv(squeezed, 8, 2, [1, 1])), 2, 8, [1, 1])]);
  y = g.node("Add", [y, g.conv(g.node("Mul", [gate, deep]), 8, 8, [1, 1])]);
  const pooled = g.node("Flatten", [g.node("GlobalAveragePool", [y])]);
  const dropped = g.node("Dropout", [
    pooled,
    g.float(0.2),
    g.constant({ dtype: DType.bool, shape: [], bytes: Uint8Array.of(0) }),
  ]);
  return g.model("efficientNet", 18, { x }, BATCH, {
    probabilities: [g.node("Softmax", [g.linear(dropped, 8, 10)], { axis: 1 })],
  });
}

/**
 * U-Net: what comes up by ConvTranspose or Resize is cut or padded to the skipped tensor's size, all computed from
 * shapes.
 */
function uNet(): Exported {
  const g = new Exporter(4);
  const x = g.random.float([1, 3, 22, 26], -1, 1);
  const block = (v: string, from: number, to: number): string => {
    const one = g.node(
      "LeakyRelu",
      [
        g.node("InstanceNormalization", [g.conv(v, from, to, [3, 3]), g.weight([to], 0.1, 1), g.weight([to])], {
          epsilon: { float: 1e-5 },
        }),
      ],
      { alpha: { float: 0.01 } },
    );
    return g.node("Relu", [g.batchNorm(g.conv(one, to, to, [3, 3], {}, false), to)]);
  };
  const pool = (v: string): string => g.node("MaxPool", [v], { kernel_shape: [2, 2], strides: [2, 2] });
  const a = block("x", 3, 6);
  const down = block(pool(a), 6, 8);
  const bottom = block(pool(down), 8, 12);
  // Up by ConvTranspose; padded to the skipped tensor's size.
  const up = g.node("ConvTranspose", [bottom, g.weight([12, 8, 2, 2]), g.weight([8])], {
    kernel_shape: [2, 2],
    strides: [2, 2],
  });
  const missing = [2, 3].map((d) => g.node("Sub", [g.size(down, d), g.size(up, d)]));
  const half = missing.map((m) => g.node("Div", [m, g.int(2)]));
  const rest = missing.map((m, k) => g.node("Sub", [m, half[k]!]));
  // PyTorch turns (left, right, top, bottom) into ONNX's order by Reshape, Slice backwards and Transpose.
  const torchPads = g.shape(half[1]!, rest[1]!, half[0]!, rest[0]!);
  const zeros = g.node("ConstantOfShape", [g.ints(4)], { value: { tensor: int64Tensor([0]) } });
  const pairs = g.node("Reshape", [g.node("Concat", [torchPads, zeros], { axis: 0 }), g.ints(-1, 2)]);
  const reversed = g.node("Slice", [pairs, g.ints(-1), g.ints(-(2 ** 53)), g.ints(0), g.ints(-1)]);
  const pads = g.node("Cast", [g.node("Reshape", [g.node("Transpose", [reversed], { perm: [1, 0] }), g.ints(-1)])], {
    to: DType.int64,
  });
  const fitted = g.node("Pad", [up, pads], { mode: "constant" });
  let y = block(g.node("Concat", [down, fitted], { axis: 1 }), 16, 8);
  // Up by bilinear interpolation to the size of the first, sizes by Shape, Slice and Concat; roi and scales are left
  // out.
  const sizes = g.node(
    "Concat",
    [g.node("Slice", [g.node("Shape", [y]), g.ints(0), g.ints(2), g.ints(0)]), g.shape(g.size(a, 2), g.size(a, 3))],
    { axis: 0 },
  );
  y = g.node("Resize", [y, "", "", sizes], {
    coordinate_transformation_mode: "pytorch_half_pixel",
    cubic_coeff_a: { float: -0.75 },
    mode: "linear",
    nearest_mode: "floor",
  });
  y = block(g.node("Concat", [a, y], { axis: 1 }), 14, 6);
  // Doubles the size by nearest neighbours. TensorFlow's exporter writes the same scales, with an empty region of
  // interest.
  const roi = g.initializer(floatTensor([], [0]));
  y = g.node("Resize", [y, roi, g.constant(floatTensor([1, 1, 2, 2]))], {
    coordinate_transformation_mode: "asymmetric",
    mode: "nearest",
    nearest_mode: "floor",
  });
  return g.model("uNet", 13, { x }, BATCH, {
    mask: [g.node("Sigmoid", [g.conv(y, 6, 1, [1, 1], { pads: [0, 0, 0, 0] })])],
  });
}

/** ViT: patches by a convolution, a class token expanded to the batch, queries, keys and values from one product. */
function vit(): Exported {
  const [g, width, heads] = [new Exporter(5), 24, 3];
  const x = g.random.float([2, 3, 16, 16], -1, 1);
  const patches = g.conv("x", 3, width, [4, 4], { strides: [4, 4], pads: [0, 0, 0, 0] });
  const batch = g.size(patches, 0);
  const flat = g.node("Transpose", [g.reshape(patches, batch, width, -1)], { perm: [0, 2, 1] });
  // torch's expand(-1, ...): a -1 stands for the size that is there.
  const target = g.shape(g.size("x", 0), -1, -1);
  const ones = g.node("ConstantOfShape", [g.node("Shape", [target])], { value: { tensor: int64Tensor([1]) } });
  const minus = g.node("Mul", [ones, g.int(-1)]);
  const token = g.node("Expand", [
    g.weight([1, 1, width]),
    g.node("Where", [g.node("Equal", [target, minus]), ones, target]),
  ]);
  let y = g.node("Add", [g.node("Concat", [token, flat], { axis: 1 }), g.weight([1, 17, width])]);
  for (let layer = 0; layer < 2; layer++) {
    const [n, s] = [g.size(y, 0), g.size(y, 1)];
    const qkv = g.reshape(g.linear(g.layerNorm(y, width), width, 3 * width), n, s, 3, heads, width / heads);
    const parts = g.node("Transpose", [qkv], { perm: [2, 0, 3, 1, 4] });
    const [q, k, v] = [0, 1, 2].map((i) => g.node("Gather", [parts, g.int(i)], { axis: 0 })) as [
      string,
      string,
      string,
    ];
    const scores = g.node("Mul", [
      g.node("MatMul", [q, g.node("Transpose", [k], { perm: [0, 1, 3, 2] })]),
      g.float(1 / Math.sqrt(width / heads)),
    ]);
    const mixed = g.node("MatMul", [g.node("Softmax", [scores], { axis: -1 }), v]);
    const joined = g.reshape(g.node("Transpose", [mixed], { perm: [0, 2, 1, 3] }), n, s, width);
    y = g.node("Add", [y, g.linear(joined, width, width)]);
    y = g.node("Add", [y, g.linear(g.gelu(g.linear(g.layerNorm(y, width), width, 2 * width)), 2 * width, width)]);
  }
  const first = g.node("Gather", [g.layerNorm(y, width), g.int(0)], { axis: 1 });
  return g.model("vit", 17, { x }, BATCH, { logits: [g.linear(first, width, 10)] });
}

/** Keras by tf2onnx: pictures last in channels, transposed in and out, sizes as int32, Squeeze and Unsqueeze around. */
function keras(): Exported {
  const g = new Exporter(6, "StatefulPartitionedCall/");
  const x = g.random.float([2, 20, 20, 3], 0, 1);
  let y = g.node("Transpose", ["x"], { perm: [0, 3, 1, 2] });
  y = g.node("Relu", [
    g.node("Conv", [y, g.weight([8, 3, 3, 3]), g.weight([8])], {
      auto_pad: "SAME_UPPER",
      strides: [2, 2],
      dilations: [1, 1],
      group: 1,
      kernel_shape: [3, 3],
    }),
  ]);
  y = g.node("AveragePool", [y], { auto_pad: "SAME_UPPER", kernel_shape: [3, 3], strides: [2, 2] });
  y = g.node("Transpose", [y], { perm: [0, 2, 3, 1] });
  // tf.shape(x)[0] as an int32 vector, packed with others and cast back.
  const shape = g.node("Cast", [g.node("Shape", [y])], { to: DType.int32 });
  const batch = g.node("Squeeze", [g.node("Slice", [shape, g.ints(0), g.ints(1), g.ints(0)]), g.ints(0)]);
  const packed = g.node(
    "Concat",
    [
      g.node("Unsqueeze", [batch, g.ints(0)]),
      g.constant({ dtype: DType.int32, shape: [1], bytes: new Uint8Array(Int32Array.of(-1).buffer) }),
    ],
    { axis: 0 },
  );
  const flat = g.node("Reshape", [y, g.node("Cast", [packed], { to: DType.int64 })]);
  const dense = g.node("Add", [g.node("MatMul", [flat, g.weight([200, 16])]), g.weight([16])]);
  const selu = g.node("Selu", [dense], { alpha: { float: 1.6732632 }, gamma: { float: 1.050701 } });
  const norm = g.node("Max", [
    g.node("ReduceSum", [g.node("Mul", [selu, selu]), g.ints(-1)], { keepdims: 1 }),
    g.float(1e-12),
  ]);
  return g.model(
    "keras",
    15,
    { x },
    { x: ["unk__1", 20, 20, 3] },
    { embedding: [g.node("Mul", [selu, g.node("Reciprocal", [g.node("Sqrt", [norm])])])] },
  );
}

/**
 * The heart of a diffusion U-Net: group normalisation by InstanceNormalization, a time embedding, attention over
 * pixels.
 */
function diffusion(): Exported {
  const g = new Exporter(7);
  const [x, t] = [g.random.float([1, 8, 8, 8], -1, 1), int64Tensor([500], [1])];
  const groupNorm = (v: string, channels: number): string => {
    const grouped = g.node("Reshape", [v, g.ints(0, 4, -1)]);
    const unit = [g.constant(floatTensor([1, 1, 1, 1])), g.constant(floatTensor([0, 0, 0, 0]))];
    const normal = g.node("Reshape", [
      g.node("InstanceNormalization", [grouped, ...unit], { epsilon: { float: 1e-5 } }),
      g.node("Shape", [v]),
    ]);
    return g.node("Add", [g.node("Mul", [normal, g.weight([channels, 1, 1], 0.1, 1)]), g.weight([channels, 1, 1])]);
  };
  const silu = (v: string): string => g.node("Mul", [v, g.node("Sigmoid", [v])]);
  const frequencies = g.constant(
    floatTensor(
      Array.from({ length: 8 }, (_, i) => Math.exp((-Math.log(10_000) * i) / 8)),
      [1, 8],
    ),
  );
  const angles = g.node("Mul", [
    g.node("Cast", [g.node("Unsqueeze", ["t", g.ints(1)])], { to: DType.float32 }),
    frequencies,
  ]);
  const time = g.linear(
    silu(g.linear(g.node("Concat", [g.node("Sin", [angles]), g.node("Cos", [angles])], { axis: -1 }), 16, 16)),
    16,
    8,
  );
  const spread = g.node("Unsqueeze", [g.node("Unsqueeze", [time, g.ints(2)]), g.ints(3)]);
  let y = g.node("Add", [g.conv(silu(groupNorm("x", 8)), 8, 8, [3, 3]), spread]);
  const [n, h, w] = [g.size(y, 0), g.size(y, 2), g.size(y, 3)];
  const pixels = g.node("Reshape", [
    g.node("Transpose", [groupNorm(y, 8)], { perm: [0, 2, 3, 1] }),
    g.shape(n, g.node("Mul", [h, w]), 8),
  ]);
  const [q, k, v] = [0, 1, 2].map(() => g.linear(pixels, 8, 8)) as [string, string, string];
  const weights = g.node("Softmax", [g.node("Einsum", [q, k], { equation: "b i d, b j d -> b i j" })], { axis: -1 });
  const attended = g.node("Einsum", [weights, v], { equation: "bij,bjd->bid" });
  const picture = g.node("Transpose", [g.reshape(attended, n, h, w, 8)], { perm: [0, 3, 1, 2] });
  y = g.node("Div", [g.node("Add", [picture, y]), g.float(1)]);
  return g.model(
    "diffusion",
    16,
    { x, t },
    { x: ["batch", 8, "height", "width"] },
    { noise: [g.conv(silu(groupNorm(y, 8)), 8, 4, [3, 3])] },
  );
}

/** A detector's head: boxes decoded on a grid that is made from shapes, scores, and the best hundred by TopK. */
function yolo(): Exported {
  const g = new Exporter(8);
  const x = g.random.float([1, 3, 32, 40], 0, 1);
  const features = g.node("HardSwish", [g.conv("x", 3, 16, [6, 6], { strides: [4, 4], pads: [1, 1, 1, 1] })]);
  const [h, w] = [g.size(features, 2), g.size(features, 3)];
  const range = (n: string): string =>
    g.node("Cast", [g.node("Range", [g.int(0), n, g.int(1)])], { to: DType.float32 });
  const both = g.shape(h, w);
  const [rows, columns] = [g.node("Unsqueeze", [range(h), g.ints(1)]), g.node("Unsqueeze", [range(w), g.ints(0)])];
  const grid = [columns, rows].map((v) => g.node("Unsqueeze", [g.node("Expand", [v, both]), g.ints(0)]));
  const cells = g.node("Reshape", [g.node("Concat", grid, { axis: 0 }), g.ints(1, 2, -1)]);
  const head = g.node("Reshape", [g.conv(features, 16, 4 * 8 + 5, [1, 1]), g.ints(1, 37, -1)]);
  const [distances, classes] = g.nodeOf("Split", [head, g.ints(32, 5)], 2, { axis: 1 }) as [string, string];
  // Distances as expectations over 8 bins: a softmax and a convolution with 0 .. 7.
  const bins = g.node(
    "Softmax",
    [g.node("Transpose", [g.node("Reshape", [distances, g.ints(1, 4, 8, -1)])], { perm: [0, 2, 1, 3] })],
    { axis: 1 },
  );
  const expected = g.node("Conv", [bins, g.constant(floatTensor([0, 1, 2, 3, 4, 5, 6, 7], [1, 8, 1, 1]))], {
    kernel_shape: [1, 1],
  });
  const sides = g.node("Reshape", [expected, g.ints(1, 4, -1)]);
  const [near, far] = g.nodeOf("Split", [sides], 2, { axis: 1, num_outputs: 2 }) as [string, string];
  const centre = g.node("Add", [cells, g.float(0.5)]);
  const boxes = g.node("Mul", [
    g.node("Concat", [g.node("Sub", [centre, near]), g.node("Add", [centre, far])], { axis: 1 }),
    g.float(4),
  ]);
  const scores = g.node("Sigmoid", [classes]);
  const best = g.node("ReduceMax", [scores, g.ints(1)], { keepdims: 0 });
  const [top, indices] = g.nodeOf("TopK", [best, g.ints(10)], 2, { axis: -1, largest: 1, sorted: 1 }) as [
    string,
    string,
  ];
  const index = g.node("Expand", [g.node("Unsqueeze", [indices, g.ints(-1)]), g.ints(1, 10, 4)]);
  const chosen = g.node("GatherElements", [g.node("Transpose", [boxes], { perm: [0, 2, 1] }), index], { axis: 1 });
  const labels = g.node("ArgMax", [scores], { axis: 1, keepdims: 0, select_last_index: 0 });
  return g.model("yolo", 18, { x }, BATCH, { scores: [top], boxes: [chosen], labels: [labels, DType.int64] }, 1e-4);
}

export const VISION = [resNet, mobileNet, efficientNet, uNet, vit, keras, diffusion, yolo];
