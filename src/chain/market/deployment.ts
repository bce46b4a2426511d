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
  const absent = `no contract at ${market}: is it the market's address on this chain?`;
  if (market === zeroAddress) throw new NotDeployedError(absent);
  return ofContract(
    async () => {
      if ((await publicClient.getCode({ address: market })) === undefined) throw new NotDeployedError(absent);
      const [facts, chainId] = await Promise.all([
        new JobMarketReader(market, { publicClient }).deployment(),
        publicClient.getChainId(),
      ]);
      const { semantics } = facts;
      if (semantics !== BigInt(SEMANTICS_VERSION)) throw new OtherSemanticsError(market, semantics, SEMANTICS_VERSION);
      // Files are named after the address, which therefore needs a unique form.
      return { chainId, market: getAddress(market), ...facts };
    },
    `the contract at ${market} is no job market of Refute, or one of semantics version 1, which this release of ` +
      `Refute does not play`,
  );
}

/**
 * Reads from a contract that may be absent, or another one. Only an answer says so, and the same answer some times: a
 * node that lags may lack the contract.
 * @param foreign What to say of a contract that reverts, or answers in another form.
 * @throws NotDeployedError, RpcUnavailableError, the Refute errors of `read`
 */
export async function ofContract<T>(read: () => Promise<T>, foreign: string): Promise<T> {
  for (let look = 1; ; look++) {
    try {
      return await read();
    } catch (error) {
      const translated = translateError(error, "reading the deployment");
      const isAbsent = translated instanceof NotDeployedError;
      if (!isAbsent && !(translated instanceof ContractRevertError) && !isGarbled(error)) throw translated;
      if (look === LOOKS) throw isAbsent ? translated : new NotDeployedError(foreign, { cause: error });
      await pause(LOOK_PAUSE_MS);
    }
  }
}
