import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther } from "viem";
import type { ClaimRecord } from "../../../src/chain/market/history.ts";
import type { Session } from "../../../src/chain/market/session.ts";
import { compile } from "../../../src/compiler/compile.ts";
import { decoderInputs } from "../../../src/compiler/wraps/decoderInputs.ts";
import { loadModel } from "../../../src/compiler/wraps/modelSpec.ts";
import { DECODER } from "../../../src/compiler/wraps/wrapDecoder.ts";
import { knownProgram, type KnownProgram } from "../../../src/dispute/run/execution.ts";
import { cutBatch, type Batch } from "../../../src/parties/dispatcher/batch.ts";
import { costsOf } from "../../../src/parties/dispatcher/costs.ts";
import { dispatch } from "../../../src/parties/dispatcher/dispatcher.ts";
import { DispatchInputError } from "../../../src/parties/dispatcher/errors.ts";
import type { DispatchEvent } from "../../../src/parties/dispatcher/events.ts";
import { lastOutputs } from "../../../src/parties/dispatcher/gather.ts";
import type { DispatchOptions } from "../../../src/parties/dispatcher/options.ts";
import { DispatchStore } from "../../../src/parties/dispatcher/store.ts";
import { answerRun } from "../../../src/parties/tickets/answerRun.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { passTime } from "../../../testkit/dispatch/passTime.ts";
import { startServer } from "../../../testkit/dispatch/servers.ts";
import { LLAMA_TINY, llama } from "../../../testkit/models/llama.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";

const PROMPT = [3, 14, 15];
/** Chosen tokens, and items of a part. */
const [TOKENS, PART_ITEMS] = AT_LENGTH ? [2_000, 256] : [60, 16];
const ITEMS = PROMPT.length - 1 + TOKENS;
const SLOTS = ITEMS;
const PARTS = Math.ceil(ITEMS / PART_ITEMS);
const FEE = parseEther("0.02");

/** An execution that chooses another token in the third part. */
function lying({ model }: KnownProgram, execute: Execute): Execute {
  const { step } = model.program.checkpoints[model.program.outputs[0]!]!;
  const index = model.inputs.findIndex(({ name }) => name === DECODER.index);
  const place = 2 * PART_ITEMS + 5;
  return async (...args) => {
    const bytes = args[1][index]!;
    const item = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true));
    const tensors = await execute(...args);
    if (item < place || item >= 3 * PART_ITEMS) return tensors;
    const lie = (tensor: Uint8Array): Uint8Array => tensor.map((byte, at) => (at === 8 * place ? byte ^ 1 : byte));
    return tensors.map((tensor, k) => (k === step ? lie(tensor) : tensor));
  };
}

