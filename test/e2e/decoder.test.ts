import { expect } from "chai";
import { size } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import { DECODER, wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { generate } from "../../src/native/plain/decoder/generate.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { numbersOf, openPlainDecoder } from "../../src/native/plain/decoder/plainDecoder.ts";
import { everyFourth, itAtLength, itInTime } from "../../testkit/atLength.ts";
import { leavingOut, residualSums, type Run } from "../../testkit/decoders/leftOut.ts";
import { gpt2Decoder } from "../../testkit/models/gpt2.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { first } from "../../testkit/players/players.ts";
import { refutedClaim } from "../../testkit/players/refutedClaim.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import type { Execute } from "../../src/runs/execute.ts";

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

/** Executes by the definition; in one item the last byte of a step's tensor is another one. */
const lying =
  (item: number, step: number): Execute =>
  (model, taken) =>
    Promise.resolve(
      executeReference(model, taken, {
        onStep: (s, tensor) => {
          if (taken[indexInput]![0] === item && s === step) tensor[tensor.length - 1]! ^= 1;
        },
      }),
    );

const honest: Execute = (model, taken) => Promise.resolve(executeReference(model, taken));

/** The last checkpoint that is computed with an operator: a lie elsewhere may change nothing that is claimed. */
const stepOf = (operator: RegExp): number =>
  checkpoints.findLast(({ step }) => operator.test(program.model.origins[step]!.operator))!.step;

describe("text from a decoder, as a job", function () {
  this.timeout(240_000);
  const players = usePlayers("test");

  itInTime("tokensOfAnHonestRun_areDelivered", async () => {
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
  const lies: [string, number, number | undefined, Execute?][] = [
    ["aCache", 3, stepOf(/^GroupQueryAttention/)],
    ["aThreshold", 5, stepOf(/RaiseThreshold/)],
    ["theRandomNumbers", 2, stepOf(/RandomWords/)],
    ["theTokens", 4, checkpoints[outputs[0]!]!.step],
    ["theWeightsOfAnotherModel", 0, undefined, (_, taken) => honest(other.model, taken)],
  ];
  for (const [name, item, step, cheat] of everyFourth(lies, 0))
    it(`lieAbout_${name}_isRefuted`, async () => {
      const job = { program, inputs, items: ITEMS };
      const claim = await refutedClaim(players(), job, cheat ?? lying(item, step!), honest);
      const { proved, moves } = claim.games[0]!;
      expect(claim.refuted).to.equal(true);
      if (step !== undefined) expect(proved).to.include({ step });
      expect(moves.at(-1)!.state.item).to.equal(item);
    });

  // The twins of the models that `npm run measure -- text` measures.
  for (const [name, width, file] of [
    ["llama", LLAMA_TINY.width, llama(LLAMA_TINY)],
    ["gpt2", 24, gpt2Decoder({ layers: 2, width: 24, heads: 3, tokens: SLOTS, vocabulary: 50 })],
  ] as const)
    describe(`in the shape of ${name}`, () => {
      const { model, run, decoder } = wrapDecoder(readModel(file), { slots: SLOTS });
      const twin = knownProgram(compile(model, { shapes: {}, run }));
      const job = { program: twin, inputs: decoderInputs(twin.model, { prompt: [5, 9] }), items: ITEMS };
      const sums = residualSums(twin.model, width);
      const byDefinition: Run = (...args) => Promise.resolve(executeReference(...args));

      it("hasTwoSumsALayer", () => expect(sums).to.have.length(4));

      itInTime("tokens_areThoseOfPlainOnnxruntime", async () => {
        const plain = await openPlainDecoder(file, decoder);
        const text = plain.begin();
        const executor = {
          run: async (taken: readonly Uint8Array[]) => ({ tensors: await honest(twin.model, taken) }),
        };
        let token = 5;
        let place = 0;
        for await (const item of generate(twin.model, executor as never, { prompt: [5, 9] }, ITEMS)) {
          const logits = numbersOf(await text.next([token]));
          token = place++ === 0 ? 9 : logits.indexOf(Math.max(...logits));
          expect(item.token).to.equal(token);
        }
        await plain.close();
      });

      for (const [cheat, isItem, left, at] of [
        ["leavesALayerOutForOneToken", (i: number) => i === 4, sums.slice(2, 4), 4],
        ["runsFewerLayers", () => true, sums.slice(2), 0],
      ] as const) {
        const isInTime = (name === "llama") === (cheat === "runsFewerLayers");
        (isInTime ? itInTime : itAtLength)(`workerThat_${cheat}_isRefuted`, async () => {
          const cheating = leavingOut(byDefinition, left, isItem);
          const { refuted, games } = await refutedClaim(players(), job, cheating, honest);
          expect(refuted).to.equal(true);
          expect(games[0]!.proved).to.include({ step: left[0]!.step });
          expect(games[0]!.moves.at(-1)!.state.item).to.equal(at);
        });
      }
    });
});
