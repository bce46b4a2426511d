import type { OperatorClass } from "../../model/decision/operatorClass.ts";
import type { Node } from "../../model/onnx/model.ts";
import { OPSETS } from "../../model/onnx/readModel.ts";
import type { BoundedRule } from "../bounded/read.ts";
import type { Gradient } from "../gradients/gradient.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { OWN_DOMAIN } from "../nodes.ts";
import type { LowerControl } from "../operators/control/types.ts";
import type { Storage } from "../steps/storage.ts";

/** All that is known of an operator. A row that leaves a column out does not compile (docs/architecture.md). */
type Facts = {
  operator: string;
  /** "" is ai.onnx; "refute" has operators that only the compiler writes. */
  domain: "" | "ai.onnx.ml" | "ai.onnx.preview" | "ai.onnx.preview.training" | "com.microsoft" | typeof OWN_DOMAIN;
  /** The first and the last supported version of the operator set. */
  since: number;
  until: number;
  /** The primitives that the operator becomes, for docs/operators.md. */
  computes: string;
  /** How the meaning depends on the operator set, for docs/operators.md. */
  sets?: string;
  /** How the operator treats values that may differ between machines. */
  decision: OperatorClass;
};

/**
 * How a node uses its inputs.
 *
 * - `fuse`: element by element or as a view: an input's step may compute the node too
 * - `memory`: the node reads an input many times, and the input must be in memory
 * - `shape`: only an input's shape matters
 */
type Use = "fuse" | "memory" | "shape";

/**
 * How float16 and bfloat16 tensors are computed.
 *
 * - `own`: in the tensors' type: a primitive rounded once, a choice, or a data movement
 * - `float32`: operands are widened, which is exact, and each result is rounded once
 * - `aware`: the lowering takes tensors of several types itself
 */
type Halves = "own" | "float32" | "aware";

/** An operator that makes tensors of tensors. */
export type TensorRow = Facts & {
  use: Use;
  lower: Lower;
  halves: Halves | ((context: NodeContext) => Halves);
  /** Outputs in float32 for any data type. */
  statistics?: readonly number[];
  /**
   * Types below 16 bits, whose elements are bytes: `moved`: the operator moves elements, whatever their bytes stand
   * for; `aware`: the lowering knows of these types. A row without this column refuses such tensors.
   */
  narrow?: "moved" | "aware";
  /** How a node reads tensors that have room for more elements than there are (docs/operators.md). */
  bounded: BoundedRule | "refused";
  /** The preferred storage of the first input, for a node reading windows. */
  storage?: (node: Node) => Storage;
  /** Whether a node draws random numbers. */
  draws?: (node: Node) => boolean;
  gradient: Gradient;
};

/** An operator on bodies or sequences, resolved at compile time. */
type BodyRow = Facts & { use: "bodies"; lower: LowerControl; gradient: Gradient };

/** A training operator, rewritten in ai.onnx operators before the graph is lowered. */
type TrainingRow = Facts & { use: "rewritten" };

export type Row = TensorRow | BodyRow | TrainingRow;

/** The newest known operator set of ai.onnx is the last one for nearly all rows. */
export const ONNX = { domain: "", until: OPSETS[1] } as const;

/** The newest known version of ai.onnx.ml is 5. */
export const ML = { domain: "ai.onnx.ml", until: 5, bounded: "refused" } as const;

export const MICROSOFT = { domain: "com.microsoft", since: 1, until: 1, bounded: "refused" } as const;
