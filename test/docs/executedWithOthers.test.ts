import { expect } from "chai";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bytesToHex, parseEther, type Address, type Hex } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { startLocalChain } from "../../src/deploy/demo/localChain.ts";
import { Anvil, anvilBinary } from "../../src/deploy/devnet/anvil.ts";
import { deployLocally } from "../../src/deploy/devnet/deployLocally.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { readCalibration } from "../../src/native/calibration.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { writeNpy } from "../../src/model/onnx/inputs/npy.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { loadModel, type ModelSpec } from "../../src/compiler/wraps/modelSpec.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { packInputs } from "../../src/parties/requester/postJob.ts";
import { SealBook } from "../../src/parties/worker/sealBook.ts";
import { itAtLength } from "../../testkit/atLength.ts";
import { passTime } from "../../testkit/dispatch/passTime.ts";
import { startServer } from "../../testkit/dispatch/servers.ts";
import { gpt2Decoder } from "../../testkit/models/gpt2.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { mlpBytes, mlpInput } from "../../testkit/models/mlp.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { first, Players, reference } from "../../testkit/players/players.ts";
import { FACE, TicketPlayers } from "../../testkit/players/ticketPlayers.ts";
import { Parties } from "../../testkit/processes/parties.ts";
import { collateralFile } from "../../testkit/tdx/collateralFile.ts";
import { imitateKernel } from "../../testkit/tdx/imitatedKernel.ts";
import { TestPki } from "../../testkit/tdx/pki.ts";
import { pem, TestPlatform } from "../../testkit/tdx/quotes.ts";
import { refute } from "../cli/refute.ts";
import { documentedCalls } from "./documentedCalls.ts";

type Answer = Record<string, unknown>;
type Env = Record<string, string>;

const F = DType.float32;
const [STEP_SHAPE, PARTS] = [[1, 4], 10];
/** A step of which x stays the same. */
const addition = (): Uint8Array =>
  buildModel({
    inputs: ["x", "state"].map((name) => ({ name, dtype: F, shape: STEP_SHAPE })),
    outputs: [{ name: "next", dtype: F, shape: STEP_SHAPE }],
    initializers: {},
    nodes: [{ op: "Add", inputs: ["x", "state"], outputs: ["next"] }],
  });
/** A step that takes half of what it is given. */
const halving = (): Uint8Array =>
  buildModel({
    inputs: [{ name: "x", dtype: F, shape: STEP_SHAPE }],
    outputs: [{ name: "y", dtype: F, shape: STEP_SHAPE }],
    initializers: { half: floatTensor([0.5]) },
    nodes: [{ op: "Mul", inputs: ["x", "half"], outputs: ["y"] }],
  });

/**
 * Calls in the pages' blocks that need workers, servers or nodes beside their reader, or a model of their own: each has
 * them here.
 */
