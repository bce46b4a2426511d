import type { Hex } from "viem";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { honestTrace, chainProgram, type GameProgram } from "../../../testkit/protocol/chainProgram.ts";
import { factsOf, gasOf, postedJob, requestFor } from "../../../testkit/protocol/world.ts";
import { gasWorld } from "./wholeDisputes.ts";
import type { Subject } from "./subject.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

/** An undisputed job's gas without input bytes; `deliver` finalises. */
type JobGas = {
  job: string;
  post: number;
  claim: number;
  submit: number;
  "deliver, finalise": number;
  total: number;
};

/** Undisputed jobs: of small programs with 1 and 16 checkpoints, and of a model in both forms. */
export async function jobGas(model: Subject): Promise<JobGas[]> {
  const one = chainProgram(8, [3]);
  const sixteen = chainProgram(8, new Array<number>(16).fill(2));
  return [
    await measure("1 checkpoint, 32 bytes of output", one, honestTrace(one)),
    await measure("16 checkpoints, 32 bytes of output", sixteen, honestTrace(sixteen)),
    await measure("ppocr2_cls", model, new Trace(model.program, model.tensors)),
    await measure("ppocr2_cls, an answer", model, new Trace(model.program, model.tensors), true),
  ];
}

async function measure(job: string, program: GameProgram, trace: Trace, answer = false): Promise<JobGas> {
  const world = await gasWorld();
  return rowOf(world, job, await playJob(world, program, trace, answer));
}

/** Plays an undisputed job. @returns its four transactions */
export async function playJob(world: World, program: GameProgram, trace: Trace, answer = false): Promise<Hex[]> {
  const { market, requester, worker, networkHelpers } = world;
  // The accounts have had credit before, like in the steady state.
  const by = { requester: { account: requester.account }, worker: { account: worker.account } };
  const request = await requestFor(world, program, { rootOnly: true, inputs: [], window: 3_600, answer });
  const posted = await market.write.post([request], by.requester);
  const content = await postedJob(world, posted);
  const claimed = await market.write.claim([content], by.worker);
  const output = program.program.outputs[0]!;
  const list = answer ? MerkleList.fromHashes([trace.list.node(0, output)]) : trace.list;
  const nodes = submissionOf(list, world.parameters.arityBits, answer ? "answer" : "trace");
  const submittedNodes = await market.write.submit([content, nodes], by.worker);
  await networkHelpers.time.increase(3_601);
  const claim = {
    job: content,
    worker: worker.account.address,
    root: list.root,
    collateral: world.parameters.collateral,
  };
  const delivery = {
    program: factsOf(program.commitment),
    output: 0,
    data: toHex(trace.tensor(program.program.checkpoints[output]!.step)),
    siblings: answer ? [] : trace.list.path(output),
  };
  const delivered = await market.write.deliver([claim, delivery], by.worker);
  return [posted, claimed, submittedNodes, delivered];
}

async function rowOf(world: World, job: string, hashes: readonly Hex[]): Promise<JobGas> {
  const gas = await Promise.all(hashes.map(async (hash) => Number(await gasOf(world, hash))));
  const [post, claim, submit, deliver] = gas as [number, number, number, number];
  return { job, post, claim, submit, "deliver, finalise": deliver, total: gas.reduce((a, b) => a + b) };
}
