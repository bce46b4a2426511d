import { expect } from "chai";
import type { Parameters } from "../../../src/chain/structs.ts";
import { deployMarket } from "../../../testkit/protocol/deployMarket.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { schedule } from "../../../testkit/protocol/schedule.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { ETHER, PARAMETERS } from "../../../testkit/protocol/deployWorld.ts";

const YEAR = 365 * 86_400;

describe("Deployment at the limits of its parameters", () => {
  const world = useWorld();

  async function deploy(changes: Partial<Parameters>): Promise<string> {
    const { viem, token, provisioning, checker } = world();
    const parameters = { ...PARAMETERS, ...changes };
    const on = { token: token.address, provisioning: provisioning.address, checker: checker.address };
    return refusalOf(deployMarket(viem, { ...on, parameters }));
  }
  /** The second number of the error with which a deployment is refused. */
  async function minimumOf(error: string, changes: Partial<Parameters>): Promise<bigint> {
    const message = await deploy(changes);
    const found = new RegExp(`${error}\\(\\d+, (\\d+)\\)`).exec(message);
    expect(found, message).to.not.equal(null);
    return BigInt(found![1]!);
  }

  // 1e12 of work at 1e8 a second: 10,000 seconds.
  const LIMITS: Partial<Parameters>[] = [
    { arityBits: 1, bondGas: 4_000_000 },
    { arityBits: 6, bondGas: 4_000_000 },
    { priceCap: 1n, bounty: 0n, collateral: 10n ** 12n },
    { priceCap: 2n ** 48n, collateral: 10n ** 24n },
    { baseWindow: 12 },
    { maxWindow: 11_800 },
    { maxWindow: YEAR, withdrawalDelay: YEAR + 47_201 },
    { baseClock: 72 },
    { baseClock: YEAR, withdrawalDelay: 86_400 + 2 * (YEAR + 20_000) + 1 },
    { withdrawalDelay: 133_601 },
    { maxStepGas: 1 },
    { maxStepGas: 12_000_000 },
    { maxStepBytes: 90_000 },
    { maxStepBytes: 131_072 },
    { rate: 1n, maxWork: 1n },
    { penaltyBps: 10_000 },
    // A penalty of 100,000 gas at the price cap, to the wei.
    { penaltyBps: 25, collateral: 2n * ETHER },
  ];
  for (const changes of LIMITS) {
    it(`deploy_${Object.entries(changes).join("_")}_accepted`, async () => {
      expect(await deploy(changes)).to.equal("accepted");
    });
  }

  it("deploy_oneSecondOrWeiPastALimit_reverts", async () => {
    for (const [changes, error] of [
      [{ maxWindow: YEAR, withdrawalDelay: YEAR + 47_200 }, "WithdrawalTooFast"],
      [{ maxWindow: YEAR + 1, withdrawalDelay: YEAR + 100_000 }, "DurationTooLong"],
      [{ baseClock: YEAR + 1, withdrawalDelay: 3 * YEAR }, "DurationTooLong"],
      [{ rate: 1n, maxWork: BigInt(YEAR) + 1n }, "DurationTooLong"],
      [{ penaltyBps: 25, collateral: 2n * ETHER - 1n }, "PenaltyBelowGas"],
    ] as const) {
      expect(await deploy(changes), JSON.stringify(Object.entries(changes).join())).to.include(error);
    }
  });

  // Lists of 16, 12, 12 and 20 levels in hops of k: reveals of 2^k children, two of them by expansions, and a pick for
  // each.
  for (const [arityBits, reveals, picks] of [
    [1, 58n, 60n],
    [2, 28n, 30n],
    [3, 19n, 21n],
    [4, 13n, 15n],
    [5, 12n, 14n],
    [6, 9n, 11n],
  ] as const) {
    it(`leastBondAndCollateral_ofArity2^${arityBits}_payTheLongestGameMoveByMove`, async () => {
      const [level, child] = [schedule("LEVEL"), schedule("CHILD")];
      const children = child * 2n ** BigInt(arityBits);
      const worker =
        reveals * (schedule("REVEAL") + children) +
        // Of an output, with the paths of a checkpoint and of its item; of a range.
        (schedule("EXPAND") + children + 28n * level) +
        (schedule("EXPAND") + children + 12n * level) +
        schedule("CHUNK") +
        schedule("TIMEOUT");
      const bondGas = await minimumOf("BondBelowGas", { arityBits, bondGas: 1 });
      expect(bondGas).to.equal(worker);
      // At the output, one of 16; into the interior and into the tensor, each with two openings in the program's lists
      // of 24 levels.
      const seams = 3n * (schedule("SEAM") + 2_048n * schedule("HEADER_BYTE")) + 2n * 48n * level;
      const own = schedule("OPEN") + schedule("SETTLE") + picks * schedule("PICK") + 64n * level + seams;
      const { maxStepGas, bounty, priceCap } = PARAMETERS;
      const challenger = own + BigInt(maxStepGas) + schedule("PROVE_MARGIN");
      const changes = { arityBits, bondGas: Number(bondGas), collateral: 1n };
      expect(await minimumOf("CollateralTooSmall", changes)).to.equal(bounty + (worker + challenger) * priceCap);
    });
  }

  it("deploy_bondOfTheWorstGamesGas_accepted_ofOneLess_reverts", async () => {
    const minimum = Number(await minimumOf("BondBelowGas", { bondGas: 1 }));
    expect(await deploy({ bondGas: minimum })).to.equal("accepted");
    expect(await deploy({ bondGas: minimum - 1 })).to.include("BondBelowGas");
  });

  it("deploy_collateralOfTheWorstGamesMoney_accepted_ofOneWeiLess_reverts", async () => {
    const minimum = await minimumOf("CollateralTooSmall", { collateral: 1n });
    expect(await deploy({ collateral: minimum })).to.equal("accepted");
    expect(await deploy({ collateral: minimum - 1n })).to.include("CollateralTooSmall");
    // A bounty and the bond's gas are part of it.
    const { bounty, bondGas, priceCap } = PARAMETERS;
    expect(await minimumOf("CollateralTooSmall", { collateral: 1n, bounty: bounty + 5n })).to.equal(minimum + 5n);
    expect(await minimumOf("CollateralTooSmall", { collateral: 1n, bondGas: bondGas + 2 })).to.equal(
      minimum + 2n * priceCap,
    );
    const dearer = await minimumOf("CollateralTooSmall", { collateral: 1n, maxStepGas: PARAMETERS.maxStepGas - 3 });
    expect(dearer).to.equal(minimum - 3n * priceCap);
  });
});
