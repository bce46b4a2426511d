import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseEther, zeroHash, type Address, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { attest } from "../../src/attestation/attest.ts";
import { SoftwareDevice } from "../../src/attestation/device.ts";
import { firstBlockOf } from "../../src/deploy/network/deployContracts.ts";
import { writeAddressFile } from "../../src/deploy/network/writeAddressFile.ts";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { Players } from "../../testkit/players/players.ts";
import { builtCommandLine } from "../../testkit/processes/commandLine.ts";
import { refute } from "./refute.ts";

describe("refute deploy tickets, pledge, serve, tickets and ask", function () {
  this.timeout(300_000);
  let folder: string;
  let players: Players;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let serving: ChildProcess | undefined;
  let network: Record<string, string>;
  let payer: Record<string, string>;
  let made: { tickets: Address; claims: Address; examClaims: Address; addressFile: string };
  const answerOf = async <T>(args: readonly string[], env: Record<string, string>): Promise<T> => {
    const { status, output, stdout } = await refute([...args, "--json"], env);
    expect(status, output).to.equal(0);
    return JSON.parse(stdout) as T;
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    players = await Players.create();
    const { chain } = players;
    rpc = await serveRpc(chain.provider);
    const key = await chain.newAccount(parseEther("5"));
    network = {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chain.chainId), REFUTE_MARKET: chain.market },
      REFUTE_PRIVATE_KEY: key,
    };
    const session = await chain.sessionOf(key);
    await attest(session, new SoftwareDevice(players.manufacturer), zeroHash);
    const exams = await chain.deploy("Exams", [
      session.deployment.provisioning,
      [{ programRoot: mlpProgram().model.programRoot, blocks: 64 }],
      1n,
      256n,
    ]);
    writeAddressFile(folder, session.deployment, 1n);
    const options = ["--folder", folder, "--confirmations", "1", "--exams", exams];
    made = await answerOf(["deploy", "tickets", ...options], network);
    const { contracts } = JSON.parse(readFileSync(made.addressFile, "utf8")) as { contracts: Record<string, string> };
    expect(contracts).to.include({ tickets: made.tickets, claims: made.claims, examClaims: made.examClaims });
    expect(contracts.exams!.toLowerCase()).to.equal(exams.toLowerCase());
    expect(firstBlockOf(join(folder, `${chain.chainId}-${chain.market}-tickets-journal`)) > 0n).to.equal(true);
    network.REFUTE_MARKET = made.claims;
    payer = { ...network, REFUTE_PRIVATE_KEY: await chain.newAccount(parseEther("2")) };
    const model = join(folder, "mlp.onnx");
    writeFileSync(model, mlpBytes());
    const step = join(folder, "step.onnx");
    writeFileSync(step, stepBytes());
    const wired = { run: { carried: { x: "y" }, lastOutputs: ["y"] }, noise: { x: 0.5 } };
    writeFileSync(join(folder, "models.json"), JSON.stringify([{ path: model }, { path: step, ...wired }]));
    writeFileSync(join(folder, "x.bin"), mlpInput(1));
  });
  after(async () => {
    serving?.kill("SIGKILL");
    await rpc.close();
    await players.chain.close();
    rmSync(folder, { recursive: true });
  });

  it("aWorkerPledges_serves_andIsPaidByATicket_byCommandsOnly", async () => {
    const own = privateKeyToAddress(network.REFUTE_PRIVATE_KEY as Hex);
    const early = await refute(["tickets", "pledge"], network);
    expect(early.status).to.equal(1);
    expect(early.output).to.contain("refute account stake");
    await answerOf(["account", "deposit", "1.8"], network);
    await answerOf(["account", "stake", "1.8"], network);
    const pledge = await answerOf<{ pledge: string }>(["tickets", "pledge", "--exam-claims", made.examClaims], network);
    expect(pledge.pledge).to.equal("active");
    // It may be given again: nothing is done twice.
    await answerOf(["tickets", "pledge", "--exam-claims", made.examClaims], network);
    const ofTickets = ["--tickets", made.tickets];
    const deposit = ["tickets", "deposit", "0.5", "--worker", own, ...ofTickets];
    expect(await answerOf<{ free: string }>(deposit, payer)).to.include({ free: "0.5" });
    const url = await serve(own);
    const terms = ["--ledger", join(folder, "ask.db"), "--face", "0.01", "--one-in", "1"];
    const input = ["--input", `x=${join(folder, "x.bin")}`];
    const asked = [
      "tickets",
      "ask",
      join(folder, "mlp.onnx"),
      ...input,
      "--url",
      url,
      "--check",
      ...ofTickets,
      ...terms,
    ];
    await untilCompiled(asked);
    const answer = await answerOf<{ worker: string; outputs: unknown }>(asked, payer);
    expect(answer.worker).to.equal(own);
    // An unchained run: of each item a claim and a ticket, and noise of a seed that the payer draws.
    const wired = ["--carry", "x=y", "--last-output", "y", "--noise", "x=0.5", "--items", "3", "--unchained"];
    const unchained = ["tickets", "ask", join(folder, "step.onnx"), ...wired, ...asked.slice(5)];
    await untilCompiled(unchained);
    const runs = [await answerOf<Run>(unchained, payer), await answerOf<Run>(unchained, payer)];
    const claims = runs.flatMap(({ items }) => items.map(({ claim }) => claim));
    expect(new Set(claims).size).to.equal(6);
    expect(runs[0]!.items.map(({ item }) => item)).to.deep.equal([0, 1, 2]);
    expect(runs[0]!.outputs).not.to.deep.equal(runs[1]!.outputs);
    await stopped(serving!);
    const back = ["tickets", "withdraw", "--worker", own, ...ofTickets];
    const part = await answerOf<{ askedBack: string }>([...back.slice(0, 2), "0.1", ...back.slice(2)], payer);
    expect(part.askedBack).to.equal("0.1");
    expect((await refute(back, payer)).output).to.contain("WithdrawalNotReady");
    expect((await refute(["tickets", "earnings", "--to", own, ...ofTickets], network)).output).to.contain(
      "NothingEarned",
    );
    expect(await answerOf<{ pledge: string }>(["tickets", "unpledge"], network)).to.include({ pledge: "asked back" });
    expect((await refute(["tickets", "unpledge"], network)).status).not.to.equal(0);
  });

  it("whatIsNoContractOfTickets_isRefused", async () => {
    const own = privateKeyToAddress(network.REFUTE_PRIVATE_KEY as Hex);
    const wrong = ["tickets", "deposit", "0.1", "--worker", own, "--tickets", made.claims];
    const { status, output } = await refute(wrong, payer);
    expect(status).not.to.equal(0);
    expect(output).to.contain("has no tickets about the claims");
  });

  /** After a start the endpoint says that it compiles still. */
  async function untilCompiled(asked: readonly string[]): Promise<void> {
    for (let k = 0; k < 60 && (await refute(asked, payer)).output.includes("UNAVAILABLE"); k++)
      await new Promise((resolve) => setTimeout(resolve, 500));
  }

  /** Starts `refute tickets serve` in a process of its own. @returns its URL */
  async function serve(own: string): Promise<string> {
    const cache = join(folder, "cache");
    const price = ["--face", "0.01", "--one-in", "1", "--port", "0", "--cache", cache];
    const files = ["--models", join(folder, "models.json"), "--ledger", join(folder, "serve.db")];
    const args = [builtCommandLine(), "tickets", "serve", ...files, "--tickets", made.tickets, ...price];
    serving = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...network } });
    killAtExit(serving);
    let log = "";
    const port = await new Promise<number>((found, failed) => {
      const take = (chunk: Buffer): void => {
        log += chunk.toString();
        const [, known] = /"port":(\d+)[^\n]*serves answers/.exec(log) ?? [];
        if (known !== undefined && log.includes("worker starts")) found(Number(known));
      };
      serving!.stdout!.on("data", take);
      serving!.stderr!.on("data", take);
      serving!.once("exit", () => failed(new Error(`refute tickets serve of ${own} ended: ${log}`)));
    });
    return `http://127.0.0.1:${port}`;
  }
});

type Run = { outputs: unknown; items: { item: number; claim: Hex }[] };

/** A model whose output may be its next input: half of it. */
const stepBytes = (): Uint8Array =>
  buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [1, 8] }],
    outputs: [{ name: "y", dtype: DType.float32, shape: [1, 8] }],
    initializers: { half: floatTensor([0.5]) },
    nodes: [{ op: "Mul", inputs: ["x", "half"], outputs: ["y"] }],
  });

/** Ends a process by the signal that ends it in order. */
async function stopped(child: ChildProcess): Promise<void> {
  child.removeAllListeners("exit");
  const ended = new Promise<number | null>((done) => child.once("exit", done));
  child.kill("SIGTERM");
  expect(await ended).to.equal(0);
}
