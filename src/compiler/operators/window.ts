import { addAffine, constantAffine, digitAffine, type Affine } from "../expressions/affine.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";

/** One spatial dimension of a convolution or pooling. */
export type Window = {
  input: number;
  output: number;
  kernel: number;
  stride: number;
  dilation: number;
  padBegin: number;
  padEnd: number;
};

function autoPad(context: NodeContext, mode: string, input: number, extent: number, stride: number): [number, number] {
  if (mode === "VALID") return [0, 0];
  const output = Math.ceil(input / stride);
  const needed = (output - 1) * stride + extent - input;
  // For poolings (not for convolutions) onnxruntime moves these windows inwards.
  if (needed < -1 && context.node.operator.includes("Pool"))
    context.refuse("auto_pad", `would crop ${-needed} elements of ${input}`);
  const total = Math.max(0, needed);
  const less = Math.floor(total / 2);
  return mode === "SAME_UPPER" ? [less, total - less] : [total - less, less];
}

/**
 * The windows of a Conv or pooling node over the given spatial sizes, from kernel_shape, strides, dilations, pads,
 * auto_pad and ceil_mode.
 */
export function readWindows(
  context: NodeContext,
  sizes: readonly number[],
  weightKernel?: readonly number[],
): Window[] {
  const rank = sizes.length;
  const list = (name: string, otherwise: readonly number[]): readonly number[] => context.intsLike(name, otherwise);
  const ones = sizes.map(() => 1);
  const kernel = context.ints("kernel_shape") ?? weightKernel ?? context.fail("kernel_shape is missing");
  if (kernel.length !== rank || (weightKernel && kernel.some((k, d) => k !== weightKernel[d])))
    context.fail(`kernel_shape [${kernel.join()}] does not fit`);
  const strides = list("strides", ones);
  const dilations = list("dilations", ones);
  const pads = list(
    "pads",
    [...sizes, ...sizes].map(() => 0),
  );
  const mode = context.string("auto_pad", "NOTSET");
  if (!["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"].includes(mode)) context.refuse("auto_pad", `is ${mode}`);
  const ceil = context.int("ceil_mode", 0) !== 0;
  if ([...kernel, ...strides, ...dilations].some((value) => value < 1))
    context.fail("kernel, strides and dilations are at least 1");
  if (pads.some((pad) => pad < 0)) context.refuse("pads", "are negative");
  return sizes.map((input, d) => {
    const [stride, dilation] = [strides[d]!, dilations[d]!];
    const extent = dilation * (kernel[d]! - 1) + 1;
    const [padBegin, padEnd] =
      mode === "NOTSET" ? [pads[d]!, pads[d + rank]!] : autoPad(context, mode, input, extent, stride);
    const free = input + padBegin + padEnd - extent;
    let output = (ceil && mode === "NOTSET" ? Math.ceil(free / stride) : Math.floor(free / stride)) + 1;
    // ONNX's text gives an output less than onnxruntime under `ceil_mode`.
    if (ceil && mode === "VALID" && free % stride !== 0) context.refuse("ceil_mode", "with auto_pad VALID");
    // A window may hang over the end, but must begin inside the input or its first padding.
    if (ceil && (output - 1) * stride >= input + padBegin) output--;
    if (output < 1) context.fail(`a window of ${extent} does not fit ${input} + ${padBegin} + ${padEnd}`);
    return { input, output, kernel: kernel[d]!, stride, dilation, padBegin, padEnd };
  });
}

/** The input coordinate of output position `out` and kernel position `red`. */
export const windowIndex = (window: Window, out: Affine, red: number): Affine => {
  const moved = {
    base: out.base * window.stride,
    coeffs: new Map([...out.coeffs].map(([d, c]) => [d, c * window.stride])),
  };
  return addAffine(addAffine(moved, digitAffine(red, window.dilation)), constantAffine(-window.padBegin));
};
