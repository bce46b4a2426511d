import { LATEST, type Entry } from "../../operators/entry.ts";
import { flexAttention } from "./flexAttention.ts";
import { ifThenElse, loop, scan } from "./bodies.ts";
import * as sequences from "./sequences.ts";
import type { LowerControl } from "./types.ts";

/** A row of the table of control flow. */
type ControlEntry = Pick<Entry, "operator" | "domain" | "since" | "until"> & { lower: LowerControl };

/** Operators that take bodies or sequences: all of it is resolved at compile time. */
export const CONTROL: readonly ControlEntry[] = [
  { operator: "If", domain: "", since: 1, until: LATEST, lower: ifThenElse },
  { operator: "Loop", domain: "", since: 1, until: LATEST, lower: loop },
  { operator: "Scan", domain: "", since: 8, until: LATEST, lower: scan },
  { operator: "SequenceEmpty", domain: "", since: 11, until: LATEST, lower: sequences.sequenceEmpty },
  { operator: "SequenceConstruct", domain: "", since: 11, until: LATEST, lower: sequences.sequenceConstruct },
  { operator: "SequenceInsert", domain: "", since: 11, until: LATEST, lower: sequences.sequenceInsert },
  { operator: "SequenceErase", domain: "", since: 11, until: LATEST, lower: sequences.sequenceErase },
  { operator: "SequenceAt", domain: "", since: 11, until: LATEST, lower: sequences.sequenceAt },
  { operator: "SequenceLength", domain: "", since: 11, until: LATEST, lower: sequences.sequenceLength },
  { operator: "ConcatFromSequence", domain: "", since: 11, until: LATEST, lower: sequences.concatFromSequence },
  { operator: "SplitToSequence", domain: "", since: 11, until: LATEST, lower: sequences.splitToSequence },
  { operator: "SequenceMap", domain: "", since: 17, until: LATEST, lower: sequences.sequenceMap },
  { operator: "Optional", domain: "", since: 15, until: LATEST, lower: sequences.optional },
  { operator: "OptionalGetElement", domain: "", since: 15, until: LATEST, lower: sequences.optionalGetElement },
  { operator: "FlexAttention", domain: "ai.onnx.preview", since: 1, until: 1, lower: flexAttention },
  { operator: "OptionalHasElement", domain: "", since: 15, until: LATEST, lower: sequences.optionalHasElement },
];

const key = (operator: string, domain: string): string => `${domain}.${operator}`;
const BY_NAME = new Map(CONTROL.map((entry) => [key(entry.operator, entry.domain), entry]));

/** The table's entry for an operator on bodies or sequences, or undefined. */
export const findControl = (operator: string, domain: string): ControlEntry | undefined =>
  BY_NAME.get(key(operator, domain));
