import { decides, FLOATS, FLOATS_OR_INTEGERS, JUMPING } from "../../model/decision/operatorClass.ts";
import * as read from "../../model/decision/readDecision.ts";
import * as bounded from "../bounded/rules.ts";
import { CONSTANT, DISCRETE } from "../gradients/refusals.ts";
import * as resizeRules from "../gradients/rules/resize.ts";
import * as samplingRules from "../gradients/rules/sampling.ts";
import * as spatialRules from "../gradients/rules/spatial.ts";
import * as spectrumRules from "../gradients/rules/spectrum.ts";
import { nonMaxSuppression } from "../operators/nonMaxSuppression.ts";
import { resize } from "../operators/resize/resize.ts";
import { gridSample } from "../operators/sampling/gridSample.ts";
import { roiAlign } from "../operators/sampling/roiAlign.ts";
import { affineGrid } from "../operators/spatialTransforms.ts";
import { dft, stft } from "../operators/spectrum.ts";
import { tfIdf } from "../operators/tfIdf.ts";
import { ONNX, type Row } from "./row.ts";

/** Elements at places between the elements of a picture. */
const PICTURE = { ...ONNX, use: "memory", decision: JUMPING, halves: "float32", bounded: "refused" } as const;

/** Fourier transforms. */
const SPECTRUM = {
  ...ONNX,
  since: 17,
  use: "memory",
  decision: FLOATS,
  halves: "float32",
  bounded: "refused",
} as const;

/** Pictures, spectra and texts as numbers. */
export const SIGNAL_ROWS: readonly Row[] = [
  {
    ...PICTURE,
    operator: "AffineGrid",
    since: 20,
    lower: affineGrid,
    decision: FLOATS,
    gradient: spatialRules.affineGrid,
    computes: "dot of the places (constants) and theta; no `align_corners` over a dimension of 1",
  },
  {
    ...PICTURE,
    operator: "GridSample",
    since: 16,
    lower: gridSample,
    gradient: { composition: samplingRules.gridSample },
    computes:
      "coordinates, positions and weights in float32, each stored; dot of neighbours and products of their " +
      "weights. All modes and paddings; two dimensions, from 20 on any number",
    sets: "names of the modes from 20",
  },
  {
    ...PICTURE,
    operator: "NonMaxSuppression",
    since: 10,
    lower: nonMaxSuppression,
    gradient: DISCRETE,
    computes:
      "in float32; of boxes and scores known at compile time folded, else bounded, one box after the other, at " +
      "most 1,024 of a class",
  },
  {
    ...PICTURE,
    operator: "Resize",
    since: 10,
    lower: resize,
    decision: FLOATS_OR_INTEGERS,
    gradient: { rule: resizeRules.resize, without: [1, 2] },
    computes:
      "nearest: reads through known indices, or a view where elements repeat; linear and cubic: RN(dot) over " +
      "the neighbours, a weight being the product of those of the dimensions. Coordinates and weights are " +
      "known, in float32 operations in onnxruntime's order. All coordinate and rounding modes, and " +
      "`antialias`. With align_corners and scales, the length is the scaled one before it is cut to a whole " +
      "number, as in the specification; onnxruntime cuts it first",
    sets: "coordinates are asymmetric before 11",
  },
  {
    ...PICTURE,
    operator: "RoiAlign",
    since: 10,
    lower: roiAlign,
    bounded: bounded.roiAlign,
    gradient: { refused: "the operator has no gradient rule: freeze what is before it" },
    computes:
      "as GridSample over the samples of each bin: RN(RN(dot) / count), or the greatest weighted neighbour. " +
      "`sampling_ratio` 0 is refused",
    sets: "half pixels from 16",
  },
  {
    ...PICTURE,
    operator: "Upsample",
    since: 7,
    until: 9,
    lower: resize,
    decision: FLOATS_OR_INTEGERS,
    gradient: { rule: resizeRules.resize, without: [1] },
    computes: "as Resize; to operator set 9",
    sets: "scales are an attribute before 9",
  },

  {
    ...SPECTRUM,
    operator: "DFT",
    lower: dft,
    gradient: { composition: spectrumRules.dft, limits: "not as the inverse of half of a spectrum" },
    computes:
      "dot with cos and sin of 2 pi k j / n (constants, rounded to float32); inverse: RN(dot / n), with " +
      "`onesided` to real samples (each frequency but the first and the last counts twice). At most 2^23 " +
      "factors",
    sets: "the axis is an input from 20",
  },
  {
    ...SPECTRUM,
    operator: "STFT",
    lower: stft,
    gradient: { composition: spectrumRules.stft },
    computes: "dot of RN(sample * window) with the same factors",
  },

  {
    ...ONNX,
    operator: "TfIdfVectorizer",
    since: 9,
    use: "memory",
    lower: tfIdf,
    decision: decides(read.comparison),
    halves: "float32",
    bounded: "refused",
    gradient: CONSTANT,
    computes:
      "of numbers (`pool_int64s`): for each sequence and distance a sum of comparisons; sequences of at most " +
      "5; weights in the order of the columns",
  },
];
