import { expect } from "chai";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther, toHex, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { askNode } from "../../../src/deploy/devnet/askNode.ts";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readNpy, writeNpy } from "../../../src/model/onnx/inputs/npy.ts";
import { readAddressFile } from "../../../src/chain/market/readAddressFile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import type { Score } from "../../../src/parties/requester/decodeOutputs.ts";
import { builtCommandLine } from "../../../testkit/processes/commandLine.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";

type Answered = {
  outputs: { name: string; shape: number[]; top: unknown[][] }[];
  claims: { refuted: boolean; finalised: boolean }[];
};
type Ready = {
  env: Record<string, string>;
  addressFile: string;
  next: string[];
  manufacturer: string;
  funded: Hex[];
  ownWorker: { account: Hex; commands: string[] };
};

/** An account that no development node knows. */
const STRANGER = "0x00000000000000000000000000000000DeaDBeef";

/** Jobs that are posted until the liar has claimed one. */
const MAX_JOBS = 16;

describe("refute devnet", function () {
  this.timeout(600_000);
  const folder = mkdtempSync(join(tmpdir(), "devnet-test-"));
  const system = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("REFUTE_")));
  /** Whatever the command leaves behind would lie in one of these. */
  const [work, temporary] = ["work", "tmp"].map((name) => mkdtempSync(join(folder, name)));
  let child: ChildProcess;
  let ready: Ready;
  let said: () => string;
  /** What `refute result` said of jobs that anybody could claim. */
  const answered: Answered[] = [];

  const refute = (...args: string[]) => refuteAs({}, ...args);
  const refuteAs = (other: Record<string, string>, ...args: string[]) => {
    const env = { ...system, ...ready.env, ...other };
    const run = spawnSync(process.execPath, [builtCommandLine(), ...args], { cwd: work, env, encoding: "utf8" });
    return { status: run.status, out: run.stdout, errors: run.stderr };
  };

  /** Starts the command in the folder of this test. @returns The process, and what it prints when it is ready */
  const start = async (...args: string[]): Promise<{ child: ChildProcess; ready: Ready; said: () => string }> => {
    const started = spawn(process.execPath, [builtCommandLine(), "devnet", "--port", "0", "--json", ...args], {
      cwd: work,
      env: { ...system, TMPDIR: temporary! },
    });
    killAtExit(started);
    let [out, errors] = ["", ""];
    started.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
    const printed = await new Promise<Ready>((resolve, reject) => {
      started.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        if (out.includes("\n")) resolve(JSON.parse(out) as Ready);
      });
      started.once("exit", () => reject(new Error(`refute devnet ended: ${errors}`)));
    });
    return { child: started, ready: printed, said: () => errors };
  };
  /** What the command leaves behind. onnxruntime leaves files of its own. */
  const left = () => readdirSync(temporary!).filter((name) => name.startsWith("refute"));

  before(async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      skipped: ${binary.missing}`);
      return this.skip();
    }
    writeFileSync(join(work!, "model.onnx"), mlpBytes(1));
    const npy = writeNpy({ dtype: DType.float32, shape: [1, 64], bytes: mlpInput(3) });
    writeFileSync(join(work!, "x.npy"), npy);
    ({ child, ready, said } = await start("--model", "model.onnx", "--shape", "x=1,64", "--liar", "--fund", STRANGER));
  });
  after(() => {
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  itInTime("ready_saysInOneLineWhatToPaste_andWritesAnAddressFile", () => {
    expect(Object.keys(ready.env)).to.deep.equal([
      "REFUTE_RPC_URL",
      "REFUTE_CHAIN_ID",
      "REFUTE_MARKET",
      "REFUTE_FROM_BLOCK",
      "REFUTE_PRIVATE_KEY",
    ]);
    expect(ready.next[0]).to.match(/^refute submit .*model\.onnx --shape x=1,64 --input x=x\.json --fee 0\.05 --wait$/);
    const { contracts, chainId } = readAddressFile(join(work!, ready.addressFile));
    expect([contracts.market.toLowerCase(), String(chainId)]).to.deep.equal([
      ready.env.REFUTE_MARKET!.toLowerCase(),
      ready.env.REFUTE_CHAIN_ID,
    ]);
  });

  itInTime("accountThatFundNames_hasEther", async () => {
    expect(ready.funded).to.deep.equal([STRANGER]);
    expect(await askNode(ready.env.REFUTE_RPC_URL!, "eth_getBalance", [STRANGER, "latest"])).to.equal(
      toHex(parseEther("100")),
    );
  });

  itInTime("ownWorker_itsDeviceIsEndorsedByTheFile_andItsModelsAreThoseOfTheDevnet", () => {
    const { account, commands } = ready.ownWorker;
    const [key, dongle, , deposit, stake, list, worker, watcher] = commands;
    expect(privateKeyToAddress(key!.split("=")[1] as Hex)).to.equal(account);
    expect(dongle).to.equal(`refute device dongle dongle --manufacturer ${ready.manufacturer}`);
    expect([deposit, stake]).to.deep.equal(["refute account deposit 9 --wrap", "refute account stake 9"]);
    const [, json] = /^echo '(.*)' > models\.json$/.exec(list!)!;
    expect(JSON.parse(json!)).to.deep.equal([
      { path: join(realpathSync(work!), "model.onnx"), shapes: { x: [1, 64] } },
    ]);
    expect(worker).to.equal("refute worker --models models.json --dongle dongle/dongle.sock");
    expect(watcher).to.equal("refute watcher --models models.json --mode watch");
    const env = { REFUTE_PRIVATE_KEY: key!.split("=")[1]! };
    expect(refute("device", "stand-in", "dongle", "--manufacturer", ready.manufacturer).status).to.equal(0);
    for (const args of ["device attest --device dongle", deposit!.slice(7), stake!.slice(7)]) {
      const { status, errors } = refuteAs(env, ...args.split(" "));
      expect(status, errors).to.equal(0);
    }
  });

  itInTime("quote_beforeAJob_saysWhatItCosts", () => {
    const quote = JSON.parse(refute("job", "quote", "model.onnx", "--json").out) as {
      fee: { least: string };
      recentFees: unknown;
    };
    expect(Number(quote.fee.least)).to.be.greaterThan(0);
    expect(quote.recentFees).to.deep.equal({ sameProgram: { jobs: 0 }, all: { jobs: 0 } });
  });

  itInTime("submit_ofAWrongShape_refused_beforeAnythingIsPaid", () => {
    const path = join(work!, "wrong.npy");
    writeFileSync(path, writeNpy({ dtype: DType.float32, shape: [1, 63], bytes: new Uint8Array(252) }));
    const { status, errors } = refute("submit", "model.onnx", "--input", `x=${path}`, "--fee", "0.05");
    expect(status).to.not.equal(0);
    expect(errors).to.match(/63/);
  });

  itAtLength("outputOfAnOpenJob_isNotDue", () => {
    // No worker takes a job for so little.
    const { out } = refute("submit", "model.onnx", "--input", "x=x.npy", "--fee", "1wei", "--json");
    const { job } = JSON.parse(out) as { job: string };
    const { status, errors } = refute("result", job, "--model", "model.onnx", "--output", "y=early.npy");
    expect(status).to.equal(3);
    expect(errors).to.match(/--output y=early\.npy: the output is not delivered yet: --wait .*\[NOT_READY\]/);
  });

  itAtLength("submit_withALiarAbout_givesTheExactScores_asValuesAndAsNumPyFile", () => {
    const submitted = refute("submit", "model.onnx", "--input", "x=x.npy", "--fee", "0.05", "--wait", "--json");
    expect(submitted.status, submitted.errors).to.equal(0);
    expect(submitted.errors).to.match(/are public/);
    const { job } = JSON.parse(submitted.out) as { job: string };
    const result = refute("result", job, "--model", "model.onnx", "--output", "y=y.npy", "--top", "3", "--json");
    const { outputs, claims } = JSON.parse(result.out) as Answered;
    answered.push({ outputs, claims });
    // Whichever of the two workers came first: what the liar claimed was refuted.
    expect(claims.filter(({ refuted }) => !refuted)).to.have.length(1);
    expect(outputs.map(({ name, shape, top }) => [name, shape, top[0]!.length])).to.deep.equal([["y", [1, 10], 3]]);
    const { model } = mlpProgram(1);
    const exact = executeReference(model, [mlpInput(3)]).at(-1)!;
    const written = readNpy(readFileSync(join(work!, "y.npy")), "y.npy");
    expect(Buffer.from(written.bytes).equals(Buffer.from(exact))).to.equal(true);
    // Names of classes, as lines and as JSON.
    const digits = Array.from({ length: 10 }, (_, k) => `digit ${k}`);
    for (const labels of [`${digits.join("\n")}\n`, JSON.stringify(digits)]) {
      writeFileSync(join(work!, "labels"), labels);
      const labelled = refute("result", job, "--model", "model.onnx", "--labels", "labels", "--top", "1", "--json").out;
      const [[{ index, label }]] = (JSON.parse(labelled) as { outputs: [{ top: [[Score]] }] }).outputs[0].top;
      expect(label).to.equal(`digit ${index}`);
    }
    writeFileSync(join(work!, "labels"), "one\ntwo\n");
    const short = refute("result", job, "--model", "model.onnx", "--labels", "labels");
    expect([short.status, short.errors]).to.deep.equal([
      2,
      "refute: --labels labels has 2 texts, as many as no output's last dimension: y [1, 10] [USAGE]\n",
    ]);
    // Another program's names would mean nothing.
    writeFileSync(join(work!, "other.onnx"), mlpBytes(2));
    expect(refute("result", job, "--model", "other.onnx").errors).to.match(/is of the program 0x/);
  });

  itAtLength("aLieOfTheLiar_isRefuted_andTheJobAnsweredAllTheSame", () => {
    // The liar comes first in about every second job.
    const lie = () => answered.find(({ claims }) => claims.some(({ refuted }) => refuted));
    while (lie() === undefined && answered.length < MAX_JOBS) {
      const submitted = refute("submit", "model.onnx", "--input", "x=x.npy", "--fee", "0.05", "--wait", "--json");
      expect(submitted.status, submitted.errors).to.equal(0);
      const { job } = JSON.parse(submitted.out) as { job: string };
      answered.push(JSON.parse(refute("result", job, "--model", "model.onnx", "--json").out) as Answered);
    }
    const { claims, outputs } = lie() ?? expect.fail(`the liar claimed none of ${MAX_JOBS} jobs`);
    expect(claims.map(({ refuted, finalised }) => [refuted, finalised])).to.deep.equal([
      [true, false],
      [false, true],
    ]);
    expect(outputs).to.have.length(1);
  });

  itAtLength("secondMarket_inTheSameFolder_leavesTheFirstsFile_andSaysWhenItsNodeEnds", async function () {
    const [before, second] = [left(), await start()];
    const { pid } = second.child;
    const children = `/proc/${pid}/task/${pid}/children`;
    if (!existsSync(children)) return this.skip();
    const ended = new Promise((resolve) => second.child.once("exit", resolve));
    const isNode = (one: string): boolean => readFileSync(`/proc/${one}/comm`, "utf8").trim() === "anvil";
    const nodes = readFileSync(children, "utf8").trim().split(" ").filter(isNode);
    expect(nodes).to.have.length(1);
    process.kill(Number(nodes[0]), "SIGKILL");
    expect(await ended).to.equal(1);
    expect(second.said()).to.match(/the chain's node ended \(SIGKILL\)/);
    expect(left()).to.deep.equal(before);
    expect(existsSync(join(work!, ready.addressFile))).to.equal(true);
  });

  itAtLength("ctrlCTwice_leavesNothing", async () => {
    const [before, second] = [left(), await start("--folder", "other")];
    const ended = new Promise((resolve) => second.child.once("exit", resolve));
    second.child.kill("SIGINT");
    // Once it says that it stops, and before it can have done so.
    await new Promise((resolve) => second.child.stderr!.once("data", resolve));
    second.child.kill("SIGINT");
    await ended;
    expect(left()).to.deep.equal(before);
    expect(existsSync(join(work!, second.ready.addressFile))).to.equal(false);
  });

  itAtLength("ctrlCWhileItStarts_endsWith130_andTemporaryFolderThatIsMissing_withWhatToDo", async () => {
    const args = [builtCommandLine(), "devnet", "--port", "0"];
    const missing = spawnSync(process.execPath, args, { env: { ...system, TMPDIR: join(folder, "none") } });
    expect(missing.status).to.equal(1);
    expect(missing.stderr.toString()).to.match(/no temporary folder can be made .*TMPDIR.*\[DEVNET\]/);
    const early = spawn(process.execPath, args, { cwd: work, env: { ...system, TMPDIR: temporary! } });
    killAtExit(early);
    const before = left();
    const ended = new Promise((resolve) => early.once("exit", resolve));
    await new Promise((resolve) => early.stderr.once("data", resolve));
    early.kill("SIGINT");
    expect(await ended).to.equal(130);
    expect(left()).to.deep.equal(before);
  });

  it("ctrlC_endsEverything_andLeavesNothing", async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    expect(await ended, said()).to.equal(0);
    expect(existsSync(join(work!, "deployments"))).to.equal(false);
    expect(left()).to.deep.equal([]);
    expect(
      await fetch(ready.env.REFUTE_RPC_URL!).then(
        () => "answers",
        () => "gone",
      ),
    ).to.equal("gone");
  });
});
