import { worstDispute } from "../../dispute/worstDispute.ts";
import type { Refusal, Survey } from "../../compiler/survey.ts";
import { dtypeBytes, dtypeName } from "../../numerics/dtype.ts";
import { operatorCounts } from "../../onnx/operatorCounts.ts";
import type { Model } from "../../onnx/model.ts";
import type { CompiledModel, TensorInfo } from "../../program/compiled.ts";
import { estimateStepProof } from "../../program/gas.ts";
import { programWork, type TensorRef } from "../../program/types.ts";

/** log2 of a reveal's children, by the default of ignition/modules/Refute.ts. */
const ARITY_BITS = 4;

/** What `refute check` says of a model. */
export type CheckReport = {
  source: string;
  served: boolean;
  /** Operators of the graph and its bodies, most common first; `refused` of `count` nodes are refused. */
  operators: { operator: string; count: number; refused: number }[];
  refusals: Refusal[];
  unreached: number;
  program?: ProgramReport;
};

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
  /** Bytes. */
  memory: { inputs: number; constants: number; tensors: number; total: number };
};

/** Puts a survey of a model together for people. */
export function checkReport(model: Model, { refusals, unreached, model: compiled }: Survey): CheckReport {
  const refused = new Map<string, number>();
  for (const { operator } of refusals) refused.set(operator, (refused.get(operator) ?? 0) + 1);
  const operators = [...operatorCounts(model.graph)]
    .map(([operator, count]) => ({ operator, count, refused: refused.get(operator) ?? 0 }))
    .sort((a, b) => b.count - a.count || (a.operator < b.operator ? -1 : 1));
  const head = { source: model.source, served: compiled !== undefined, operators, refusals, unreached };
  return compiled === undefined ? head : { ...head, program: programReport(compiled) };
}

function programReport(model: CompiledModel): ProgramReport {
  const { program, origins } = model;
  const where = (step: number): string => `step ${step}, ${origins[step]!.operator}, node ${origins[step]!.node}`;
  const proofs = program.steps.map(estimateStepProof);
  const dispute = worstDispute(program, ARITY_BITS);
  const inputs = sumBytes(program.inputs);
  const constants = sumBytes(distinctConstants(model));
  const tensors = sumBytes(program.steps);
  return {
    programRoot: model.programRoot,
    inputs: model.inputs.map(tensorText),
    outputs: model.outputs.map(tensorText),
    steps: program.steps.length,
    checkpoints: program.checkpoints.length,
    parameters: distinctConstants(model).reduce((sum, { count }) => sum + count, 0),
    work: programWork(program.steps).toString(),
    largestStepProof: {
      gas: program.maxStepGas,
      step: where(proofs.findIndex(({ gas }) => gas === program.maxStepGas)),
    },
    longestStepProof: {
      bytes: program.maxStepBytes,
      step: where(proofs.findIndex(({ bytes }) => bytes === program.maxStepBytes)),
    },
    dispute: {
      transactions: dispute.moves.length,
      gas: dispute.gas,
      step: where(dispute.step),
      moves: dispute.moves.join(" "),
    },
    memory: { inputs, constants, tensors, total: inputs + constants + tensors },
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
