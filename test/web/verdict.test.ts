import { expect } from "chai";
import { Level, Move, Outcome, Side } from "../../src/chain/structs.ts";
import { emptyHistory, type ClaimRecord, type GameRecord, type JobRecord } from "../../src/chain/market/history.ts";
import { Op } from "../../src/program/operations.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { mlpProgram } from "../../testkit/models/mlp.ts";
import { formulaOf } from "../../web/explorer/formula.ts";
import { movesOf } from "../../web/explorer/moves.ts";
import { chainText, placeOf } from "../../web/explorer/chains.ts";
import { claimPhase, gamePhase, jobPhase } from "../../web/explorer/phases.ts";
import { atStake, searchJobs } from "../../web/explorer/search.ts";
import { mayClaim } from "../../web/explorer/standing.ts";
import { describe as describeIn, factsIn, programName, tensorsOf } from "../../web/explorer/values.ts";
import { verdictOf } from "../../web/explorer/verdict.ts";

const HASH = `0x${"00".repeat(32)}` as const;
const WORKER = `0x${"90".repeat(20)}` as const;
const CHALLENGER = `0x${"11".repeat(20)}` as const;
const money = (units: bigint): string => `${units} WETH`;

const game = (more: Partial<GameRecord> = {}): GameRecord =>
  ({
    ...{ id: `0x${"ab".repeat(32)}`, claimId: HASH, challenger: CHALLENGER },
    moves: [
      {
        move: Move.open,
        state: { level: Level.tensor, turn: Side.worker, workerSeconds: 70, challengerSeconds: 90, since: 1_000 },
        data: "0x",
        transactionHash: HASH,
      },
    ],
    ...more,
  }) as unknown as GameRecord;

const claimOf = (more: object = {}): ClaimRecord =>
  ({
    ...{ id: HASH, jobId: HASH, claim: { worker: WORKER, collateral: 18n }, windowEnd: 2_000n, games: [] },
    ...{ finalised: false, refuted: false, accepted: false, delivered: new Map() },
    ...more,
  }) as unknown as ClaimRecord;

const closed = (outcome: Outcome): Partial<GameRecord> => ({
  closed: { outcome, paid: 1n, transactionHash: HASH, blockNumber: 1n },
});

describe("web: what became of a dispute", () => {
  it("whoWasWrong_aboutWhat_isSaidInASentence", () => {
    const proved = { step: 10, element: 0n, claimed: 1n, exact: 2n };
    const won = game({ ...closed(Outcome.challengerWon), proved });
    expect(verdictOf(won, claimOf(), 0n, money, { claimed: "5e-38", exact: "0.266735" })).to.equal(
      "Worker 0x909090…9090 claimed 5e-38 for number 0 of step 10; the chain computed 0.266735. It lost 18 WETH.",
    );
    // Without the call that proved it, the bits are shown.
    expect(verdictOf(won, claimOf(), 0n, money))
      .to.include("claimed 0x1")
      .and.include("computed 0x2");
  });

  it("ofARun_theItemIsNamed", () => {
    const [move] = game().moves;
    const moves = [Level.run, Level.tensor].map((level) => ({ ...move!, state: { ...move!.state, level, item: 13 } }));
    const proved = { step: 0, element: 200n, claimed: 1n, exact: 2n };
    expect(verdictOf(game({ ...closed(Outcome.challengerWon), proved, moves }), claimOf(), 0n, money)).to.include(
      "for number 200 of step 0 of item 13; the chain computed",
    );
  });

  it("everyOtherEnd_hasItsSentence", () => {
    const texts = [Outcome.challengerWon, Outcome.workerWon, Outcome.settled].map((outcome) =>
      verdictOf(game(closed(outcome)), claimOf(), 0n, money),
    );
    expect(texts[0]).to.include("the claim is refuted. It lost 18 WETH");
    expect(texts[1]).to.include("the claim held");
    expect(texts[2]).to.include("settled");
    expect(new Set(texts).size).to.equal(3);
  });

  it("whoIsToMove_isSaid_andWhenTheTimeIsOver", () => {
    expect(verdictOf(game(), claimOf(), 1_010n, money)).to.equal(
      "In dispute: the worker is to move, and has 1:00 left.",
    );
    expect(verdictOf(game(), claimOf(), 2_000n, money)).to.include("let its time pass");
  });

  it("singularsAreSingular", () => {
    const state = { level: Level.tensor, turn: Side.worker, index: 0, depth: 0, width: 1, step: 3 };
    const moves = [{ move: Move.pick, state, data: "0x", transactionHash: HASH }] as unknown as GameRecord["moves"];
    expect(movesOf(game({ moves }))[0]!.text).to.equal("disputes the tensor of step 3, 1 chunk");
  });
});

