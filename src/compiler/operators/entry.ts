import { OPSETS } from "../../model/onnx/readModel.ts";
import type { Lower } from "../lowering/nodeContext.ts";

/** The newest operator set of ai.onnx whose meaning is known: the last version in which most operators are executed. */
export const LATEST = OPSETS[1];

/**
 * How a node uses its inputs: `fuse`: element by element or as a view, so that what makes an input may go into the same
 * step; `memory`: an input is read many times and must be in memory; `shape`: only its shape matters.
 */
type Use = "fuse" | "memory" | "shape";

/** A row of the table of operators. */
export type Entry = {
  operator: string;
  /** "" is ai.onnx; "refute" has what the compiler itself puts around decoders. */
  domain: "" | "ai.onnx.ml" | "ai.onnx.preview" | "com.microsoft" | "refute";
  /** The first and the last version of the operator set in which it is executed here. */
  since: number;
  until: number;
  use: Use;
  lower: Lower;
};
