import { expect } from "chai";
import { size } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { decoderInputs } from "../../src/compiler/decoder/decoderInputs.ts";
import { DECODER, wrapDecoder } from "../../src/compiler/decoder/wrapDecoder.ts";
import { generate } from "../../src/examine/decoder/generate.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { followMarket } from "../../src/market/session.ts";
import { readModel } from "../../src/onnx/readModel.ts";
import { int64Tensor } from "../../src/onnx/tensorData.ts";
import { knownProgram } from "../../src/player/execution.ts";
import type { Execute } from "../../src/player/executeRun.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { first } from "../../testkit/players/players.ts";
import { refutedClaim } from "../../testkit/players/refutedClaim.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

const ITEMS = 7;
const SLOTS = 8;
const GIVEN = { prompt: [5, 9], temperature: 1.2, topK: 30, topP: 0.9, seed: 4n };
/** @param weights The seed of the model's weights. */
const compiled = (weights?: number) => {
  const { model, run } = wrapDecoder(readModel(llama(LLAMA_TINY, weights)), { slots: SLOTS });
  return knownProgram(compile(model, { shapes: {}, run }));
};
const program = compiled();
const { checkpoints, outputs } = program.model.program;
const inputs = decoderInputs(program.model, GIVEN);
const indexInput = program.model.inputs.findIndex(({ name }) => name === DECODER.index);

/** Executes by the definition; in one item a step's tensor is changed. */
const changing =
  (item: number, step: number, change: (tensor: Uint8Array) => void): Execute =>
  (model, taken) =>
    Promise.resolve(
      executeReference(model, taken, {
        onStep: (s, tensor) => {
          if (taken[indexInput]![0] === item && s === step) change(tensor);
        },
      }),
    );

/** In one item the last byte of a step's tensor is another one. */
const lying = (item: number, step: number): Execute =>
  changing(item, step, (tensor) => void (tensor[tensor.length - 1]! ^= 1));

const honest: Execute = (model, taken) => Promise.resolve(executeReference(model, taken));

/** The first step from a quarter of the program on that adds to what goes through all layers. */
const residual = program.model.program.steps.findIndex(
  ({ inputs: refs, count }, s, { length }) =>
    s > length / 4 && refs.filter(({ kind }) => kind === "step").length === 2 && count > SLOTS,
);

/** The last checkpoint that is computed with an operator: a lie elsewhere may change nothing that is claimed. */
const stepOf = (operator: RegExp): number =>
  checkpoints.findLast(({ step }) => operator.test(program.model.origins[step]!.operator))!.step;

describe("text from a decoder, as a job", function () {
  this.timeout(240_000);
  const players = usePlayers("test");

  it("tokensOfAnHonestRun_areDelivered", async () => {
    const worker = await players().startWorker(await players().workerKey(), program, honest);
    const { requester, jobId } = await players().post(program, inputs, { items: ITEMS });
    await first(worker, "submitted");
    await players().chain.advance(3_601);
    await first(worker, "delivered");
    await worker.stop();
    const { history } = await followMarket(requester)();
    const { parts } = history.jobs.get(jobId)!;
    const published = [...parts.values()].flatMap((ofInput) => [...ofInput.values()]).map((data) => size(data));
    // Prompt, its length, temperature, top-k, top-p and seed; no state, which begins with zeros.
    expect(published.reduce((sum, bytes) => sum + bytes)).to.equal(8 * SLOTS + 8 + 4 + 8 + 4 + 8);
    const chosen: number[] = [];
    const executor = {
      run: (taken: readonly Uint8Array[]) => Promise.resolve({ tensors: executeReference(program.model, taken) }),
    };
    for await (const { token } of generate(program.model, executor as never, GIVEN, ITEMS)) chosen.push(token);
    const { bytes } = int64Tensor([...chosen, ...new Array<number>(SLOTS - ITEMS).fill(0)]);
    expect(history.jobs.get(jobId)!.claims[0]!.delivered.get(0)).to.equal(`0x${Buffer.from(bytes).toString("hex")}`);
  });

  const other = compiled(9);
  for (const [name, item, step, cheat] of [
    ["aCache", 3, stepOf(/^GroupQueryAttention/)],
    ["aThreshold", 5, stepOf(/RaiseThreshold/)],
    ["theRandomNumbers", 2, stepOf(/RandomWords/)],
    ["theTokens", 4, checkpoints[outputs[0]!]!.step],
    ["aLayerLeftOutForOneToken", 4, residual, changing(4, residual, (tensor) => void tensor.fill(0))],
    ["theWeightsOfAnotherModel", 0, undefined, (_, taken) => honest(other.model, taken)],
  ] as [string, number, number | undefined, Execute?][])
    it(`lieAbout_${name}_isRefuted`, async () => {
      const job = { program, inputs, items: ITEMS };
      const claim = await refutedClaim(players(), job, cheat ?? lying(item, step!), honest);
      const { proved, moves } = claim.games[0]!;
      expect(claim.refuted).to.equal(true);
      if (step !== undefined) expect(proved).to.include({ step });
      expect(moves.at(-1)!.state.item).to.equal(item);
    });
});