describe("web: places of a chain", () => {
  it("areLinked_whereASiteIsKnown", () => {
    expect(placeOf(1, "tx", "0x12")).to.equal("https://etherscan.io/tx/0x12");
    expect(placeOf(31_337, "address", "0x12")).to.equal(undefined);
    expect(chainText(8_453)).to.equal("Base (8453)");
    expect(chainText(31_337)).to.equal("31337");
  });
});

describe("web: formulas", () => {
  const of = (code: [op: number, a: number, b?: number, c?: number][], slots: string[]) =>
    formulaOf(
      code.map(([op, a, b = 0, c = 0]) => ({ op: op as Op, dtype: DType.float32, a, b, c })),
      slots,
      slots.length + code.length - 1,
      [7],
    );

  it("areWrittenAsPeopleDo", () => {
    expect(of([[Op.div, 0, 1]], ["1", "3.75"])).to.equal("1 / 3.75");
    const relu = of(
      [
        [Op.add, 0, 1],
        [Op.max, 3, 2],
      ],
      ["sum", "0.5", "0"],
    );
    expect(relu).to.equal("max(sum + 0.5, 0)");
    const nested = of(
      [
        [Op.sub, 0, 1],
        [Op.mul, 3, 2],
        [Op.div, 4, 3],
      ],
      ["a", "-1", "c"],
    );
    expect(nested).to.equal("(a − (-1)) × c / (a − (-1))");
    expect(of([[Op.select, 0, 1, 2]], ["true", "1", "2"])).to.equal("true ? 1 : 2");
    expect(of([[Op.digit, 0]], [])).to.equal("7");
    expect(of([[Op.cast, 0, DType.int64]], ["1.5"])).to.equal("int64(1.5)");
  });

  it("whatIsNoFormula_orTooLongForOne_isNotWritten", () => {
    expect(formulaOf([], ["1"], 0, [])).to.equal(undefined);
    const doubling = Array.from({ length: 64 }, (_, k): [number, number, number] => [Op.add, k, k]);
    expect(of(doubling, ["x"])).to.equal(undefined);
  });
});

