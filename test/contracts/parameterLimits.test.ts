import { expect } from "chai";
import type { Parameters } from "../../src/chain/types.ts";
import { useWorld } from "../../test-support/protocol/useWorld.ts";
import { ETHER, PARAMETERS } from "../../test-support/protocol/world.ts";

const YEAR = 365 * 86_400;

describe("Deployment at the limits of its parameters", () => {
  const world = useWorld();

  async function deploy(changes: Partial<Parameters>): Promise<string> {
    const { viem, token, provisioning, verifier } = world();
    const parameters = { ...PARAMETERS, ...changes };
    return viem.deployContract("JobMarket", [token.address, provisioning.address, verifier.address, parameters]).then(
      () => "deployed",
      (e: Error) => e.message,
    );
  }
  /** The second number of the error with which a deployment is refused. */
  async function leastOf(error: string, changes: Partial<Parameters>): Promise<bigint> {
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
    { rate: 1n, maxWork: 1n },
    { penaltyBps: 10_000 },
    // A penalty of 100,000 gas at the price cap, to the wei.
    { penaltyBps: 25, collateral: 2n * ETHER },
  ];
  for (const changes of LIMITS) {
    it(`deploy_${Object.entries(changes).join("_")}_accepted`, async () => {
      expect(await deploy(changes)).to.equal("deployed");
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

  it("deploy_bondOfTheWorstGamesGas_accepted_ofOneLess_reverts", async () => {
    const least = Number(await leastOf("BondBelowGas", { bondGas: 1 }));
    expect(await deploy({ bondGas: least })).to.equal("deployed");
    expect(await deploy({ bondGas: least - 1 })).to.include("BondBelowGas");
  });

  it("deploy_collateralOfTheWorstGamesMoney_accepted_ofOneWeiLess_reverts", async () => {
    const least = await leastOf("CollateralTooSmall", { collateral: 1n });
    expect(await deploy({ collateral: least })).to.equal("deployed");
    expect(await deploy({ collateral: least - 1n })).to.include("CollateralTooSmall");
    // A bounty and the bond's gas are part of it.
    const { bounty, bondGas, priceCap } = PARAMETERS;
    expect(await leastOf("CollateralTooSmall", { collateral: 1n, bounty: bounty + 5n })).to.equal(least + 5n);
    expect(await leastOf("CollateralTooSmall", { collateral: 1n, bondGas: bondGas + 2 })).to.equal(
      least + 2n * priceCap,
    );
    const dearer = await leastOf("CollateralTooSmall", { collateral: 1n, maxStepGas: PARAMETERS.maxStepGas - 3 });
    expect(dearer).to.equal(least - 3n * priceCap);
  });
});
