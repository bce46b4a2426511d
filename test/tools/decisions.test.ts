import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { InputNumbers } from "../../src/native/drawnInputs.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { Prng } from "../../src/base/prng.ts";
import { classifierBytes } from "../../testkit/models/classifier.ts";
import { alteredRuntime } from "../../testkit/native/nativePrograms.ts";
import { openBoth, type OpenedModel } from "../../testkit/native/openedModel.ts";
import { attackInside } from "../../tools/measure/decisions/attackInside.ts";
import { attackOutside } from "../../tools/measure/decisions/attackOutside.ts";
import { atBoundary } from "../../tools/measure/decisions/boundary.ts";
import { upperBound } from "../../tools/measure/decisions/bounds.ts";
import { cancelling } from "../../tools/measure/decisions/cancelling.ts";
import { countDecisions } from "../../tools/measure/decisions/count.ts";
import { calibratedErrors } from "../../tools/measure/decisions/measured.ts";
import type { Subject } from "../../tools/measure/decisions/subjects.ts";
import {
  boundsOf,
  NO_COUNTS,
  readTallies,
  withSeen,
  writeTallies,
  type Seen,
  type Tally,
} from "../../tools/measure/decisions/tally.ts";

/** A small classifier that takes floats. */
const subject: Subject = {
  name: "classifier",
  open: () => openBoth(classifierBytes()),
  ranges: {},
  real: (prng) => [Float64Array.from({ length: 32 }, () => Math.fround(Math.sin(prng.uint32())))],
};