describe("web: jobs of a market", () => {
  const jobOf = (id: string, more: object = {}): JobRecord =>
    ({
      ...{ id, claims: [], open: false, holder: undefined, closed: false, sealed: undefined },
      job: { requester: CHALLENGER, programRoot: `0x${"77".repeat(32)}` },
      ...more,
    }) as unknown as JobRecord;
  const disputed = claimOf({ games: [game()] });
  const history = {
    ...emptyHistory(),
    jobs: new Map(
      [
        jobOf("0xaa01", { open: true }),
        jobOf("0xaa02", { claims: [claimOf({ finalised: true })] }),
        jobOf("0xbb03", { claims: [claimOf({ refuted: true }), disputed] }),
      ].map((job) => [job.id, job]),
    ),
    claims: new Map([[HASH, disputed] as const]),
  };
  const found = (text: string, filter: Parameters<typeof searchJobs>[2]): string[] =>
    searchJobs(history, text, filter).map(({ id }) => id);

  it("areFoundByIds_addressesAndPrograms", () => {
    expect(found("", "all")).to.deep.equal(["0xbb03", "0xaa02", "0xaa01"]);
    expect(found(" 0xAA", "all")).to.deep.equal(["0xaa02", "0xaa01"]);
    expect(found("0x9090", "all")).to.deep.equal(["0xbb03", "0xaa02"]);
    expect(found("0x7777", "all")).to.have.length(3);
    expect(found("0xabab", "all")).to.deep.equal(["0xbb03"]);
    expect(found("<img>", "all")).to.deep.equal([]);
  });

  it("areChosenByWhatBecameOfThem", () => {
    expect(found("", "open")).to.deep.equal(["0xaa01"]);
    expect(found("", "final")).to.deep.equal(["0xaa02"]);
    expect(found("", "refuted")).to.deep.equal(["0xbb03"]);
    expect(found("", "disputed")).to.deep.equal(["0xbb03"]);
    expect(found("", "claimed")).to.deep.equal(["0xbb03"]);
  });

  it("whatIsAtStake_isBehindClaimsThatAreNotOver", () => {
    expect(atStake(history)).to.equal(18n);
    expect(atStake({ claims: new Map([[HASH, claimOf({ refuted: true })]]) })).to.equal(0n);
  });

  it("finalOpenAndRefuted_haveColoursOfTheirOwn", () => {
    const weights = [
      jobPhase(jobOf("0x", { open: true }), 0n),
      claimPhase(claimOf({ finalised: true }), 0n),
      claimPhase(claimOf({ refuted: true }), 0n),
      gamePhase(game()),
      jobPhase(jobOf("0x", { closed: true }), 0n),
    ].map(({ weight }) => weight);
    expect(weights).to.deep.equal(["waiting", "good", "lost", "loud", "plain"]);
  });

  it("workerWithoutFreeStake_mayNotClaim", () => {
    const standing = { live: true, staked: 18n, locked: 0n };
    expect(mayClaim(standing, 18n)).to.equal("yes");
    expect(mayClaim({ ...standing, staked: 0n }, 18n)).to.equal("no: no stake");
    expect(mayClaim({ ...standing, staked: 17n }, 18n)).to.equal("no: too little stake");
    expect(mayClaim({ ...standing, locked: 1n }, 18n)).to.equal("no: its stake backs other claims");
    expect(mayClaim({ ...standing, live: false }, 18n)).to.equal("no: not attested");
  });
});

describe("web: a program's description", () => {
  it("namesWhatARootOnlyCounts", () => {
    const description = describeProgram(mlpProgram());
    const { programRoot, header, stepsRoot, checkpointsRoot } = description;
    const record = {
      job: { programRoot, rootOnly: false, items: 1 },
      program: { header, stepsRoot, checkpointsRoot },
      ...{ parts: new Map(), alike: [], inputRoots: [] },
      claims: [claimOf({ delivered: new Map([[0, `0x${"0000803f".repeat(10)}`]]) })],
    } as unknown as JobRecord;
    expect(tensorsOf(record).outputs[0]).to.deep.include({ name: "output 0", count: 10, type: "float32[10]" });
    expect(tensorsOf(record).inputs[0]!.numbers).to.equal(undefined);
    expect(describeIn("mlp.program.json", JSON.stringify(description))).to.equal(programRoot);
    expect(programName(programRoot)).to.equal("mlp");
    const [output] = tensorsOf(record).outputs;
    expect(output).to.deep.include({ name: "y", type: "float32[1, 10]" });
    expect(output!.numbers).to.deep.equal(Array.from({ length: 10 }, () => "1"));
  });

  it("whatIsNone_isRefused_andBytesThatAreNoHeader_sayNothing", () => {
    expect(() => describeIn("x.json", "{}"))
      .to.throw()
      .with.property("code", "PROGRAM_DESCRIPTION");
    expect(factsIn({ program: { header: "0x1234", stepsRoot: HASH, checkpointsRoot: HASH } })).to.equal(undefined);
  });
});
