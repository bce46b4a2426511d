import { expect } from "chai";
import { network } from "hardhat";
import { zeroAddress } from "viem";
import type { Parameters } from "../../../src/chain/structs.ts";
import refuteModule from "../../../ignition/modules/Refute.ts";
import { deployMarket } from "../../../testkit/protocol/deployMarket.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { PARAMETERS } from "../../../testkit/protocol/deployWorld.ts";

describe("Deployment", () => {
  const world = useWorld();

  const REFUSED: [string, Partial<Parameters>][] = [
    ["ArityOutOfRange", { arityBits: 0 }],
    ["ArityOutOfRange", { arityBits: 7 }],
    ["ZeroRate", { rate: 0n }],
    ["ZeroWork", { maxWork: 0n }],
    ["PriceCapOutOfRange", { priceCap: 0n }],
    ["ZeroSink", { sink: zeroAddress }],
    ["DurationTooLong", { rate: 1n }],
    ["DurationTooLong", { maxWindow: 400 * 86_400 }],
    ["DurationTooLong", { baseClock: 400 * 86_400 }],
    ["WindowTooShort", { baseWindow: 11 }],
    ["WindowTooShort", { maxWindow: 11_799 }],
    ["ClockTooShort", { baseClock: 71 }],
    ["WithdrawalTooFast", { withdrawalDelay: 133_600 }],
    ["StepGasOutOfRange", { maxStepGas: 12_000_001 }],
    ["StepGasOutOfRange", { maxStepGas: 0 }],
    ["StepBytesOutOfRange", { maxStepBytes: 131_073 }],
    ["StepBytesOutOfRange", { maxStepBytes: 89_999 }],
    ["BondBelowGas", { bondGas: 1_219_299 }],
    ["BondBelowGas", { arityBits: 1 }],
    ["CollateralTooSmall", { collateral: PARAMETERS.collateral / 3n }],
    ["PriceCapOutOfRange", { priceCap: 2n ** 48n + 1n, collateral: 10n ** 24n }],
    ["PenaltyBelowGas", { penaltyBps: 27 }],
    ["PenaltyOutOfRange", { penaltyBps: 0 }],
    ["PenaltyOutOfRange", { penaltyBps: 10_001 }],
  ];
  for (const [name, changes] of REFUSED) {
    it(`deploy_${Object.entries(changes).join("_")}_reverts_${name}`, async () => {
      const { viem, token, provisioning, checker, market } = world();
      const deployed = deployMarket(viem, {
        token: token.address,
        provisioning: provisioning.address,
        checker: checker.address,
        parameters: { ...PARAMETERS, ...changes },
      });
      await viem.assertions.revertWithCustomError(deployed, market, name as never);
    });
  }

  it("deploy_fitsATransactionAndTheCodeLimit", async () => {
    const { client, market, vault, game, checker } = world();
    for (const { address } of [market, vault, game, checker]) {
      expect((await client.getCode({ address }))!.length / 2 - 1).to.be.lessThan(24_576);
    }
    expect(await vault.read.market()).to.equal(await game.read.market());
  });

  it("ignition_defaults_deployAndKnowEachOther", async () => {
    const { ignition, viem } = await network.create();
    const asset = await viem.deployContract("TestToken");
    const elementary = await viem.deployContract("Elementary");
    const stepVerifier = await viem.deployContract("StepVerifier", [elementary.address]);
    const { market, vault, game, provisioning } = await ignition.deploy(refuteModule, {
      parameters: {
        Refute: { asset: asset.address, verifier: stepVerifier.address, manufacturers: [`0x${"34".repeat(32)}`] },
      },
    });
    expect(await vault.read.market()).to.equal(await game.read.market());
    expect(((await market.read.vault()) as string).toLowerCase()).to.equal(vault.address.toLowerCase());
    expect(((await vault.read.provisioning()) as string).toLowerCase()).to.equal(provisioning.address.toLowerCase());
  });
});