describe("counting native decisions", () => {
  it("upperBound_isThatOfClopperAndPearson", () => {
    // Without events: 1 - 0.05^(1/n). With some: quantiles of the beta distribution, from tables.
    for (const trials of [1, 10, 1_000, 100_000])
      expect(upperBound(0, trials)).to.be.closeTo(1 - 0.05 ** (1 / trials), 1e-12);
    expect(upperBound(0, 100_000)).to.be.closeTo(3 / 100_000, 1e-7);
    expect(upperBound(1, 10)).to.be.closeTo(0.39416, 1e-5);
    expect(upperBound(5, 10)).to.be.closeTo(0.77756, 1e-5);
    expect(upperBound(10, 10)).to.equal(1);
    expect(upperBound(0, 0)).to.equal(1);
    expect(upperBound(500, 100_000)).to.be.closeTo(0.00539, 1e-5);
  });

  it("tally_countsEachSortOfAnswer", () => {
    const seen: Seen[] = [
      { kind: "native", differs: false },
      { kind: "native", differs: true },
      { kind: "thin", differs: true },
      { kind: "thin", differs: false },
      { kind: "outside", differs: false },
      { kind: "failed", differs: false },
    ];
    const counts = seen.reduce(withSeen, NO_COUNTS);
    expect(counts).to.deep.equal({ answers: 6, thin: 2, unanswered: 2, differing: 2, accepted: 1 });
    expect(boundsOf(counts).accepted).to.equal(upperBound(1, 6));
  });

  describe("files of tallies", () => {
    let folder: string;
    before(() => (folder = mkdtempSync(join(tmpdir(), "decisions-"))));
    after(() => rmSync(folder, { recursive: true }));

    it("resumedCount_endsLikeOneThatWasNotInterrupted", async () => {
      const file = join(folder, "tallies.json");
      const options = { seed: 3, search: 16 };
      const whole = await countDecisions(subject, { ...options, count: 60, before: undefined, save: () => undefined });
      await countDecisions(subject, {
        ...{ ...options, count: 25, before: undefined },
        save: (tally) => writeTallies(file, [tally]),
      });
      const [before] = readTallies(file) as [Tally];
      expect(before.answers).to.equal(25);
      const resumed = await countDecisions(subject, { ...options, count: 60, before, save: () => undefined });
      expect(resumed).to.deep.equal(whole);
      expect(resumed.accepted).to.equal(0);
    });

    it("tallyOfAnotherSeedOrRuntime_isNotResumed", async () => {
      const options = { seed: 3, search: 4, save: () => undefined };
      const before = await countDecisions(subject, { ...options, count: 1, before: undefined });
      for (const [other, message] of [
        [{ ...before, seed: 4 }, "--seed 4"],
        [{ ...before, runtime: "another" }, "another"],
      ] as const) {
        const failure = await countDecisions(subject, { ...options, count: 2, before: other }).then(
          () => "",
          (error: unknown) => (error as Error).message,
        );
        expect(failure).to.include(message);
      }
    });

    it("readTallies_refusesOtherFilesAndTakesAMissingOneAsEmpty", () => {
      const file = join(folder, "other.json");
      writeFileSync(file, JSON.stringify([{ model: "x" }]));
      expect(() => readTallies(file)).to.throw(/other\.json holds no tallies/);
      expect(readTallies(join(folder, "missing.json"))).to.deep.equal([]);
    });
  });

  it("atBoundary_endsOnBothSidesOneElementApart", async () => {
    const infos = [{ name: "x", dtype: DType.uint8, shape: [8] }];
    const sum = (numbers: InputNumbers): number => numbers[0]!.reduce((total, value) => total + value, 0);
    const isFar = (numbers: InputNumbers) => Promise.resolve(sum(numbers) >= 777);
    const [near, far] = await atBoundary([new Float64Array(8)], [new Float64Array(8).fill(255)], infos, isFar);
    expect([sum(near), sum(far)]).to.deep.equal([776, 777]);
  });

  it("cancelling_leavesOnlyRoundingInTheSums", () => {
    const prng = new Prng(1);
    const weights = Float32Array.from({ length: 4 * 32 }, () => prng.uint32() / 2 ** 31 - 1);
    const added = cancelling({ weights, sums: 4 }, 1e6, prng);
    expect(Math.max(...added.map(Math.abs))).to.equal(1e6);
    expect(added.filter((value) => value !== 0)).to.have.length(5);
    for (let sum = 0; sum < 4; sum++) {
      const products = added.map((value, k) => value * weights[sum * 32 + k]!);
      expect(Math.abs(products.reduce((total, value) => total + value, 0))).to.be.below(1);
    }
  });

  describe("attacks", () => {
    let opened: OpenedModel;
    before(async () => (opened = await subject.open()));
    after(() => opened.close());
    const options = { inputs: 60, seed: 2 };

    it("insideTheBox_nothingThatMarginsAcceptIsWrong", async () => {
      const errors = await calibratedErrors(subject, opened, 64, 1);
      const found = await attackInside(subject, opened, errors, options);
      expect(found.inputs).to.be.above(1);
      expect(found.accepted).to.equal(0);
    });

    it("runtimeThatIsOffByMoreThanItsCalibration_isAcceptedAtABoundary", async () => {
      const errors = await calibratedErrors(subject, opened, 0, 1);
      const native = alteredRuntime(opened.native, ({ deciding }) => {
        const { dims, data } = deciding.get("logits")!;
        const logits = Float32Array.from(data, (value, i) => (i === 0 ? value + 1e-3 : value));
        const best = logits.indexOf(Math.max(...logits));
        const outputs = [new Uint8Array(BigInt64Array.of(BigInt(best)).buffer)];
        return { outputs, deciding: new Map([["logits", { dims, data: logits }]]) };
      });
      const found = await attackInside(subject, { ...opened, native }, errors, options);
      expect(found.accepted).to.be.above(0);
      expect(found.error).to.be.above(16);
    });

    it("outsideTheBox_eachMagnitudeIsTried", async () => {
      const errors = await calibratedErrors(subject, opened, 0, 1);
      const rows = await attackOutside(subject, opened, errors, { tries: 4, seed: 2 });
      expect(rows!.map(({ magnitude }) => magnitude)).to.include(1e20);
      for (const { tries, differing, accepted } of rows!) {
        expect(differing).to.be.at.most(tries);
        expect(accepted).to.be.at.most(differing);
      }
    });
  });
});
