import { getAddress, zeroAddress, type Address, type PublicClient } from "viem";
import { JobMarketReader } from "../clients/jobMarket.ts";
import { ContractRevertError, NotDeployedError, OtherSemanticsError } from "../errors.ts";
import { pause } from "../pause.ts";
import { isGarbled, translateError } from "../translateError.ts";
import type { DeploymentFacts } from "../structs.ts";
import { SEMANTICS_VERSION } from "../../program/encode.ts";

/** A protocol deployment, according to its market. */
export type Deployment = DeploymentFacts & { chainId: number; market: Address };

/** How often a market is looked for that seems to be absent, and the pause between two looks. */
const LOOKS = 3;
const LOOK_PAUSE_MS = 300;

/**
 * Reads a deployment, starting from the market's address.
 * @throws NotDeployedError without a market at the address, OtherSemanticsError, RpcUnavailableError
 */
export async function readDeployment(publicClient: PublicClient, market: Address): Promise<Deployment> {
  for (let look = 1; ; look++) {
    try {
      return await lookAt(publicClient, market);
    } catch (error) {
      // A node that lags may lack the contract, or answer for another state.
      if (!(error instanceof NotDeployedError) || look === LOOKS || market === zeroAddress) throw error;
      await pause(LOOK_PAUSE_MS);
    }
  }
}

async function lookAt(publicClient: PublicClient, market: Address): Promise<Deployment> {
  try {
    const code = await publicClient.getCode({ address: market });
    if (market === zeroAddress || code === undefined) {
      throw new NotDeployedError(`no contract at ${market}: is it the market's address on this chain?`);
    }
    const [facts, chainId] = await Promise.all([
      new JobMarketReader(market, { publicClient }).deployment(),
      publicClient.getChainId(),
    ]);
    const { semantics } = facts;
    if (semantics !== BigInt(SEMANTICS_VERSION)) throw new OtherSemanticsError(market, semantics, SEMANTICS_VERSION);
    // Files are named after the address, which therefore needs a unique form.
    return { chainId, market: getAddress(market), ...facts };
  } catch (error) {
    const translated = translateError(error, "reading the deployment");
    // What a contract answers that is no market of Refute: it reverts, or its result is another one.
    const isForeign = translated instanceof ContractRevertError || isGarbled(error);
    if (!isForeign) throw translated;
    throw new NotDeployedError(
      `the contract at ${market} is no job market of Refute, or one of semantics version 1, which this release of ` +
        `Refute does not play`,
      { cause: error },
    );
  }
}
