import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BOUND, endFactors } from "../../src/numerics/kernels/elementary/certified.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { toNumber } from "../../src/numerics/float32.ts";
import { applyOperation } from "../../src/program/expression.ts";
import { Op, type OpName } from "../../src/program/operations.ts";
import { hardOperands, relevantOperands } from "../../testkit/numerics/elementaryCases.ts";
import { buildMpfrOracle } from "../../testkit/numerics/mpfr/oracle.ts";
import { rejection } from "../../testkit/rejection.ts";
import { buildC, type Built } from "../../tools/verify/exhaust/build.ts";
import { CHUNK, writeInputs } from "../../src/executor/gpu/allInputs.ts";
import { FUNCTIONS } from "../../tools/verify/exhaust/chunks.ts";
import { beyondBound, exhaust, type FunctionReport } from "../../tools/verify/exhaust/exhaust.ts";
import { searchPowers } from "../../tools/verify/exhaust/powers.ts";
import { differences, hashesText, kernelsNow, pageWith, readTable, rowOf } from "../../tools/verify/exhaust/table.ts";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";

const STRIDE = 2 ** 16;
const defined = (name: OpName, x: bigint): bigint => applyOperation(Op[name], DType.float32, x, 0n, 0n);

function inputsOf(chunk: number): Uint32Array {
  const inputs = new Uint32Array(CHUNK / STRIDE);
  writeInputs(inputs, chunk, 0, STRIDE);
  return inputs;
}

