import { OPSETS } from "../../onnx/readModel.ts";
import { ifThenElse, loop, scan } from "./bodies.ts";
import * as sequences from "./sequences.ts";
import type { LowerControl } from "./types.ts";

/** Operators that take bodies or sequences: all of it is resolved at compile time. First and last operator set. */
export const CONTROL: ReadonlyMap<string, readonly [opsets: readonly [number, number], lower: LowerControl]> = new Map([
  ["If", [[1, OPSETS[1]], ifThenElse]],
  ["Loop", [[1, OPSETS[1]], loop]],
  ["Scan", [[9, OPSETS[1]], scan]],
  ["SequenceEmpty", [[11, OPSETS[1]], sequences.sequenceEmpty]],
  ["SequenceConstruct", [[11, OPSETS[1]], sequences.sequenceConstruct]],
  ["SequenceInsert", [[11, OPSETS[1]], sequences.sequenceInsert]],
  ["SequenceErase", [[11, OPSETS[1]], sequences.sequenceErase]],
  ["SequenceAt", [[11, OPSETS[1]], sequences.sequenceAt]],
  ["SequenceLength", [[11, OPSETS[1]], sequences.sequenceLength]],
  ["ConcatFromSequence", [[11, OPSETS[1]], sequences.concatFromSequence]],
  ["SplitToSequence", [[11, OPSETS[1]], sequences.splitToSequence]],
  ["SequenceMap", [[17, OPSETS[1]], sequences.sequenceMap]],
  ["Optional", [[15, OPSETS[1]], sequences.optionalValue]],
  ["OptionalGetElement", [[15, OPSETS[1]], sequences.optionalValue]],
  ["OptionalHasElement", [[15, OPSETS[1]], sequences.optionalHasElement]],
]);
