import { expect } from "chai";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anvilBinary } from "../../src/devnet/anvil.ts";
import { killAtExit } from "../../src/devnet/killAtExit.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readNpy, writeNpy } from "../../src/onnx/inputs/npy.ts";
import { readAddressFile } from "../../src/sdk/readAddressFile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import type { Score } from "../../src/sdk/decodeOutputs.ts";
import { builtCommandLine } from "../../testkit/processes/commandLine.ts";

type Answered = {
  outputs: { name: string; shape: number[]; top: unknown[][] }[];
  claims: { refuted: boolean; finalised: boolean }[];
};
type Ready = { env: Record<string, string>; addressFile: string; next: string[] };

/** Jobs that are posted until the liar has claimed one. */
const MAX_JOBS = 8;

describe("refute devnet", function () {
  this.timeout(240_000);
  const folder = mkdtempSync(join(tmpdir(), "devnet-test-"));
  const system = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("REFUTE_")));
  /** Whatever the command leaves behind would lie in one of these. */
  const [work, temporary] = ["work", "tmp"].map((name) => mkdtempSync(join(folder, name)));
  let child: ChildProcess;
  let ready: Ready;
  let said = "";

  const refute = (...args: string[]) => {
    const env = { ...system, ...ready.env };
    const run = spawnSync(process.execPath, [builtCommandLine(), ...args], { cwd: work, env, encoding: "utf8" });
    return { status: run.status, out: run.stdout, errors: run.stderr };
  };

  before(async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      skipped: ${binary.missing}`);
      return this.skip();
    }
    writeFileSync(join(work!, "model.onnx"), mlpBytes(1));
    const npy = writeNpy({ dtype: DType.float32, shape: [1, 64], bytes: mlpInput(3) });
    writeFileSync(join(work!, "x.npy"), npy);
    const args = ["devnet", "--model", "model.onnx", "--port", "0", "--liar", "--json"];
    child = spawn(process.execPath, [builtCommandLine(), ...args], {
      cwd: work,
      env: { ...system, TMPDIR: temporary! },
    });
    killAtExit(child);
    child.stderr!.on("data", (chunk: Buffer) => void (said += chunk.toString()));
    ready = await new Promise<Ready>((resolve, reject) => {
      let out = "";
      child.stdout!.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        if (out.includes("\n")) resolve(JSON.parse(out) as Ready);
      });
      child.once("exit", () => reject(new Error(`refute devnet ended: ${said}`)));
    });
  });
  after(() => {
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  it("ready_saysInOneLineWhatToPaste_andWritesAnAddressFile", () => {
    expect(Object.keys(ready.env)).to.deep.equal([
      "REFUTE_RPC_URL",
      "REFUTE_CHAIN_ID",
      "REFUTE_MARKET",
      "REFUTE_FROM_BLOCK",
      "REFUTE_PRIVATE_KEY",
    ]);
    expect(ready.next[0]).to.match(/^refute submit .*model\.onnx --input x=x\.npy --fee 0\.05 --wait$/);
    const { contracts, chainId } = readAddressFile(join(work!, ready.addressFile));
    expect([contracts.market.toLowerCase(), String(chainId)]).to.deep.equal([
      ready.env.REFUTE_MARKET!.toLowerCase(),
      ready.env.REFUTE_CHAIN_ID,
    ]);
  });

  it("quote_beforeAJob_saysWhatItCosts", () => {
    const quote = JSON.parse(refute("quote", "model.onnx", "--json").out) as {
      fee: { least: string };
      recentFees: unknown;
    };
    expect(Number(quote.fee.least)).to.be.greaterThan(0);
    expect(quote.recentFees).to.deep.equal({ sameProgram: { jobs: 0 }, all: { jobs: 0 } });
  });

  it("submit_ofAWrongShape_refused_beforeAnythingIsPaid", () => {
    const path = join(work!, "wrong.npy");
    writeFileSync(path, writeNpy({ dtype: DType.float32, shape: [1, 63], bytes: new Uint8Array(252) }));
    const { status, errors } = refute("submit", "model.onnx", "--input", `x=${path}`, "--fee", "0.05");
    expect(status).to.not.equal(0);
    expect(errors).to.match(/63/);
  });

  it("submit_withALiarAbout_givesTheExactScores_asValuesAndAsNumPyFile", () => {
    const submitted = refute("submit", "model.onnx", "--input", "x=x.npy", "--fee", "0.05", "--wait", "--json");
    expect(submitted.status, submitted.errors).to.equal(0);
    expect(submitted.errors).to.match(/are public/);
    const { job } = JSON.parse(submitted.out) as { job: string };
    const result = refute("result", job, "--model", "model.onnx", "--output", "y=y.npy", "--top", "3", "--json");
    const { outputs, claims } = JSON.parse(result.out) as Answered;
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

  it("aLieOfTheLiar_isRefuted_andTheJobAnsweredAllTheSame", () => {
    // The liar comes first in about every second job.
    for (let k = 0; k < MAX_JOBS; k++) {
      const submitted = refute("submit", "model.onnx", "--input", "x=x.npy", "--fee", "0.05", "--wait", "--json");
      expect(submitted.status, submitted.errors).to.equal(0);
      const { job } = JSON.parse(submitted.out) as { job: string };
      const { claims, outputs } = JSON.parse(refute("result", job, "--model", "model.onnx", "--json").out) as Answered;
      if (!claims.some(({ refuted }) => refuted)) continue;
      expect(claims.map(({ refuted, finalised }) => [refuted, finalised])).to.deep.equal([
        [true, false],
        [false, true],
      ]);
      expect(outputs).to.have.length(1);
      return;
    }
    expect.fail(`the liar claimed none of ${MAX_JOBS} jobs`);
  });

  it("ctrlC_endsEverything_andLeavesNothing", async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    expect(await ended, said).to.equal(0);
    expect(existsSync(join(work!, "deployments"))).to.equal(false);
    // onnxruntime leaves files of its own.
    expect(readdirSync(temporary!).filter((name) => name.startsWith("refute"))).to.deep.equal([]);
    expect(
      await fetch(ready.env.REFUTE_RPC_URL!).then(
        () => "answers",
        () => "gone",
      ),
    ).to.equal("gone");
  });
});
