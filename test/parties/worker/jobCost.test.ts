import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parseEther, type Hex } from "viem";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { coveringFee, jobGas, jobShape, missingGas, SEALED_GAS } from "../../../src/dispute/jobCost.ts";
import { chainProgram, honestTrace, int32Program, type GameProgram } from "../../../testkit/protocol/chainProgram.ts";
import { delivery, smallProgram } from "../../../testkit/protocol/marketKit.ts";
import { freeze } from "../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { createWorld, gasOf, postedJob, requestFor } from "../../../testkit/protocol/world.ts";
import { programShape } from "../../../src/dispute/run/execution.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

/** What the bound may be, as a multiple of what was burnt. */
const MAX = 1.2;
const CONSUMER = { takes: 0, reverts: 1, burnsAllItsGas: 2 } as const;
type Play = { callbackGas?: number; consumer?: keyof typeof CONSUMER; maxOutputBytes?: number };

/** A chain of sums of words of which hardly a byte is zero: such calldata is the dearest. */
function fullProgram(count: number, ranges: readonly number[], outputs?: readonly number[]): GameProgram {
  const { program, model } = chainProgram(count, ranges, outputs);
  const input = Int32Array.from({ length: count }, (_, k) => Math.imul(k + 1, 0x9e3779b1));
  return int32Program(program, model.constants, new Uint8Array(input.buffer));
}

/**
 * A worker that never had credit: what it is paid first fills a word of storage. The manufacturer of its device has
 * frozen other subjects, so a claim reads the statements.
 */
async function worldOfANewWorker(): Promise<World> {
  const world = await createWorld();
  const { vault, worker, manufacturer } = world;
  await freeze(world, manufacturer, { device: new TestDevice(manufacturer).id });
  await freeze(world, manufacturer, { firmware: `0x${"77".repeat(32)}` });
  const [credit] = await vault.read.accountOf([worker.account.address]);
  await vault.write.withdraw([credit, worker.account.address], { account: worker.account });
  return world;
}

describe("jobGas", function () {
  const world = useWorld(worldOfANewWorker);

  /** Plays a job whose deliveries are made, or which is only finalised, and compares each receipt with its bound. */
  async function play(of: GameProgram, { callbackGas = 0, consumer = "takes", maxOutputBytes = 65_536 }: Play = {}) {
    const { viem, market, vault, token, mallory, worker, networkHelpers, parameters } = world();
    const by = { account: worker.account };
    const request = await requestFor(world(), of, { callbackGas, maxOutputBytes, window: 3_600, claimSeconds: 600 });
    const requester = await viem.deployContract("ScriptedRequester", [market.address]);
    await token.write.mint([mallory.account.address, parseEther("1")]);
    await vault.write.deposit([requester.address, parseEther("1")], { account: mallory.account });
    await requester.write.setBehaviour([CONSUMER[consumer]]);
    const job = await postedJob(world(), await requester.write.post([request]));
    const trace = honestTrace(of);
    const claim = { job, worker: worker.account.address, root: trace.root, collateral: parameters.collateral };
    const burnt = async (sent: Promise<Hex>): Promise<number> => Number(await gasOf(world(), await sent));
    const claimed = await burnt(market.write.claim([job], by));
    const nodes = submissionOf(trace.list, parameters.arityBits);
    const submitted = await burnt(market.write.submit([job, nodes], by));
    await networkHelpers.time.increase(3_601);
    const bound = jobGas(
      jobShape(programShape(of), { callbackGas, maxOutputBytes, items: 1, answers: 0 }, parameters.arityBits),
    );
    const delivered: number[] = [];
    for (const k of maxOutputBytes === 0 ? [] : of.program.outputs.keys())
      delivered.push(await burnt(market.write.deliver([claim, delivery(of, k)], { ...by, gas: 16_777_216n })));
    const finalised = delivered.length === 0 ? [await burnt(market.write.finalise([claim], by))] : [];
    return [
      { name: "claim", gas: claimed, limit: bound.claim },
      { name: "submit", gas: submitted, limit: bound.submit },
      ...finalised.map((gas) => ({ name: "finalise", gas, limit: bound.finalise })),
      ...delivered.map((gas, k) => ({ name: `deliver ${k}`, gas, limit: bound.deliveries[k]! })),
      {
        name: "total",
        gas: [claimed, submitted, ...finalised, ...delivered].reduce((total, gas) => total + gas),
        limit: bound.total,
      },
    ];
  }

  const JOBS: readonly [string, GameProgram, Play?][] = [
    ["ofOneSmallOutput", fullProgram(8, [3])],
    ["of16Checkpoints", fullProgram(8, new Array<number>(16).fill(2))],
    ["of200Checkpoints", fullProgram(8, new Array<number>(200).fill(1))],
    ["ofSeveralOutputs", fullProgram(300, [3, 1, 2, 1, 1], [0, 1, 2, 3, 4])],
    ["ofALargeOutput", fullProgram(16_384, [1])],
    ["withoutADelivery", fullProgram(8, [3]), { maxOutputBytes: 0 }],
    [
      "whoseCallbacksBurnTheirGas",
      fullProgram(300, [3, 1], [0, 1]),
      { callbackGas: 500_000, consumer: "burnsAllItsGas" },
    ],
    [
      "whoseLargestCallbackBurnsItsGas",
      fullProgram(16_384, [1]),
      { callbackGas: 2_000_000, consumer: "burnsAllItsGas" },
    ],
  ];
  for (const [name, program, terms] of JOBS) {
    it(`job_${name}_burnsAtMostTheBound_whichIsAtMostAFifthMore`, async () => {
      for (const { name: transaction, gas, limit } of await play(program, terms)) {
        expect(limit, `${transaction} burnt ${gas}`).to.be.at.least(gas);
        expect(limit / gas, `${transaction} burnt ${gas}, bound ${limit}`).to.be.below(MAX);
      }
    });
  }

  for (const consumer of ["takes", "reverts"] as const) {
    it(`callback_that_${consumer}_burnsAtMostTheBound`, async () => {
      const played = await play(fullProgram(300, [3, 1], [0, 1]), { callbackGas: 500_000, consumer });
      for (const { name, gas, limit } of played) expect(limit, `${name} burnt ${gas}`).to.be.at.least(gas);
    });
  }
});

