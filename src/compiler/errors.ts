import { RefuteError, errorWithCode } from "../base/errors.ts";
import { nodeLabel, type Node } from "../model/onnx/model.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { MAX_STEP_BYTES } from "../program/limits.ts";

const call = (node: Node): string => `${node.operator} (node ${nodeLabel(node)})`;

/** An operator, or a use of an operator, outside the table: refused, never approximated. */
export class UnsupportedOperatorError extends RefuteError {
  readonly code = "COMPILE_UNSUPPORTED";
  readonly operator: string;
  readonly node: string;
  /** The attribute or input that is the reason; undefined if the operator itself is. */
  readonly attribute: string | undefined;

  constructor(node: Node, attribute: string | undefined, why: string) {
    super(`${call(node)}${attribute === undefined ? "" : `, ${attribute}`}: ${why}`);
    this.operator = node.operator;
    this.node = nodeLabel(node);
    this.attribute = attribute;
  }
}

/** The shapes or types at a node do not fit together. */
export class NodeInputError extends RefuteError {
  readonly code = "COMPILE_NODE_INPUT";
  readonly operator: string;
  readonly node: string;

  constructor(node: Node, what: string) {
    super(`${call(node)}: ${what}`);
    this.operator = node.operator;
    this.node = nodeLabel(node);
  }
}

/** The flags of the limits of a compilation. */
const LIMIT_FLAGS = {
  seconds: "--compile-seconds",
  mib: "--compile-mib",
  nodes: "--compile-nodes",
  foldElements: "--fold-elements",
} as const;

/** Compiling exceeds a limit (`CompileLimits`). The node is the node being compiled, "" if none was. */
export class CompileBudgetError extends RefuteError {
  readonly code = "COMPILE_BUDGET";
  readonly operator: string;
  readonly node: string;
  /** The limit that was reached. */
  readonly limit: keyof typeof LIMIT_FLAGS;

  constructor(operator: string, node: string, limit: keyof typeof LIMIT_FLAGS, value: number, what: string) {
    const where = operator === "" ? "the model" : `${operator} (node ${node})`;
    super(`${where}: compiling takes ${what}; allow more with ${LIMIT_FLAGS[limit]} (limits.${limit}, now ${value})`);
    this.operator = operator;
    this.node = node;
    this.limit = limit;
  }
}

/** The shapes given for the model's inputs do not bind it. */
export class InputShapeError extends errorWithCode("COMPILE_INPUT_SHAPE") {}

/** A model output that no job can have. */
export class ModelOutputError extends errorWithCode("COMPILE_OUTPUT") {}

/** No output of the model has elements: all outputs are known, and nothing remains to compute. */
export class EmptyOutputsError extends ModelOutputError {
  readonly outputs: readonly TensorInfo[];

  constructor(source: string, outputs: readonly TensorInfo[]) {
    const all = outputs.map(({ name, shape }) => `"${name}" [${shape.join(", ")}]`);
    super(`${source}: no output has elements, so there is nothing to compute: ${all.join(", ")}`);
    this.outputs = outputs;
  }
}

/** The wiring of a run does not fit the model: names, types, shapes. */
export class RunWiringError extends errorWithCode("COMPILE_RUN") {}

/** An input that shall be drawn within the program, and cannot be, or not from such values. */
export class DrawnInputError extends errorWithCode("COMPILE_DRAWN_INPUT") {}

/** A model cannot be trained as asked: the loss, the output, the optimiser or weights that do not fit. */
export class TrainingError extends errorWithCode("COMPILE_TRAINING") {}

/** A training step cannot be cut along the batch: a node mixes examples, or numbers do not fit. */
export class SharesError extends errorWithCode("COMPILE_SHARES") {}

/** The requested noise cannot be added: unknown input, input without floats, or a scale other than a number. */
export class NoiseError extends errorWithCode("COMPILE_NOISE") {}

/** The requested seed cannot be an input of the job: a name already taken, nothing to draw, or two seeds. */
export class SeedInputError extends errorWithCode("COMPILE_SEED_INPUT") {}

/** A model is no decoder that can be wrapped into a run, by the input or output that does not fit. */
export class DecoderError extends errorWithCode("COMPILE_DECODER") {}

/** A wrapped decoder cannot generate the request: the slots, the prompt or the way to draw do not fit. */
export class DecoderRequestError extends errorWithCode("DECODER_REQUEST") {}

/** The shapes of some inputs are needed. The message names them all. */
export class OpenShapeError extends InputShapeError {
  /** Per input, the open dimensions and the flag that gives their sizes. */
  readonly inputs: readonly string[];

  constructor(source: string, inputs: readonly string[]) {
    super(`${source}: ${inputs.join("; ")}`);
    this.inputs = inputs;
  }
}

/** A step with an element whose proof on chain takes more gas or bytes than a transaction may. */
export type ExpensiveStep = { node: string; operator: string; gas: number; bytes: number };

/** Describes the cost of proving one element. */
export const proofText = ({ gas, bytes }: Pick<ExpensiveStep, "gas" | "bytes">): string =>
  `about ${gas} gas in a transaction of up to ${bytes} bytes`;

/**
 * In some steps, proving one element on chain takes more gas or bytes than a transaction may, however the reduction is
 * split.
 */
export class StepTooExpensiveError extends RefuteError {
  readonly code = "COMPILE_STEP_PROOF";
  /** All such steps; the message names the first. */
  readonly steps: readonly ExpensiveStep[];

  /** The limits; each step exceeds at least one limit. */
  readonly limit: { gas: number; bytes: number };

  constructor(steps: readonly [ExpensiveStep, ...ExpensiveStep[]], limit: { gas: number; bytes: number }) {
    const [{ node, operator, gas, bytes }, ...others] = steps;
    const more = others.length === 0 ? "" : `; ${others.length} more steps exceed them too`;
    const rest =
      gas <= limit.gas && bytes <= MAX_STEP_BYTES
        ? `, or for a network whose pools take ${bytes} bytes (stepByteLimit, --step-bytes)`
        : "";
    super(
      `${operator} (node ${node}): proving one element would take ${proofText({ gas, bytes })}, ` +
        `the limits are ${limit.gas} gas and ${limit.bytes} bytes${more}. ` +
        "No split of its terms or copy of its operands fits them and a tensor of 512 MiB: " +
        `compile for smaller shapes, reduce over fewer elements at a time${rest}`,
    );
    this.limit = limit;
    this.steps = steps;
  }
}

/** A step does not fit the limits of the encoding (reads, digits, expression length). */
export class StepLimitError extends errorWithCode("COMPILE_STEP_LIMIT") {}

/** No operation takes operands with the given types; the node with the operation is refused. */
export class OperandTypeError extends RefuteError {
  readonly code = "COMPILE_OPERAND_TYPE";

  constructor(operation: string, types: readonly string[]) {
    super(`${operation} of ${types.join(" and ")} is not executed here`);
  }
}