describe("calls in the pages' blocks that need others", function () {
  this.timeout(600_000);
  let folder: string;
  let toClose: (() => unknown)[];
  const at = (name: string): string => join(folder, name);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pages-"));
    toClose = [];
    writeFileSync(at("model.onnx"), mlpBytes());
    writeFileSync(at("x.npy"), mlpFile(1));
  });
  afterEach(async () => {
    for (const close of toClose.reverse()) await close();
    rmSync(folder, { recursive: true });
  });

  /**
   * Executes the calls that a pattern names, in the folder.
   * @param typed What their reader has in the place of some words.
   * @param added What only this machine needs.
   */
  async function execute(which: RegExp, env: Env, typed: Env = {}, added: readonly string[] = []): Promise<Answer[]> {
    const calls = documentedCalls().filter(({ call }) => which.test(call));
    expect(calls).not.to.have.length(0);
    const project = process.cwd();
    process.chdir(folder);
    try {
      const answers: Answer[] = [];
      for (const { page, words } of calls) {
        const args = [...words.map((word) => typed[word] ?? word), ...added];
        const { status, output, stdout } = await refute([...args, "--json"], env);
        expect(status, `${page}: refute ${args.join(" ")}: ${output}`).to.equal(0);
        answers.push(JSON.parse(stdout) as Answer);
      }
      return answers;
    } finally {
      process.chdir(project);
    }
  }

  /** A chain, and what the command line of a requester on it is told. */
  async function market(): Promise<{ players: Players; env: Env }> {
    const players = await Players.create();
    return { players, env: await networkOf(players) };
  }

  async function networkOf({ chain }: Players, market = chain.market): Promise<Env> {
    const rpc = await serveRpc(chain.provider);
    toClose.push(chain.close, () => rpc.close());
    return {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chain.chainId), REFUTE_MARKET: market },
      ...{ REFUTE_PRIVATE_KEY: await chain.newAccount(parseEther("5")), REFUTE_INTERVAL: "0.2" },
    };
  }

  /** What the command line makes of a model file. */
  function programOf(name: string, spec: Partial<ModelSpec> = {}): KnownProgram {
    const all = { path: at(name), shapes: {}, bind: {}, uint8: [], ...spec };
    const { model, run } = loadModel(all);
    return knownProgram(compile(model, { ...all, run }));
  }

  itAtLength("panel_andPanelResult_overThreeWorkers", async () => {
    const { players, env } = await market();
    const program = programOf("model.onnx");
    const panel = await players.chain.deploy("Panel", [players.chain.market]);
    for (const name of ["a.db", "b.db", "c.db"]) {
      const seals = await SealBook.at(at(name));
      const worker = await players.startWorker(await players.workerKey(), program, reference(), { seals });
      toClose.push(() => seals.close(), worker.stop);
    }
    const answers = await whileTimePasses(players, execute(/^panel post /, env, { PANELS: panel }));
    expect(answers.map(({ outcome }) => outcome)).to.deep.equal(["survived", "survived"]);
    const [shown] = await execute(/^panel result /, env, { PANELS: panel, PANEL: answers[0]!.panel as string });
    expect(shown).to.deep.equal(answers[0]);
  });

  itAtLength("dispatch_ofABatchAndOfSegments_overWorkersThatPublish", async () => {
    const { players, env } = await market();
    const over = new AbortController();
    const time = passTime(players, { idle: new Set(), isWrong: () => false }, over.signal);
    toClose.push(() => (over.abort(), time));
    const serve = async (program: KnownProgram, count: number) => {
      const servers = await Promise.all(
        Array.from({ length: count }, () => startServer(players, program, reference())),
      );
      toClose.push(...servers.map(({ stop }) => stop));
      return servers.map(({ url }) => url);
    };
    mkdirSync(at("pictures"));
    for (const k of [1, 2]) writeFileSync(at(`pictures/${k}.npy`), mlpFile(k));
    const [a, b] = (await serve(programOf("model.onnx", { run: { batch: true } }), 2)) as [string, string];
    const typed = { "http://worker-a.example:8080": a, "http://worker-b.example:8080": b };
    await execute(/^job dispatch model\.onnx /, env, typed);
    writeFileSync(at("step.onnx"), addition());
    writeFileSync(at("x.npy"), stepFile([0, 0, 0, 0]));
    mkdirSync(at("states"));
    for (let k = 0; k < PARTS; k++) writeFileSync(at(`states/${k}.npy`), stepFile([1, 2, 3, 4]));
    await serve(programOf("step.onnx", { run: { carried: { state: "next" }, lastOutputs: ["next"] } }), 5);
    const [run] = await execute(/^job dispatch step\.onnx /, env);
    expect(run!.parts).to.have.length(PARTS);
    writeFileSync(at("text.onnx"), llama({ ...LLAMA_TINY, vocabulary: 16_000, positions: 512 }));
    const executors = new FastExecutors();
    toClose.push(() => executors.close());
    const text = programOf("text.onnx", { decoder: { slots: 512, chain: true } });
    const worker = await startServer(players, text, executors.execute);
    toClose.push(worker.stop);
    const [chain] = await execute(/^job dispatch text\.onnx /, env);
    expect(chain!.parts).to.have.length(4);
  });

  itAtLength("ask_ofAWorkerThatServes", async () => {
    const kit = await TicketPlayers.create();
    const { tickets } = kit;
    toClose.push(() => rmSync(kit.folder, { recursive: true }));
    writeFileSync(at("step.onnx"), halving());
    writeFileSync(at("start.npy"), stepFile([8, -4, 2, 1]));
    const wired = { run: { carried: { x: "y" }, lastOutputs: ["y"] }, noise: { x: 0.01 } };
    let env: Env | undefined;
    for (const [which, program] of [
      [/^tickets ask model\.onnx /, programOf("model.onnx")],
      [/^tickets ask step\.onnx /, programOf("step.onnx", wired)],
    ] as const) {
      const key = await kit.workerKey();
      const price = { face: FACE, oneIn: 100 };
      const serving = await kit.serve(key, program, reference(), { price });
      env ??= await networkOf(kit.players, serving.at.session.deployment.market);
      toClose.push(serving.stop);
      const worker = serving.at.account.address;
      await execute(/^tickets deposit /, env, { WORKER: worker, TICKETS: tickets });
      const [answer] = await execute(which, env, { "http://worker.example:8700": serving.url, TICKETS: tickets });
      expect(answer!.worker ?? answer!.items).not.to.equal(undefined);
    }
  });

  itAtLength("submit_byReference_toAFileThatIsServed", async () => {
    const { env } = await market();
    const file = packInputs(describeProgram(programOf("model.onnx")), [mlpInput(1)]);
    const server = createServer((_, response) => void response.end(file));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    toClose.push(() => server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const typed = { "https://files.example/inputs.bin": `http://${host}/inputs.bin` };
    const [posted] = await execute(/^submit .* --reference /, { ...env, REFUTE_INPUT_HOSTS: host }, typed);
    expect(posted!.job).to.match(/^0x/);
  });

  itAtLength("reclaim_ofAResultThatNobodyDelivers", async () => {
    const { players, env } = await market();
    const { chain } = players;
    const key = await players.workerKey();
    const worker = await players.startWorker(key, programOf("model.onnx"), reference());
    const submit = ["submit", at("model.onnx"), "--input", `x=${at("x.npy")}`, "--fee", "0.05", "--json"];
    const { job } = JSON.parse((await refute(submit, env)).stdout) as { job: Hex };
    await first(worker, "submitted");
    await worker.stop();
    const session = await chain.sessionOf(key);
    const { history, now } = await followMarket(session)();
    const { claim, windowEnd } = history.jobs.get(job)!.claims.at(-1)!;
    await chain.advance(Number(windowEnd - now) + 1);
    await session.market.finalise(claim);
    await chain.advance(8 * 86_400);
    const [ledger] = await execute(/^job reclaim /, env, { JOB: job });
    expect(ledger!.credit).to.equal("0.05");
  });

  itAtLength("submit_byBlobs_onANodeThatHasThem", async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      skipped: ${binary.missing}`);
      return this.skip();
    }
    const anvil = await Anvil.start();
    toClose.push(() => anvil.close());
    const deployment = await deployLocally(anvil.url, {});
    const { key } = await new Parties(anvil, deployment, 1).withCredit("requester", parseEther("1"));
    const { market } = deployment;
    const env = { REFUTE_RPC_URL: anvil.url, REFUTE_CHAIN_ID: "31337", REFUTE_MARKET: market, REFUTE_PRIVATE_KEY: key };
    await execute(/^submit .* --blobs$/, env);
    const block = (await anvil.request("eth_getBlockByNumber", ["latest", true])) as { number: Hex };
    const blobs = await blobTransactions(anvil, Number(block.number));
    expect(blobs).to.have.length(1);
    await execute(/^submit .* --blobs-sent /, env, { "0x12..,0x34..": blobs[0]! });
    // They were not sent again.
    expect(await blobTransactions(anvil, Number(block.number) + 1)).to.deep.equal(blobs);
  });

  itAtLength("calibrate_ofADecoder_thatIsSmall", async () => {
    const shape = { layers: 1, width: 4, heads: 1, tokens: 256, vocabulary: 8 };
    writeFileSync(at("decoder.onnx"), gpt2Decoder(shape));
    await execute(/^model calibrate decoder\.onnx /, {});
    expect(readCalibration(at("decoder.calibration.json")).inputs).to.have.property("random", 64);
  });

  itAtLength("attest_byTdx_withAnotherKernelAndRootThanIntels", async () => {
    const first = await startLocalChain();
    const rpc = await serveRpc(first.provider);
    toClose.push(first.close, () => rpc.close());
    const now = Number(await first.now());
    const pki = new TestPki(now);
    const platform = new TestPlatform(pki);
    mkdirSync(at("tsm"));
    toClose.push(imitateKernel(at("tsm"), () => (data) => platform.quote({ reportData: bytesToHex(data) })));
    writeFileSync(at("root.pem"), pem(pki.rootCertificate().der));
    writeFileSync(at("quote.bin"), platform.quote());
    writeFileSync(at("collateral.json"), collateralFile(pki, { issued: now }));
    const env: Env = {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(first.chainId), REFUTE_TSM: at("tsm") },
      ...{ REFUTE_PRIVATE_KEY: await first.newAccount(parseEther("5")), REFUTE_CONFIRMATIONS: "1" },
    };
    const deploying = ["deploy", "tdx", "--root", at("root.pem"), "--folder", at("deployments"), "--json"];
    const { status, output, stdout } = await refute(deploying, env);
    expect(status, output).to.equal(0);
    const { verifier, manufacturer } = JSON.parse(stdout) as { verifier: Address; manufacturer: Hex };
    env.REFUTE_MARKET = (await first.deployAgain({ manufacturers: [manufacturer] })).market;
    const typed = { ADDRESS: verifier };
    await execute(/^tdx bring /, env, typed);
    const [standing] = await execute(/^tdx status /, env, typed, ["--quote", "quote.bin"]);
    expect(JSON.stringify(standing)).not.to.include("missing");
    const [{ attestation } = {}] = await execute(/^device attest --tdx /, env, typed);
    expect(attestation).to.include({ reason: "eligible" });
  });
});

const mlpFile = (seed: number): Uint8Array => writeNpy({ dtype: F, shape: [1, 64], bytes: mlpInput(seed) });
const stepFile = (values: readonly number[]): Uint8Array => writeNpy(floatTensor(values, STEP_SHAPE));

/** Lets the chain's time pass until a command has ended: a minute at a time, so that nobody's time runs out. */
async function whileTimePasses<T>({ chain }: Players, command: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = command.finally(() => (isOver = true));
  // Awaited below; it may fail meanwhile.
  ended.catch(() => undefined);
  while (!isOver) {
    await chain.advance(60);
    await sleep(150);
  }
  return ended;
}

/** The hashes of transactions with blobs, up to a block. */
async function blobTransactions(anvil: Anvil, last: number): Promise<string[]> {
  const blocks = Array.from({ length: last + 1 }, (_, k) =>
    anvil.request("eth_getBlockByNumber", [`0x${k.toString(16)}`, true]),
  );
  const all = (await Promise.all(blocks)) as ({ transactions: { hash: string; type: string }[] } | null)[];
  return all.flatMap((block) => block?.transactions.filter(({ type }) => type === "0x3").map(({ hash }) => hash) ?? []);
}
