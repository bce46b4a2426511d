import { ifThenElse, loop, scan } from "./bodies.ts";
import * as sequences from "./sequences.ts";
import type { LowerControl } from "./types.ts";

/** Operators that take bodies or sequences: all of it is resolved at compile time. First and last operator set. */
export const CONTROL: ReadonlyMap<string, readonly [opsets: readonly [number, number], lower: LowerControl]> = new Map([
  ["If", [[1, 23], ifThenElse]],
  ["Loop", [[1, 23], loop]],
  ["Scan", [[9, 23], scan]],
  ["SequenceEmpty", [[11, 23], sequences.sequenceEmpty]],
  ["SequenceConstruct", [[11, 23], sequences.sequenceConstruct]],
  ["SequenceInsert", [[11, 23], sequences.sequenceInsert]],
  ["SequenceErase", [[11, 23], sequences.sequenceErase]],
  ["SequenceAt", [[11, 23], sequences.sequenceAt]],
  ["SequenceLength", [[11, 23], sequences.sequenceLength]],
  ["ConcatFromSequence", [[11, 23], sequences.concatFromSequence]],
  ["SplitToSequence", [[11, 23], sequences.splitToSequence]],
  ["SequenceMap", [[17, 23], sequences.sequenceMap]],
  ["Optional", [[15, 23], sequences.optionalValue]],
  ["OptionalGetElement", [[15, 23], sequences.optionalValue]],
  ["OptionalHasElement", [[15, 23], sequences.optionalHasElement]],
]);
