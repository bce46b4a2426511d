/** Random experiments for operators that read at positions given by data. */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { single } from "../onnx/agreement.ts";
import { F, type Make } from "./makers.ts";
import { fused } from "./microsoftCases.ts";

const gridSample =
  (opset: number): Make =>
  (r) => {
    const rank = opset >= 20 ? r.int(2, 3) : 2;
    const modes =
      opset >= 20 ? ["linear", "nearest", ...(rank === 2 ? ["cubic"] : [])] : ["bilinear", "nearest", "bicubic"];
    const n = r.int(1, 2);
    const x = r.float([n, r.int(1, 3), ...r.shape(rank, 4)]);
    // Off the multiples where nearest has two choices.
    const grid = r.float([n, ...r.shape(rank, 4), rank], -2, 2);
    const attributes = {
      mode: r.pick(modes),
      padding_mode: r.pick(["zeros", "border", "reflection"]),
      align_corners: r.int(0, 1),
    };
    return { ...single("GridSample", [x, grid], [], attributes, F, opset), atol: 1e-5 };
  };

const roiAlign =
  (opset: number): Make =>
  (r) => {
    const [n, count] = [r.int(1, 2), r.int(1, 3)];
    const corners = Array.from({ length: count }, () => {
      const [x, y] = [r.int(-64, 320) / 64, r.int(-64, 320) / 64];
      return [x, y, x + r.int(0, 320) / 64, y + r.int(0, 320) / 64];
    });
    const inputs = [
      r.float([n, r.int(1, 3), r.int(2, 6), r.int(2, 6)]),
      floatTensor(corners.flat(), [count, 4]),
      r.integer(DType.int64, [count], 0, n - 1),
    ];
    const attributes = {
      mode: r.pick(["avg", "avg", "max"]),
      output_height: r.int(1, 3),
      output_width: r.int(1, 3),
      sampling_ratio: r.int(1, 3),
      spatial_scale: { float: r.pick([1, 0.5]) },
      ...(opset < 16 ? {} : { coordinate_transformation_mode: r.pick(["half_pixel", "output_half_pixel"]) }),
    };
    return { ...single("RoiAlign", inputs, [], attributes, F, opset), atol: 1e-5 };
  };

const deformConv: Make = (r) => {
  const [groups, fields] = [r.int(1, 2), r.int(1, 2)];
  const [n, channels, outputs] = [r.int(1, 2), 2 * r.int(1, 2), 2 * r.int(1, 2)];
  const kernel = [r.int(1, 3), r.int(1, 3)];
  const [strides, dilations] = [kernel.map(() => r.int(1, 2)), kernel.map(() => r.int(1, 2))];
  const pads = [...kernel, ...kernel].map(() => r.int(0, 1));
  const size = kernel.map((k) => 2 * k + r.int(0, 3));
  const out = size.map(
    (s, d) => Math.floor((s + pads[d]! + pads[d + 2]! - dilations[d]! * (kernel[d]! - 1) - 1) / strides[d]!) + 1,
  );
  const taps = kernel[0]! * kernel[1]!;
  const inputs = [
    r.float([n, channels, ...size]),
    r.float([outputs, channels / groups, ...kernel]),
    r.float([n, fields * taps * 2, ...out], -2, 2),
    r.float([outputs]),
    ...(r.int(0, 1) ? [r.float([n, fields * taps, ...out], 0, 1)] : []),
  ];
  const attributes = { group: groups, offset_group: fields, kernel_shape: kernel, strides, dilations, pads };
  return { ...single("DeformConv", inputs, [], attributes, F, 19), atol: 1e-4 };
};

/** The operators. */
export const SAMPLING_CASES: Record<string, readonly Make[]> = {
  DeformConv: [deformConv],
  GridSample: [gridSample(16), gridSample(20), gridSample(20)],
  RoiAlign: [roiAlign(10), roiAlign(16)],
};

/** com.microsoft has an older GridSample. */
export const MICROSOFT_GRID_SAMPLE: Make = (r) => {
  const inputs = { x: r.float([1, 2, 3, 4]), grid: r.float([1, 2, 3, 2], -2, 2) };
  return fused("GridSample", inputs, { mode: r.pick(["bilinear", "nearest", "bicubic"]) });
};
