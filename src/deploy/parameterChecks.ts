import { encodeDeployData, type Address, type PublicClient } from "viem";
import { ContractRevertError } from "../chain/errors.ts";
import type { Parameters } from "../chain/structs.ts";
import { translateError } from "../chain/translateError.ts";
import { contractArtifact } from "./artifacts.ts";
import { DeployParametersError } from "./errors.ts";

/** The errors of contracts/market/ParameterChecks.sol: what each says of which parameter. */
const MEANINGS: Record<string, (...values: string[]) => string> = {
  ArityOutOfRange: (given) => `arityBits ${given}: expected 1 to 6`,
  ZeroRate: () => "rate 0: expected terms a second",
  ZeroWork: () => "maxWork 0: expected terms",
  PriceCapOutOfRange: (given) => `priceCap ${given}: expected 1 to 2^48`,
  ZeroSink: () => "sink is the zero address: name an account without a key, or leave it out",
  WindowTooShort: (given, least) =>
    `a window of ${given} s (baseWindow, or maxWindow, which must hold baseWindow + maxWork / rate): ` +
    `expected at least ${least} s`,
  ClockTooShort: (given, least) => `baseClock ${given} s: expected at least ${least} s`,
  DurationTooLong: (given, most) =>
    `a duration of ${given} s (maxWork / rate, maxWindow or baseClock): expected at most ${most} s`,
  WithdrawalTooFast: (given, longest) =>
    `withdrawalDelay ${given} s: expected more than the longest dispute, ` +
    `maxWindow + 2 * (baseClock + 2 * maxWork / rate) = ${longest} s`,
  BondBelowGas: (given, least) => `bondGas ${given}: expected at least a worker's worst game, ${least}`,
  StepGasOutOfRange: (given, most) => `maxStepGas ${given}: expected 1 to ${most}`,
  StepBytesOutOfRange: (given, least, most) => `maxStepBytes ${given}: expected ${least} to ${most}`,
  CollateralTooSmall: (given, least) =>
    `collateral ${given}: expected at least bounty + (bondGas + a challenger's worst game) * priceCap = ${least}`,
  PenaltyOutOfRange: (given) => `penaltyBps ${given}: expected 1 to 10000`,
  PenaltyBelowGas: (given, least) =>
    `a penalty of ${given} (penaltyBps of the collateral): expected at least ${least}, 100,000 gas * priceCap`,
};

/** An address at which no contract is: the market's constructor gets there only with parameters that hold. */
const NOWHERE: Address = `0x${"1".repeat(40)}`;

/**
 * Has the market's own constructor check the parameters, by a call that costs nothing.
 * @throws DeployParametersError that names the parameter, RpcUnavailableError
 */
export async function checkParameters(publicClient: PublicClient, account: Address, parameters: Parameters) {
  const { abi, bytecode } = contractArtifact("JobMarket");
  const data = encodeDeployData({ abi, bytecode, args: [NOWHERE, NOWHERE, parameters] });
  try {
    await publicClient.call({ account, data });
  } catch (error) {
    const translated = translateError(error, "checking the parameters");
    if (translated instanceof ContractRevertError) {
      const meaning = MEANINGS[translated.errorName];
      // What lies behind the checks fails because the vault and the game are nowhere.
      if (meaning === undefined) return;
      throw new DeployParametersError(
        `the parameters contradict each other: ${meaning(...translated.args.map(String))}`,
        {
          cause: error,
        },
      );
    }
    throw translated;
  }
}
