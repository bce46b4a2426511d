import fc from "fast-check";
import { compile } from "../../../../src/compiler/compile.ts";
import { RefuteError } from "../../../../src/base/errors.ts";
import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import type { MatMulEngine } from "../../../../src/executor/engine/matMulEngine.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../../src/program/compiled.ts";
import { graphs } from "../../../../testkit/graphs/arbitrary.ts";
import { CATALOGUE } from "../../../../testkit/models/catalogue.ts";
import { compileModel } from "../../../../testkit/models/compileModel.ts";
import { modelOf, type Experiment } from "../../../../testkit/onnx/agreement.ts";
import { CASES } from "../../../../testkit/operators/cases.ts";
import { MICROSOFT_ATTENTION_CASES } from "../../../../testkit/operators/microsoftAttentionCases.ts";
import { ML_CASES } from "../../../../testkit/operators/mlCases.ts";
import { MICROSOFT_CASES } from "../../../../testkit/operators/microsoftCases.ts";
import { MICROSOFT_QUANTISED_CASES } from "../../../../testkit/operators/microsoftQuantisedCases.ts";
import { randomProgram } from "../../../../testkit/programs/randomProgram.ts";
import { Prng } from "../../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../../testkit/random/tensors.ts";
import { repeatedSteps, type WorstSubject } from "./subject.ts";

const OPERATORS = {
  ...CASES,
  ...ML_CASES,
  ...MICROSOFT_CASES,
  ...MICROSOFT_ATTENTION_CASES,
  ...MICROSOFT_QUANTISED_CASES,
};
const RANDOM_PROGRAMS = 40;
const PROGRAM_LENGTH = 8;
const GRAPHS = 60;
const NODES = 12;

/** Yields repeated steps from an experiment of each kind with each operator in the tables. */
export async function* operatorSteps(engine: MatMulEngine): AsyncGenerator<WorstSubject> {
  for (const [operator, makers] of Object.entries(OPERATORS)) {
    const random = new RandomTensors(new Prng(operator.length));
    for (const [n, make] of makers.entries()) yield* stepsOf(`${operator} ${n}`, make(random), engine);
  }
}

/** The steps of random ONNX graphs, repeated. */
export async function* graphSteps(engine: MatMulEngine): AsyncGenerator<WorstSubject> {
  for (const [n, graph] of fc.sample(graphs(NODES), { numRuns: GRAPHS, seed: 1 }).entries()) {
    const experiment = graph.experiment((_, isRead) => !isRead);
    yield* stepsOf(`graph ${n}`, experiment, engine);
  }
}

/** Yields repeated steps from random programs, with all types, reductions and operations. */
export async function* randomSteps(engine: MatMulEngine): AsyncGenerator<WorstSubject> {
  for (let seed = 0; seed < RANDOM_PROGRAMS; seed++) {
    const { model, inputs } = randomProgram(new Prng(seed), PROGRAM_LENGTH);
    yield* repeatedSteps(`random program ${seed}`, model, inputs, await tensorsOf(model, inputs, engine));
  }
}

/** The models of the catalogue that take seconds. */
export function* catalogueModels(): Generator<WorstSubject> {
  for (const one of CATALOGUE) {
    const given = one.inputs();
    const { model } = compileModel(one, given);
    yield { name: one.name, model, inputs: model.inputs.map(({ name }) => given.get(name)!.bytes) };
  }
}

async function* stepsOf(name: string, experiment: Experiment, engine: MatMulEngine): AsyncGenerator<WorstSubject> {
  const model = compiled(experiment);
  if (model === undefined) return;
  const inputs = model.inputs.map((input) => experiment.operands[input.name]!.bytes);
  yield* repeatedSteps(name, model, inputs, await tensorsOf(model, inputs, engine));
}

/** The program of an experiment; none if it is refused by name. */
function compiled(experiment: Experiment): CompiledModel | undefined {
  try {
    return compile(readModel(modelOf(experiment)), { shapes: {} });
  } catch (error) {
    if (error instanceof RefuteError) return undefined;
    throw error;
  }
}

async function tensorsOf(
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  engine: MatMulEngine,
): Promise<readonly Uint8Array[]> {
  const executor = await createExecutor(model, { engine });
  const { tensors } = await executor.run(inputs);
  await executor.close();
  return tensors;
}
