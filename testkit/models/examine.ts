import { knownProgram } from "../../src/dispute/run/execution.ts";
import { worstDispute } from "../../src/dispute/worstDispute.ts";
import { ElementAuditor, type Verdict } from "../../src/examine/audit/elementAuditor.ts";
import type { ChainVerifier } from "../../src/examine/audit/chainVerifier.ts";
import { drawSamples } from "../../src/examine/audit/draw.ts";
import { seededRandom } from "../../src/examine/audit/random.ts";
import { summarise, type AuditSummary } from "../../src/examine/audit/summary.ts";
import { compare, type Comparison } from "../../src/examine/compare/compare.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { operatorCounts } from "../../src/model/onnx/operatorCounts.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import type { CatalogueModel } from "./catalogue.ts";
import { compileModel } from "./compileModel.ts";

/** log2 of the number of children per reveal, from the default in ignition/modules/Refute.ts. */
const ARITY_BITS = 4;

/** The findings about a model. */
export type Examination = {
  name: string;
  /** Distinct operators of the graph and its bodies. */
  operators: number;
  model: CompiledModel;
  comparison: Comparison;
  audit: AuditSummary;
  dispute: { transactions: number; gas: number };
  seconds: { compile: number; execute: number };
};

/**
 * Compiles a model, executes the model exactly, compares the result with plain onnxruntime, and audits the execution.
 * @param samples The minimum number of samples; every stratum is drawn
 */
export async function examine(one: CatalogueModel, verifier: ChainVerifier, samples: number): Promise<Examination> {
  const start = performance.now();
  const given = one.inputs();
  const { file, own, bound, model } = compileModel(one, given);
  const compiled = performance.now();
  const inputs = model.inputs.map(({ name }) => given.get(name)!.bytes);
  const executor = await createExecutor(model);
  const { tensors } = await executor.run(inputs);
  await executor.close();
  const executed = performance.now();
  const comparison = await compare(file, model, new Map([...given, ...bound]), tensors, one.atol);
  const random = seededRandom(1);
  const execution = { ...knownProgram(model), inputs, trace: new Trace(model.program, tensors) };
  const auditor = new ElementAuditor(verifier, execution, random);
  const verdicts: Verdict[] = [];
  for (const sample of drawSamples(model, samples, random)) verdicts.push(await auditor.judge(sample));
  const dispute = worstDispute(model.program, ARITY_BITS);
  return {
    name: one.name,
    operators: operatorCounts(own.graph).size,
    model,
    comparison,
    audit: summarise(verdicts),
    dispute: { transactions: dispute.moves.length, gas: dispute.gas },
    seconds: { compile: (compiled - start) / 1_000, execute: (executed - compiled) / 1_000 },
  };
}