describe("exhaust", function () {
  this.timeout(120_000);
  let folder: string;
  const programs: Built[] = [];

  before(function () {
    folder = mkdtempSync(join(tmpdir(), "refute-exhausted-"));
    for (const name of ["judge", "words", "powers"] as const) {
      const built = buildC(name);
      if ("missing" in built) {
        console.warn(`      ${built.missing}`);
        return this.skip();
      }
      programs.push(built);
    }
  });
  after(() => {
    for (const { remove } of programs) remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (name: OpName): Promise<FunctionReport> => {
    const reports: FunctionReport[] = [];
    const onFunction = (_: OpName, report: FunctionReport): void => void reports.push(report);
    await exhaust({ names: [name], stride: STRIDE, jobs: 2, folder, onFunction });
    expect(reports).to.have.length(1);
    return reports[0]!;
  };

  for (const name of FUNCTIONS)
    itInTime(`${name}_inC_isTheDefinition`, () => {
      const inputs = [...hardOperands(), ...relevantOperands(name, 7, 1500).map(([x]) => x)];
      const words = Uint32Array.from(inputs, Number);
      const { stdout } = spawnSync(programs[1]!.program, [name], { input: words, maxBuffer: 2 ** 24 });
      const results = Array.from(new Uint32Array(stdout.buffer, stdout.byteOffset, inputs.length), BigInt);
      inputs.forEach((x, k) => expect(results[k], `${name} of 0x${x.toString(16)}`).to.equal(defined(name, x)));
    });

  /** What the judge says about results and estimates of e^x for the inputs of one chunk. */
  function judge(change: (results: Uint32Array, estimates: Float64Array) => void): Record<string, unknown> {
    const chunk = 0x3f;
    const inputs = Array.from(inputsOf(chunk), BigInt);
    const files = ["fused", "separate"].map((build) => {
      const results = Uint32Array.from(inputs, (x) => Number(defined("exp", x)));
      const estimates = Float64Array.from(inputs, (x) => Math.exp(toNumber(x)));
      if (build === "separate") change(results, estimates);
      const file = join(folder, build);
      writeFileSync(file, Buffer.concat([results, estimates].map(({ buffer }) => new Uint8Array(buffer))));
      return file;
    });
    const args = ["exp", String(STRIDE), "0", ...endFactors(BOUND).map(String), "0", ...files, String(chunk)];
    return JSON.parse(spawnSync(programs[0]!.program, args).stdout.toString()) as Record<string, unknown>;
  }

  itInTime("rightResults_areRight_andGoodEstimatesNear", () => {
    const { wrong, builds } = judge(() => undefined) as { wrong: number; builds: { error: string }[] };
    expect(wrong).to.equal(0);
    for (const { error } of builds) expect(Number(error)).to.be.within(0, 2 ** -51);
  });

  itInTime("resultThatIsOffByItsLastBit_isWrong", () => {
    const { wrong, firstWrong } = judge((results) => (results[100]! ^= 1));
    expect({ wrong, firstWrong }).to.deep.equal({ wrong: 1, firstWrong: inputsOf(0x3f)[100] });
  });

  itInTime("estimateThatIsFurtherOff_isMeasured_withItsInput", () => {
    const { wrong, builds } = judge((_, estimates) => (estimates[100]! *= 1 - 2 ** -43)) as {
      wrong: number;
      builds: { error: string; at: number }[];
    };
    expect(wrong).to.equal(0);
    expect(builds[1]!.at).to.equal(inputsOf(0x3f)[100]);
    expect(Number(builds[1]!.error)).to.be.within(2 ** -43 - 2 ** -51, 2 ** -43 + 2 ** -51);
  });

  itInTime("estimateThatIsNoNumber_isBeyondAnyBound", () => {
    const { builds } = judge((_, estimates) => (estimates[7] = NaN)) as { builds: { error: string; at: number }[] };
    const [, { error, at }] = builds as [unknown, { error: string; at: number }];
    const none = { error: 0, at: 0, doubts: 0 };
    const report = { hash: "", builds: { fused: none, separate: { error: Number(error), at, doubts: 0 } } };
    expect(beyondBound("exp", report)).to.have.length(1);
  });

  itAtLength("exp_isWithinItsBound_butNotWithinASmallerOne_andAsCommitted", async () => {
    const report = await run("exp");
    expect(beyondBound("exp", report)).to.deep.equal([]);
    expect(beyondBound("exp", report, { bound: 2 ** -60 })).to.have.length(2);
    expect(differences("exp", rowOf(report), readTable()[STRIDE]?.exp)).to.deep.equal([]);
  });

  itAtLength("runThatWasStopped_goesOn_andFindsTheSame", async () => {
    const whole = await run("sin");
    const [sources] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.includes("sin-"),
    );
    const file = join(folder, sources!);
    const lines = readFileSync(file, "utf8");
    writeFileSync(file, lines.slice(0, lines.length / 2));
    expect(await run("sin")).to.deep.equal(whole);
  });

  it("hashesForGpus_areTheTables", () => {
    expect(readFileSync("src/executor/gpu/functionHashes.ts", "utf8")).to.equal(hashesText());
  });

  itAtLength("judgeThatEndsEarly_endsTheRun", async () => {
    // It knows no function of two float32.
    const failure = await rejection(
      exhaust({ names: ["pow"], stride: STRIDE, jobs: 2, folder, onFunction: () => undefined }),
    );
    expect((failure as Error).message).to.match(/judge of pow ended with 2/);
  });

  itInTime("powersNextToMidpoints_areFound_andRoundedAsMpfrRounds", async function () {
    const mpfr = buildMpfrOracle();
    if ("missing" in mpfr) return this.skip();
    for (const [search, stride] of [
      ["near", 2 ** 15 + 1],
      ["few", 2 ** 13 + 1],
    ] as const) {
      const { closest, x, y, taken } = await searchPowers(programs[2]!, search, stride, 2);
      expect(taken, search).to.equal(0);
      expect(closest, search).to.be.within(2 ** -90, 2 ** -40);
      const pair = [BigInt(x), BigInt(y)] as const;
      expect(applyOperation(Op.pow, DType.float32, ...pair, 0n)).to.equal(mpfr.evaluate(Op.pow, [pair])[0]);
    }
    mpfr.close();
  });

  itInTime("powersThatAreMidpoints_areToldFromOthers", async () => {
    // Bases of few bits.
    const { midpoints, taken } = await searchPowers(programs[2]!, "few", 2 ** 13, 2);
    expect(midpoints).to.be.above(10);
    expect(taken).to.equal(0);
  });

  itInTime("tableOfThePage_isTheCommittedOne", () => {
    const page = readFileSync("docs/numerics.md", "utf8");
    expect(page).to.equal(pageWith(page));
  });

  itInTime("committedRows_areOfTheseKernels", () => {
    // `npm run write -- exhaust` writes them.
    for (const [stride, rows] of Object.entries(readTable()))
      for (const [name, row] of Object.entries(rows)) expect(row.kernels, `${name}, ${stride}`).to.equal(kernelsNow());
  });
});
