import { drawText } from "../../../src/deploy/demo/picture.ts";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { toHash, toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { workSeconds } from "../../../src/chain/market/clock.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { readHeader } from "../../../src/program/header.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { runWork } from "../../../src/program/run.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { factsOf, gasOf, postedJob, requestFor } from "../../../testkit/protocol/world.ts";
import { compiledModel } from "./subject.ts";
import { DISPUTED_MODELS, gasWorld } from "./wholeDisputes.ts";

/** Gas of an undisputed run. */
type RunGas = {
  run: string;
  items: number;
  post: number;
  /** Of all transactions together that bring the items' tensors. */
  inputs: number;
  claim: number;
  submit: number;
  finalise: number;
  total: number;
  "an item": number;
};

/** Undisputed runs of ppocr2_cls: pictures by their roots, and pictures on chain. */
export const runGas = async (): Promise<RunGas[]> => [
  await measure("inputs by their root", 1_000, true),
  await measure("inputs on chain", 20, false),
];

async function measure(run: string, items: number, rootOnly: boolean): Promise<RunGas> {
  const { path, shape } = DISPUTED_MODELS.ppocr2_cls;
  const model = compiledModel(path, shape, { batch: true });
  const commitment = commitProgram(model.program);
  const world = await gasWorld();
  const { market, requester, worker, networkHelpers, parameters } = world;
  const by = { requester: { account: requester.account }, worker: { account: worker.account } };
  const [, height, width] = shape;
  const pictures = Array.from({ length: items }, (_, item) => drawText(`${item}`, width, height, 4).pixels);
  const inputs = new RunInputs(model.program.inputs, { items, firstItem: 0 }, [Buffer.concat(pictures)]);
  const subject = { model, program: model.program, commitment, input: pictures[0]!, inputsList: inputs.list };
  const work = runWork(items, readHeader(commitment.header).work);
  const window = parameters.baseWindow + workSeconds(work, parameters.rate);
  const request = await requestFor(world, subject, {
    rootOnly,
    inputs: [],
    inputRoots: inputs.roots,
    items,
    window,
    claimSeconds: window,
  });
  const posted = await market.write.post([request], by.requester);
  const job = await postedJob(world, posted);
  let published = 0;
  for (const [item, bytes] of rootOnly ? [] : pictures.entries()) {
    const part = {
      input: 0,
      part: item,
      data: toHex(bytes),
      // A picture is one part.
      siblings: [],
      inputRoot: tensorRoot(bytes),
      inputSiblings: inputs.path(0, item),
    };
    const hash = await market.write.publishInput([job, factsOf(commitment), part], by.requester);
    published += Number(await gasOf(world, hash));
  }
  const claimed = await market.write.claim([job], by.worker);
  // What undisputed items hold costs nothing: any trace roots do.
  const prng = new Prng(1);
  const root = () => toHash(Uint8Array.from({ length: 32 }, () => 1 + prng.below(255)));
  const list = MerkleList.fromHashes(Array.from({ length: items }, root));
  const submitted = await market.write.submit([job, submissionOf(list, parameters.arityBits)], by.worker);
  await networkHelpers.time.increase(window + 1);
  const claim = { job, worker: worker.account.address, root: list.root, collateral: parameters.collateral };
  const finalised = await market.write.finalise([claim], by.worker);
  const gas = await Promise.all(
    [posted, claimed, submitted, finalised].map(async (hash) => Number(await gasOf(world, hash))),
  );
  const [post, claimGas, submit, finalise] = gas as [number, number, number, number];
  const total = post + published + claimGas + submit + finalise;
  const each = Math.round(total / items);
  return { run, items, post, inputs: published, claim: claimGas, submit, finalise, total, "an item": each };
}