describe("dispatching a chain", function () {
  this.timeout(1_200_000);
  const players = usePlayers("test");
  const executors = new FastExecutors({ threads: 1 });
  const { execute } = executors;
  let folder: string;
  let session: Session;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-chain-"));
    session = await players().chain.newSession(parseEther("5"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  after(() => executors.close());

  const openStore = (batch: Batch, name = "state.db"): Promise<DispatchStore> => {
    const { chainId, market } = session.deployment;
    const requester = session.sender.address;
    return DispatchStore.open(join(folder, name), { batch: batch.id, chainId, market, requester });
  };

  /** Dispatches while time passes. */
  async function play(
    batch: Batch,
    store: DispatchStore,
    more: Partial<DispatchOptions>,
    liars: readonly string[] = [],
  ) {
    const over = new AbortController();
    const isWrong = ({ claim }: ClaimRecord): boolean =>
      liars.includes(claim.worker) && claim.job.firstItem === 2 * PART_ITEMS;
    const time = passTime(players(), { idle: new Set(), isWrong }, over.signal);
    const count = BigInt(batch.parts.length);
    const terms = {
      fee: FEE,
      maxFee: FEE,
      budget: count * FEE,
      window: 3_600,
      claimSeconds: 900,
      deadlineSeconds: 86_400,
    };
    const error = await dispatch({
      ...{ session, batch, store, execute, urls: [], openJobs: 16, maxAttempts: 3, checkShare: 0 },
      terms: { ...terms, answer: false },
      ...{ openSeconds: 80_000, withheldSeconds: 600, intervalMs: 20, ...more },
    }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    over.abort();
    const { jobs } = await time;
    const own = [...jobs.values()].filter(({ job }) => job.requester === session.sender.address);
    return { own: own.sort((a, b) => a.job.firstItem - b.job.firstItem), error };
  }

  it("text_isCutIntoJobs_goesOnOverAKill_aLieInTheThirdIsRefuted_andEachPartIsPaidOnce", async () => {
    const path = join(folder, "words.onnx");
    writeFileSync(path, llama({ ...LLAMA_TINY, positions: Math.max(128, SLOTS) }));
    const loaded = loadModel({ path, shapes: {}, bind: {}, uint8: [], decoder: { slots: SLOTS, chain: true } });
    const program = knownProgram(compile(loaded.model, { shapes: {}, run: loaded.run }));
    const inputs = decoderInputs(program.model, { prompt: PROMPT, temperature: 1, seed: 5n });
    const whole = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, inputs);
    const { outputs } = await answerRun(program, whole, execute);
    const batch = cutBatch({ program, inputs, items: ITEMS, partItems: PART_ITEMS });
    expect([batch.isChained, batch.parts.length]).to.deep.equal([true, PARTS]);

    const liar = await startServer(players(), program, lying(program, execute));
    const liars = [players().addressOf(liar.key)];
    // Ends once the second part is posted.
    const killed = new AbortController();
    const onEvent = (event: DispatchEvent): void => {
      if (event.kind === "posted" && event.part === 1) killed.abort(new Error("killed"));
    };
    const first = await openStore(batch);
    const { error } = await play(
      batch,
      first,
      { urls: [liar.url], checkShare: 1, onEvent, signal: killed.signal },
      liars,
    );
    expect(error).to.equal(killed.signal.reason);
    first.close();
    const store = await openStore(batch);
    let honest: ReturnType<typeof startServer> | undefined;
    const events: DispatchEvent[] = [];
    const end = await play(
      batch,
      store,
      {
        ...{ urls: [liar.url], checkShare: 1 },
        onEvent: (event) => {
          events.push(event);
          if (event.kind === "refuted") honest ??= liar.stop().then(() => startServer(players(), program, execute));
        },
      },
      liars,
    );
    await (await honest!).stop();
    expect(end.error).to.equal(undefined);
    const { own } = end;
    // A job for each part, each with the states of the one before, and one claim paid.
    expect(own.map(({ job }) => job.firstItem)).to.deep.equal(batch.parts.map(({ firstItem }) => firstItem));
    const lies = own.map(({ claims }) => claims.filter(({ refuted }) => refuted).length);
    expect(lies).to.deep.equal(batch.parts.map(({ number }) => (number === 2 ? 1 : 0)));
    expect(own.every(({ claims }) => claims.filter(({ finalised }) => finalised).length === 1)).to.equal(true);
    expect(events.filter((event) => event.kind === "checked" && !event.isRight)).to.have.length(1);
    expect(costsOf(batch, store).fee).to.equal(BigInt(PARTS) * FEE);
    const last = lastOutputs(batch, store);
    expect(Buffer.from(last.get(0)!).equals(outputs[0]!)).to.equal(true);
    for (const [output, bytes] of last) expect(Buffer.from(bytes).equals(outputs[output]!), `${output}`).to.equal(true);
    store.close();
    // Without what was written down, the same jobs are found on the chain.
    const lost = await openStore(batch, "lost.db");
    const again = await play(batch, lost, { checkShare: 0, withheldSeconds: 0 });
    expect([again.error, again.own.length]).to.deep.equal([undefined, PARTS]);
    expect(Buffer.from(lastOutputs(batch, lost).get(0)!).equals(outputs[0]!)).to.equal(true);
    lost.close();
  });

  it("runFromOneState_isAChain_whosePartsWaitForFinalClaims", async () => {
    const program = runProgram();
    const inputs = runInputBytes(5);
    const batch = cutBatch({ program, inputs, items: 5, partItems: 2 });
    const server = await startServer(players(), program, execute);
    const store = await openStore(batch);
    const { own, error } = await play(batch, store, { urls: [server.url] });
    expect(error).to.equal(undefined);
    expect(own).to.have.length(3);
    for (const [k, { job }] of own.slice(1).entries()) {
      const [final] = own[k]!.claims.filter(({ finalised }) => finalised);
      expect(job.deadline - 86_400n > final!.windowEnd).to.equal(true);
    }
    const { outputs } = await answerRun(
      program,
      new RunInputs(program.model.program.inputs, { items: 5, firstItem: 0 }, inputs),
      execute,
    );
    expect(Buffer.from(lastOutputs(batch, store).get(0)!).equals(outputs[0]!)).to.equal(true);
    store.close();
    await server.stop();
  });

  it("statesForSomePartsOnly_areRefusedByName", () => {
    const program = runProgram();
    const [state, ...others] = runInputBytes(5) as [Uint8Array, ...Uint8Array[]];
    const two = [Buffer.concat([state, state]), ...others];
    expect(() => cutBatch({ program, inputs: two, items: 5, partItems: 2 })).to.throw(
      DispatchInputError,
      /the state that each of 3 parts begins with, or the first part's alone/,
    );
  });
});
