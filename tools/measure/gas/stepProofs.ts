import { network } from "hardhat";
import { encodeFunctionData } from "viem";
import { verifierModule } from "../../../ignition/modules/Verifier.ts";
import { openable, knownProgram } from "../../../src/dispute/run/execution.ts";
import { stepVerifierAbi } from "../../../src/chain/abi/stepVerifier.ts";
import { ZERO_HASH } from "../../../src/chain/structs.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { encodeStepBody } from "../../../src/program/encode.ts";
import { estimateStepProofGas } from "../../../src/program/gas.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { openElement } from "../../../src/program/trace/opening.ts";
import { Trace } from "../../../src/program/trace/trace.ts";

/** One kind of step: the reduction, and how many terms an element of its dearest step has. */
type Row = {
  reduce: string;
  operator: string;
  step: number;
  terms: number;
  gas: number;
  "estimate of the whole proof": number;
};

const termsOf = (step: Step): number => step.redDigits.reduce((product, radix) => product * radix, 1);

/** Measures, for each reduction of a program, the step with the highest estimate, at the middle element. */
export async function stepProofGas(model: CompiledModel, inputs: readonly Uint8Array[]): Promise<Row[]> {
  const executor = await createExecutor(model);
  const { tensors } = await executor.run(inputs);
  await executor.close();
  const execution = { ...knownProgram(model), inputs, trace: new Trace(model.program, tensors) };
  const connection = await network.create();
  const { verifier } = await connection.ignition.deploy(verifierModule);
  const client = await connection.viem.getPublicClient();

  const dearest = new Map<number, number>();
  const { steps } = model.program;
  steps.forEach((step, s) => {
    const best = dearest.get(step.reduce);
    if (best === undefined || estimateStepProofGas(step) > estimateStepProofGas(steps[best]!))
      dearest.set(step.reduce, s);
  });
  const rows: Row[] = [];
  for (const [reduce, s] of [...dearest].sort(([a], [b]) => a - b)) {
    const step = steps[s]!;
    const element = Math.floor(step.count / 2);
    const tensorsRead = step.inputs.map((ref) => openable(execution, ref));
    const { value, openings } = openElement(step, element, tensorsRead);
    const roots = step.inputs.map((ref, k) => (ref.kind === "constant" ? ZERO_HASH : tensorsRead[k]!.tree().root));
    const data = encodeFunctionData({
      abi: stepVerifierAbi,
      functionName: "evaluate",
      args: [toHex(encodeStepBody(step)), BigInt(element), roots, openings],
    });
    const call = { account: (await connection.viem.getWalletClients())[0]!.account, to: verifier.address, data };
    const { data: answer } = await client.call(call);
    if (BigInt(answer!) !== BigInt.asUintN(256, value)) throw new Error(`step ${s}: the verifier gives another value`);
    rows.push({
      reduce: Object.keys(Reduce).find((name) => Reduce[name as keyof typeof Reduce] === reduce)!,
      operator: model.origins[s]!.operator,
      step: s,
      terms: termsOf(step),
      gas: Number(await client.estimateGas(call)),
      "estimate of the whole proof": estimateStepProofGas(step),
    });
  }
  await connection.close();
  return rows;
}
