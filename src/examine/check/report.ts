import { isDecided, type Decision } from "../../model/decision/decision.ts";
import type { FoundDecisions } from "../../compiler/decisions/findDecisions.ts";
import { worstDispute } from "../../dispute/worstDispute.ts";
import type { NodeRefusal, Survey } from "../../compiler/survey.ts";
import { dtypeBytes, dtypeName } from "../../numerics/dtype.ts";
import { operatorCounts } from "../../model/onnx/operatorCounts.ts";
import type { Model } from "../../model/onnx/model.ts";
import type { CompiledModel, TensorInfo } from "../../program/compiled.ts";
import { largestProofs } from "../../program/largestProofs.ts";
import type { TensorRef } from "../../program/types.ts";
import { inputTexts, outputTexts } from "../../program/sourceText.ts";
import { programWork } from "../../program/work.ts";

/** log2 of a reveal's children, by the default in ignition/modules/Refute.ts. */
const ARITY_BITS = 4;

/** The report of `refute check` on a model. */
export type CheckReport = {
  source: string;
  served: boolean;
  /**
   * Operators in the graph and its bodies, most common first; `refused` counts the refused nodes among `count` nodes.
   */
  operators: { operator: string; count: number; refused: number }[];
  refusals: NodeRefusal[];
  unreached: number;
  program?: ProgramReport;
  /**
   * For each output of the program: the decisions behind the output, or the reason why plain executions may differ
   * between machines.
   */
  decisions?: OutputDecisions[];
};

type OutputDecisions = { output: string; decisions: readonly Decision[] } | { output: string; undecided: string };

type ProgramReport = {
  programRoot: string;
  inputs: string[];
  outputs: string[];
  steps: number;
  checkpoints: number;
  parameters: number;
  work: string;
  largestStepProof: { gas: number; step: string };
  /** Bytes of the transaction. */
  longestStepProof: { bytes: number; step: string };
  dispute: { transactions: number; gas: number; step: string; moves: string };
  /** Bytes: all tensors together, and the memory that an execution addresses at once, if an execution is possible. */
  memory: { inputs: number; constants: number; tensors: number; total: number; execution?: number };
};

/**
 * Prepares a readable report from a survey of a model.
 * @param decided Returns the decisions behind the outputs of a servable model.
 * @param memoryOf Returns an execution's bytes, or the reason why an execution is impossible; undefined if unknown.
 */
export function checkReport(
  model: Model,
  { refusals: found, unreached, model: compiled }: Survey,
  decided: () => FoundDecisions,
  memoryOf: (model: CompiledModel) => number | NodeRefusal | undefined,
): CheckReport {
  const memory = compiled === undefined ? undefined : memoryOf(compiled);
  const refusals = typeof memory === "object" ? [...found, memory] : found;
  const refused = new Map<string, number>();
  for (const { operator } of refusals) refused.set(operator, (refused.get(operator) ?? 0) + 1);
  const operators = [...operatorCounts(model.graph)]
    .map(([operator, count]) => ({ operator, count, refused: refused.get(operator) ?? 0 }))
    .sort((a, b) => b.count - a.count || (a.operator < b.operator ? -1 : 1));
  const head = { source: model.source, served: refusals.length === 0, operators, refusals, unreached };
  if (compiled === undefined) return head;
  return { ...head, program: programReport(compiled, memory), decisions: outputDecisions(compiled, decided()) };
}

function outputDecisions({ outputs }: CompiledModel, found: FoundDecisions): OutputDecisions[] {
  const own = new Set(outputs.map(({ name }) => name));
  return found.outputs
    .filter(({ name }) => own.has(name))
    .map((output) =>
      isDecided(output)
        ? { output: output.name, decisions: output.decisions }
        : { output: output.name, undecided: output.reason },
    );
}

function programReport(model: CompiledModel, memory: number | NodeRefusal | undefined): ProgramReport {
  const { program, origins } = model;
  const where = (step: number): string => `step ${step}, ${origins[step]!.operator}, node ${origins[step]!.node}`;
  const proofs = largestProofs(program);
  const dispute = worstDispute(program, ARITY_BITS);
  const inputs = sumBytes(program.inputs);
  const constants = sumBytes(distinctConstants(model));
  const tensors = sumBytes(program.steps);
  return {
    programRoot: model.programRoot,
    inputs: inputTexts(program, model.inputs.map(tensorText)),
    outputs: outputTexts(program, model.outputs.map(tensorText)),
    steps: program.steps.length,
    checkpoints: program.checkpoints.length,
    parameters: distinctConstants(model).reduce((sum, { count }) => sum + count, 0),
    work: programWork(program).toString(),
    largestStepProof: {
      gas: program.maxStepGas,
      step: where(proofs.gas),
    },
    longestStepProof: {
      bytes: program.maxStepBytes,
      step: where(proofs.bytes),
    },
    dispute: {
      transactions: dispute.moves.length,
      gas: dispute.gas,
      step: where(dispute.step),
      moves: dispute.moves.join(" "),
    },
    memory: {
      inputs,
      constants,
      tensors,
      total: inputs + constants + tensors,
      ...(typeof memory === "number" && { execution: memory }),
    },
  };
}

const tensorText = ({ name, dtype, shape }: TensorInfo): string => `${name} ${dtypeName(dtype)}[${shape.join(", ")}]`;

const sumBytes = (tensors: readonly Pick<TensorRef, "dtype" | "count">[]): number =>
  tensors.reduce((sum, { dtype, count }) => sum + count * dtypeBytes(dtype), 0);

/** Each constant once, however many steps read it. */
function distinctConstants({ program }: CompiledModel): TensorRef[] {
  const found = new Map<string, TensorRef>();
  for (const ref of program.steps.flatMap((step) => step.inputs))
    if (ref.kind === "constant") found.set(`${ref.root} ${ref.dtype} ${ref.count}`, ref);
  return [...found.values()];
}