describe("SEALED_GAS", () => {
  it("coversWhatASeatOfAPanelBurns_byTheGoldenFile_andIsAtMostAFifthMore", () => {
    const golden = JSON.parse(readFileSync("test/golden/gas.json", "utf8")) as {
      panels: { transaction: string; gas: number }[];
    };
    const names = ["claimOnTerms, a seat", "seal", "openSeal"];
    const rows = golden.panels.filter(({ transaction }) => names.includes(transaction));
    expect(rows.length).to.equal(names.length);
    const burnt = rows.reduce((total, { gas }) => total + gas, 0);
    const terms = { callbackGas: 0, maxOutputBytes: 0, items: 1, answers: 0 };
    const { claim, submit } = jobGas(jobShape(programShape(smallProgram), terms, 4));
    const bound = claim + submit + SEALED_GAS;
    expect(bound).to.be.at.least(burnt);
    expect(bound / burnt).to.be.below(MAX);
  });
});

describe("coveringFee", () => {
  it("gasOfNoPrice_costsNothing_andAnyOther_halfAsMuchAgain_roundedUp", () => {
    expect(coveringFee({ total: 300_000 }, 0n)).to.equal(0n);
    expect(coveringFee({ total: 300_001 }, 1n)).to.equal(450_002n);
    expect(coveringFee({ total: 300_000 }, 10n ** 9n)).to.equal(450_000n * 10n ** 9n);
  });
});

describe("missingGas", () => {
  it("ofAllOutputs_isThatOfTheirDeliveries_ofSome_thatOfAJobWithThese_ofNone_nothing", () => {
    const shape = {
      headerBytes: 200,
      checkpoints: 4,
      items: 1,
      answers: 0,
      delivered: [4, 400, 4_000],
      callbackGas: 0,
      arityBits: 4,
    };
    const sum = (delivered: number[]): number => jobGas({ ...shape, delivered }).deliveries.reduce((a, b) => a + b, 0);
    expect(missingGas(shape, [1, 3, 5], [1, 3, 5])).to.equal(sum([4, 400, 4_000]));
    expect(missingGas(shape, [1, 3, 5], [3, 5])).to.equal(sum([400, 4_000]));
    expect(missingGas(shape, [1, 3, 5], [])).to.equal(0);
  });
});
