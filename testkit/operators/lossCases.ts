import { elementCount } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import type { Experiment } from "../onnx/agreement.ts";
import { F, type Make } from "./makers.ts";

/** Scores, classes and perhaps weights and an ignored class that occurs. */
const loss =
  (op: string, logs: boolean): Make =>
  (r) => {
    const [n, classes] = [r.int(1, 4), r.int(2, 6)];
    const spatial = r.shape(r.int(0, 3), 3);
    // At least one element always stays in, because a mean must not become 0 / 0.
    const shape = [n, ...spatial];
    const classOf = (_: unknown, i: number): number => (i === 0 ? classes - 1 : r.int(0, classes - 1));
    const kept = int64Tensor(Array.from({ length: elementCount(shape) }, classOf), shape);
    const attributes: Record<string, AttributeValue> = { reduction: r.pick(["none", "sum", "mean"]) };
    if (r.int(0, 1) === 0) attributes.ignore_index = 0;
    const weighted = r.int(0, 1) === 0;
    const experiment: Experiment = {
      operands: { x: r.float([n, classes, ...spatial]), t: kept, ...(weighted ? { w: r.float([classes], 1, 2) } : {}) },
      nodes: [
        {
          op,
          inputs: weighted ? ["x", "t", "w"] : ["x", "t"],
          outputs: logs ? ["y", "logs"] : ["y"],
          attributes,
        },
      ],
      outputs: logs ? { y: F, logs: F } : { y: F },
      opset: 13,
    };
    return experiment;
  };

export const LOSS_CASES: Record<string, readonly Make[]> = {
  NegativeLogLikelihoodLoss: [loss("NegativeLogLikelihoodLoss", false), loss("NegativeLogLikelihoodLoss", false)],
  SoftmaxCrossEntropyLoss: [loss("SoftmaxCrossEntropyLoss", false), loss("SoftmaxCrossEntropyLoss", true)],
};
