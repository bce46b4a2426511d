import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { custom, numberToHex, parseEther, size, zeroHash, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { compile } from "../../../src/compiler/compile.ts";
import { openSession, type Session } from "../../../src/chain/market/session.ts";
import { JobStatus } from "../../../src/chain/structs.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { first, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";

const COUNT = 1_024;
const tensor = (name: string) => ({ name, dtype: DType.float32, shape: [COUNT] });
const input = (seed: number): Uint8Array => new Uint8Array(new Float32Array(COUNT).fill(seed).buffer);

/** What a node is given: a signed transaction, or a call to estimate. */
type Sent = Hex | { data?: Hex };
const sizeOf = (sent: Sent): number => size(typeof sent === "string" ? sent : (sent.data ?? "0x"));

/** The request that a node refuses above a size, or seems to take and loses; what it says, and what a worker logs. */
type Limit = {
  method: string;
  says?: string;
  reported: string;
  bytes: number;
  refused: number;
  /** How often a call above the size was begun: each begins with an estimate. The same bytes may be sent many times. */
  tries?: number;
  triesAtLastSend?: number;
};
const POOL = {
  method: "eth_sendRawTransaction",
  says: "oversized data: transaction size",
  reported: "is larger than the 3000 bytes that the node takes",
  bytes: 3_000,
  refused: 0,
};
const ESTIMATE = {
  method: "eth_estimateGas",
  says: "gas required exceeds allowance: calldata",
  reported: "gas required exceeds allowance: calldata",
  bytes: 3_000,
  refused: 0,
};
const LOSSES = { method: "eth_sendRawTransaction", reported: "was dropped", bytes: 3_000, refused: 0 };

describe("a worker whose node refuses large transactions", function () {
  const players = usePlayers("test");
  const programOf = (outputs: readonly string[]) => {
    const nodes = outputs.map((name, k) => ({ op: "Neg", inputs: [outputs[k - 1] ?? "x"], outputs: [name] }));
    const model = buildModel({ inputs: [tensor("x")], outputs: outputs.map(tensor), nodes });
    return knownProgram(compile(readModel(model), { shapes: {} }));
  };
  const program = programOf(["y"]);

  /** A session whose node takes transactions up to a size, as geth's pool does, and counts those that it refused. */
  async function limitedSession(key: Hex, limit: Limit): Promise<Session> {
    const { provider, chainId, market } = players().chain;
    const request = async (call: { method: string; params?: unknown[] }): Promise<unknown> => {
      if (call.method === "eth_estimateGas" && sizeOf(call.params![0] as Sent) > limit.bytes)
        limit.tries = (limit.tries ?? 0) + 1;
      const bytes = call.method === limit.method ? sizeOf(call.params![0] as Sent) : 0;
      if (bytes > limit.bytes) {
        limit.refused++;
        if (limit.says === undefined) return zeroHash;
        throw Object.assign(new Error(`${limit.says} ${bytes}, limit ${limit.bytes}`), { code: -32_000 });
      }
      if (call.method === "eth_sendRawTransaction") limit.triesAtLastSend = limit.tries;
      return provider.request(call);
    };
    const transport = custom({ request }, { retryCount: 0 });
    // What a node refused for its size is offered again after this time.
    const patience = { pollingMs: 5, longestMs: 50 };
    return openSession({ endpoint: { transport }, chainId, market, account: privateKeyToAccount(key), patience });
  }

  /**
   * A session whose node mines the first delivery and loses the answer; from then on the node shows the blocks before
   * the delivery, until so many calls were refused. Calls are judged by the newest block.
   */
  async function forgetfulSession(key: Hex, refusals: number): Promise<{ session: Session; refused: () => number }> {
    const { provider, chainId, market } = players().chain;
    let shown: bigint | undefined;
    let refused = 0;
    const isHidden = (): boolean => shown !== undefined && refused < refusals;
    const request = async (call: { method: string; params?: unknown[] }): Promise<unknown> => {
      const params = call.params ?? [];
      const { method } = call;
      if (method === "eth_sendRawTransaction" && shown === undefined && sizeOf(params[0] as Sent) > POOL.bytes) {
        shown = BigInt((await provider.request({ method: "eth_blockNumber" })) as Hex);
        await provider.request(call);
        return zeroHash;
      }
      if (isHidden()) {
        const head = numberToHex(shown!);
        if (method === "eth_blockNumber") return head;
        if (method === "eth_getBlockByNumber" && params[0] === "latest")
          return provider.request({ method, params: [head, ...params.slice(1)] });
        if (method === "eth_getTransactionReceipt" || method === "eth_getTransactionByHash") return null;
        if (method === "eth_getTransactionCount") return provider.request({ method, params: [params[0], head] });
      }
      return provider.request(call).catch((error: unknown) => {
        if (isHidden() && method === "eth_estimateGas") refused++;
        throw error;
      });
    };
    const transport = custom({ request }, { retryCount: 0 });
    const patience = { pollingMs: 5, longestMs: 50 };
    const account = privateKeyToAccount(key);
    const session = await openSession({ endpoint: { transport }, chainId, market, account, patience });
    return { session, refused: () => refused };
  }

  it("losesTheAnswerToADeliveryThatIsMined_isRefusedUntilItReadsTheBlock_andLogsNoError", async function () {
    const key = await players().workerKey();
    const { session, refused } = await forgetfulSession(key, 6);
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const worker = await players().startWorker(key, program, reference(), { session, log });
    const { jobId } = await players().post(program, [input(5)]);
    await first(worker, "submitted");
    await players().chain.advance(3_601);
    while (refused() < 6) await sleep(10);
    await players().chain.advance(1);
    const next = await players().post(program, [input(6)]);
    await first(worker, "submitted", ({ jobId }) => jobId === next.jobId);
    await worker.stop();
    expect(await session.market.jobOf(jobId)).to.include({ status: JobStatus.complete });
    const errors = lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
    expect(errors, errors.join("")).to.deep.equal([]);
  });

  /** A worker with room for one open claim, whose node refuses by `limit`; what it logs as a warning or worse. */
  async function startWorker(limit: Limit, served = program) {
    const key = await players().workerKey();
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const policy = { minFee: 0n, marginSeconds: 10, maxOpenClaims: 1 };
    const session = await limitedSession(key, limit);
    let rounds = 0;
    const onRound = (): number => rounds++;
    const worker = await players().startWorker(key, served, reference(), { session, policy, log, onRound });
    const someRounds = async (): Promise<void> => {
      for (const end = rounds + 10; rounds < end;) await sleep(10);
    };
    return { worker, lines, someRounds };
  }

  const refusals = { byItsPool: POOL, byItsEstimate: ESTIMATE };
  for (const [how, refusal] of Object.entries(refusals))
    it(`refused_${how}_finalisesWithoutDelivering_goesOnToTheNextJob_andDeliversLater`, () => playRefused(refusal));

  async function playRefused(refusal: Limit): Promise<void> {
    const limit = { ...refusal };
    const { worker, lines } = await startWorker(limit);
    const { chain } = players();
    const large = await players().post(program, [input(1)]);
    await first(worker, "submitted", ({ jobId }) => jobId === large.jobId);
    await chain.advance(3_601);
    const { claimId } = await first(worker, "finalised", ({ jobId }) => jobId === large.jobId);
    expect(limit.refused).to.equal(1);
    expect(lines, lines.join("")).to.have.length(1);
    expect(JSON.parse(lines[0]!)).to.include({ claimId, output: 0 });
    expect(lines[0]).to.contain(refusal.reported);
    expect(lines[0]!.length).to.be.below(1_000);
    // Its collateral is free, and it has room for another claim, although the first output is not delivered.
    const next = await players().post(program, [input(2)], { maxOutputBytes: 0, fee: parseEther("0.05") });
    await first(worker, "submitted", ({ jobId }) => jobId === next.jobId);
    await chain.advance(3_601);
    await first(worker, "finalised", ({ jobId }) => jobId === next.jobId);
    limit.bytes = 131_072;
    await chain.advance(10_000);
    await first(worker, "delivered", ({ jobId }) => jobId === large.jobId);
    await worker.stop();
  }

  it("losesTheFirstOf4Deliveries_finalisesBeforeAnother_andDeliversAllLater", async function () {
    const limit: Limit = { ...LOSSES };
    const served = programOf(["a", "b", "c", "d"]);
    const { worker, lines, someRounds } = await startWorker(limit, served);
    await players().post(served, [input(4)]);
    await first(worker, "submitted");
    await players().chain.advance(3_601);
    await first(worker, "finalised");
    while ((limit.tries ?? 0) < 4) await sleep(10);
    await someRounds();
    // The finalising is the last that was sent, after one loss. Three more deliveries were tried without a pause, all
    // of the same output: the others wait for it.
    expect(limit.triesAtLastSend).to.equal(1);
    expect(limit.tries).to.equal(4);
    expect(lines.every((line) => line.includes(limit.reported))).to.equal(true);
    limit.bytes = 131_072;
    await players().chain.advance(60);
    for (const k of [0, 1, 2, 3]) await first(worker, "delivered", ({ output }) => output === k);
    await worker.stop();
  });

  it("givesADeliveryUpAfterAWeek_withOneError", async function () {
    const limit = { ...POOL };
    const { worker, lines, someRounds } = await startWorker(limit);
    const { jobId } = await players().post(program, [input(3)]);
    await first(worker, "submitted");
    await players().chain.advance(3_601);
    await first(worker, "finalised");
    await players().chain.advance(7 * 86_400);
    const given = await first(worker, "undelivered");
    expect(given).to.include({ jobId, output: 0 });
    const refused = limit.refused;
    await players().chain.advance(30 * 86_400);
    await someRounds();
    await worker.stop();
    expect(limit.refused).to.equal(refused);
    const errors = lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
    expect(errors, lines.join("")).to.have.length(1);
  });
});
