import { FLOATS } from "../../model/decision/operatorClass.ts";
import * as bounded from "../bounded/rules.ts";
import * as lossesRules from "../gradients/rules/losses.ts";
import * as normalisationRules from "../gradients/rules/normalisation.ts";
import * as normsRules from "../gradients/rules/norms.ts";
import { negativeLogLikelihoodLoss, softmaxCrossEntropyLoss } from "../operators/loss.ts";
import * as normalisation from "../operators/normalisation.ts";
import * as normalisationVariants from "../operators/normalisationVariants.ts";
import { ONNX, type Row } from "./row.ts";

/** Normalises elements by the mean or the norm of an element group. */
const NORMALISATION = { ...ONNX, use: "memory", decision: FLOATS, halves: "float32" } as const;

/** A loss of classes. */
const LOSS = { ...ONNX, since: 12, use: "memory", decision: FLOATS, halves: "float32", bounded: "refused" } as const;

/** Normalisations and losses. */
export const NORMALISATION_ROWS: readonly Row[] = [
  {
    ...NORMALISATION,
    operator: "BatchNormalization",
    since: 6,
    use: "fuse",
    lower: normalisation.batchNormalization,
    bounded: bounded.batch,
    gradient: { rule: normalisationRules.batchNormalization, without: [3, 4], limits: "not by mean and variance" },
    computes:
      "a = g / sqrt(var + eps), folded where constant; ((x - mean) * a) + b. In training mean = RN(sum) / n, " +
      "var = dot(d, d) / n, d = x - mean; running: (old * momentum) + (new * RN(1 - momentum))",
    sets: "`spatial` = 1 before 9; training from 14",
  },
  {
    ...NORMALISATION,
    operator: "GroupNormalization",
    since: 18,
    lower: normalisationVariants.groupNormalization,
    bounded: "refused",
    gradient: normalisationRules.groupNormalization,
    computes: "as LayerNormalization, over groups of channels",
    sets: "scale and bias for each group before 21, then for each channel",
  },
  {
    ...NORMALISATION,
    operator: "InstanceNormalization",
    since: 1,
    lower: normalisation.instanceNormalization,
    bounded: bounded.batch,
    gradient: normalisationRules.instanceNormalization,
    computes: "as LayerNormalization, over the spatial dimensions",
  },
  {
    ...NORMALISATION,
    operator: "LayerNormalization",
    since: 1,
    lower: normalisation.layerNormalization,
    statistics: [1, 2],
    bounded: bounded.fromAxis,
    gradient: normalisationRules.layerNormalization,
    computes:
      "mu = sum / n; d = x - mu; r = sqrt(dot(d, d) / n + eps); ((d / r) * g) + b; further outputs mu and 1 / r",
  },
  {
    ...NORMALISATION,
    operator: "LpNormalization",
    since: 1,
    lower: normalisationVariants.lpNormalization,
    bounded: "refused",
    gradient: { composition: normsRules.lpNormalization },
    computes: "p = 1: n = sum of abs; p = 2: n = sqrt(dot(x, x)); n = 0 ? 0 : x / n",
  },
  {
    ...NORMALISATION,
    operator: "LRN",
    since: 1,
    lower: normalisationVariants.lrn,
    bounded: bounded.batch,
    gradient: { composition: normsRules.lrn },
    computes: "x / pow(bias + RN(alpha / size) * s, beta), s = dot(x, x) over the neighbouring channels",
  },
  {
    ...NORMALISATION,
    operator: "MeanVarianceNormalization",
    since: 9,
    lower: normalisationVariants.meanVarianceNormalization,
    bounded: "refused",
    gradient: { composition: normsRules.meanVarianceNormalization },
    computes: "d = x - sum / n; d / (sqrt(dot(d, d) / n) + 1e-9)",
  },
  {
    ...NORMALISATION,
    operator: "RMSNormalization",
    since: 23,
    lower: normalisationVariants.rmsNormalization,
    bounded: bounded.fromAxis,
    gradient: normalisationRules.rmsNormalization,
    computes: "r = sqrt(dot(x, x) / n + eps); (x / r) * g",
  },
  {
    ...NORMALISATION,
    operator: "SimplifiedLayerNormalization",
    since: 1,
    lower: normalisationVariants.rmsNormalization,
    bounded: "refused",
    gradient: normalisationRules.rmsNormalization,
    computes: "RMSNormalization; an operator of onnxruntime in this domain",
  },

  {
    ...LOSS,
    operator: "NegativeLogLikelihoodLoss",
    lower: negativeLogLikelihoodLoss,
    gradient: { rule: lossesRules.negativeLogLikelihood, without: [2], limits: "not by its weights" },
    computes:
      "l = -p[class] (* w[class]), 0 where the class is `ignore_index`; mean: sum l / sum w (w = 1 without " +
      "weights)",
  },
  {
    ...LOSS,
    operator: "SoftmaxCrossEntropyLoss",
    lower: softmaxCrossEntropyLoss,
    gradient: { rule: lossesRules.softmaxCrossEntropy, without: [2], allOutputs: true, limits: "not by its weights" },
    computes: "LogSoftmax over the classes, then NegativeLogLikelihoodLoss; second output the logs",
  },
];
