import { artifacts, network } from "hardhat";
import { encodeDeployData } from "viem";
import { refuteModule } from "../../ignition/modules/Refute.ts";
import { verifierModule } from "../../ignition/modules/Verifier.ts";
import { wrappedEtherModule } from "../../ignition/modules/WrappedEther.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import type { ContractRevertError } from "../../src/chain/errors.ts";
import { MOVE_GAS } from "../../src/dispute/moveGas.ts";
import { translateError } from "../../src/chain/translateError.ts";
import type { Parameters } from "../../src/chain/structs.ts";
import { inEther, type Deployment } from "./model.ts";

/** The minimum amounts accepted by the contracts at deployment, for one arity. */
export type Bounds = {
  arityBits: number;
  worstWorker: number;
  worstChallenger: number;
  bond: number;
  collateral: number;
};

/** Levels of the longest expansion priced by the contracts: of an output, through a trace and a run. */
const LONGEST_EXPANSION = 28;

/** Returns the gas for a worker's dearest move and a challenger's cheapest move. */
function extremeMoves(arityBits: number): Pick<Deployment, "dearestMove" | "cheapestPick"> {
  const { expand, child, level, pick } = MOVE_GAS;
  return {
    dearestMove: expand + child * 2 ** arityBits + level * (LONGEST_EXPANSION - arityBits),
    cheapestPick: pick,
  };
}

/**
 * Reads the default deployment from the contracts on an embedded chain, and the bounds that they enforce from the
 * deployments that they refuse.
 */
export async function readDeployment(
  arities: readonly number[],
): Promise<{ deployment: Deployment; bounds: Bounds[] }> {
  const connection = await network.create();
  try {
    const { ignition, viem } = connection;
    const { asset } = await ignition.deploy(wrappedEtherModule);
    const { verifier } = await ignition.deploy(verifierModule);
    const { market, vault, game, extension } = await ignition.deploy(refuteModule, {
      parameters: {
        Refute: { asset: asset.address, verifier: verifier.address, manufacturers: [`0x${"34".repeat(32)}`] },
      },
    });
    const client = await viem.getPublicClient();
    const { abi, bytecode } = await artifacts.readArtifact("JobMarket");
    const read = { address: market.address, abi: jobMarketAbi, functionName: "deployment" } as const;
    const { parameters: given } = await client.readContract(read);

    /** Returns the bound from the error that refuses a deployment with the given parameters. */
    const minBy = async (parameters: Parameters): Promise<bigint> => {
      const args = [vault.address, game.address, extension.address, parameters] as const;
      const data = encodeDeployData({ abi, bytecode: bytecode, args });
      const refusal = await client.call({ data }).then(
        () => undefined,
        (error: unknown) => translateError(error, "JobMarket"),
      );
      return (refusal as ContractRevertError).args[1] as bigint;
    };
    const bounds: Bounds[] = [];
    for (const arityBits of arities) {
      const p = { ...given, arityBits };
      const worstWorker = await minBy({ ...p, bondGas: 1 });
      const bonded = { ...p, bondGas: Number(worstWorker), collateral: 1n };
      const collateral = await minBy(bonded);
      const worstChallenger = (collateral - p.bounty) / p.priceCap - worstWorker;
      bounds.push({
        arityBits,
        worstWorker: Number(worstWorker),
        worstChallenger: Number(worstChallenger),
        bond: inEther(worstWorker * p.priceCap),
        collateral: inEther(collateral),
      });
    }
    const own = bounds.find(({ arityBits }) => arityBits === given.arityBits)!;
    const deployment: Deployment = {
      arityBits: given.arityBits,
      baseWindow: given.baseWindow,
      baseClock: given.baseClock,
      rate: Number(given.rate),
      priceCap: inEther(given.priceCap),
      bond: inEther(BigInt(given.bondGas) * given.priceCap),
      bounty: inEther(given.bounty),
      collateral: inEther(given.collateral),
      penalty: inEther((given.collateral * BigInt(given.penaltyBps)) / 10_000n),
      worstWorker: own.worstWorker,
      worstChallenger: own.worstChallenger,
      ...extremeMoves(given.arityBits),
    };
    return { deployment, bounds };
  } finally {
    await connection.close();
  }
}
