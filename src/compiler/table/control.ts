import { NOT_LOOKED_INTO } from "../../model/decision/operatorClass.ts";
import { CONSTANT, DISCRETE, OPTIONAL, SEQUENCE } from "../gradients/refusals.ts";
import * as bodiesRules from "../gradients/rules/bodies.ts";
import { ifThenElse, loop, scan } from "../operators/control/bodies.ts";
import { flexAttention } from "../operators/control/flexAttention.ts";
import * as sequences from "../operators/control/sequences.ts";
import { ONNX, type Row } from "./row.ts";

/** Operators that take bodies. */
const BODIES = { ...ONNX, use: "bodies", decision: NOT_LOOKED_INTO } as const;

/** Lists of tensors. */
const SEQUENCES = {
  ...ONNX,
  use: "bodies",
  decision: NOT_LOOKED_INTO,
  computes: "a list of tensors, positions known",
} as const;

/** A tensor, or a list of tensors, possibly absent. */
const OPTIONALS = {
  ...ONNX,
  since: 15,
  use: "bodies",
  decision: NOT_LOOKED_INTO,
  computes: "a list of tensors, positions known",
} as const;

/** Operators on bodies, sequences and optionals: all of it is resolved at compile time. */
export const CONTROL_ROWS: readonly Row[] = [
  {
    ...BODIES,
    operator: "If",
    since: 1,
    lower: ifThenElse,
    gradient: { composition: bodiesRules.ifThenElse },
    computes:
      "the branch of a known condition. If the condition depends on data: both branches, and a choice between " +
      "their outputs where these agree in shape and type",
  },
  {
    ...BODIES,
    operator: "Loop",
    since: 1,
    lower: loop,
    gradient: { composition: bodiesRules.loop },
    computes: "unrolled, at most 4096 iterations. The trip count, and the condition after each iteration, are known",
  },
  {
    ...BODIES,
    operator: "Scan",
    since: 8,
    lower: scan,
    gradient: { composition: bodiesRules.scan },
    computes: "unrolled, at most 4096 iterations. The trip count, and the condition after each iteration, are known",
  },

  {
    domain: "ai.onnx.preview",
    until: 1,
    operator: "FlexAttention",
    since: 1,
    use: "bodies",
    lower: flexAttention,
    decision: NOT_LOOKED_INTO,
    gradient: { refused: "the operator has no gradient rule: export attention as separate operators" },
    computes:
      "as Attention; bodies of the node change the scores before the softmax, and its result before the values " +
      "are weighted",
  },

  { ...SEQUENCES, operator: "ConcatFromSequence", since: 11, lower: sequences.concatFromSequence, gradient: SEQUENCE },
  { ...SEQUENCES, operator: "SequenceAt", since: 11, lower: sequences.sequenceAt, gradient: SEQUENCE },
  { ...SEQUENCES, operator: "SequenceConstruct", since: 11, lower: sequences.sequenceConstruct, gradient: SEQUENCE },
  { ...SEQUENCES, operator: "SequenceEmpty", since: 11, lower: sequences.sequenceEmpty, gradient: CONSTANT },
  { ...SEQUENCES, operator: "SequenceErase", since: 11, lower: sequences.sequenceErase, gradient: SEQUENCE },
  { ...SEQUENCES, operator: "SequenceInsert", since: 11, lower: sequences.sequenceInsert, gradient: SEQUENCE },
  { ...SEQUENCES, operator: "SequenceLength", since: 11, lower: sequences.sequenceLength, gradient: DISCRETE },
  { ...SEQUENCES, operator: "SequenceMap", since: 17, lower: sequences.sequenceMap, gradient: SEQUENCE },
  { ...SEQUENCES, operator: "SplitToSequence", since: 11, lower: sequences.splitToSequence, gradient: SEQUENCE },

  { ...OPTIONALS, operator: "Optional", lower: sequences.optional, gradient: OPTIONAL },
  { ...OPTIONALS, operator: "OptionalGetElement", lower: sequences.optionalGetElement, gradient: OPTIONAL },
  { ...OPTIONALS, operator: "OptionalHasElement", lower: sequences.optionalHasElement, gradient: DISCRETE },
];
