import { encodeDeployData, type Address, type PublicClient } from "viem";
import { ContractRevertError } from "../../chain/errors.ts";
import { DEFAULT_GRID_BLOCKS, DEFAULT_REPORT_LIFETIME } from "../../../ignition/defaults.ts";
import type { Parameters } from "../../chain/structs.ts";
import { translateError } from "../../chain/translateError.ts";
import { contractArtifact, type ContractName } from "../../chain/market/artifacts.ts";
import type { MarketPlan } from "./deployContracts.ts";
import { DeployParametersError } from "../../chain/market/errors.ts";

/** The constructor arguments of `Provisioning`. */
type DevicePlan = Pick<MarketPlan, "manufacturers" | "gridBlocks" | "reportLifetime">;

/** The errors of contracts/market/ParameterChecks.sol: what each says of which parameter. */
const MEANINGS: Record<string, (...values: string[]) => string> = {
  ArityOutOfRange: (given) => `arityBits ${given}: expected 1 to 6`,
  ZeroRate: () => "rate 0: expected terms a second",
  ZeroWork: () => "maxWork 0: expected terms",
  PriceCapOutOfRange: (given) => `priceCap ${given}: expected 1 to 2^48`,
  ZeroSink: () => "sink is the zero address: name an account without a key, or leave it out",
  WindowTooShort: (given, min) =>
    `a window of ${given} s (baseWindow, or maxWindow, which must hold baseWindow + maxWork / rate): ` +
    `expected at least ${min} s`,
  ClockTooShort: (given, min) => `baseClock ${given} s: expected at least ${min} s`,
  DurationTooLong: (given, max) =>
    `a duration of ${given} s (maxWork / rate, maxWindow or baseClock): expected at most ${max} s`,
  WithdrawalTooFast: (given, longest) =>
    `withdrawalDelay ${given} s: expected more than the longest dispute, ` +
    `maxWindow + 2 * (baseClock + 2 * maxWork / rate) = ${longest} s`,
  BondBelowGas: (given, min) => `bondGas ${given}: expected at least a worker's worst game, ${min}`,
  StepGasOutOfRange: (given, max) => `maxStepGas ${given}: expected 1 to ${max}`,
  StepBytesOutOfRange: (given, min, max) => `maxStepBytes ${given}: expected ${min} to ${max}`,
  CollateralTooSmall: (given, min) =>
    `collateral ${given}: expected at least bounty + (bondGas + a challenger's worst game) * priceCap = ${min}`,
  PenaltyOutOfRange: (given) => `penaltyBps ${given}: expected 1 to 10000`,
  PenaltyBelowGas: (given, min) =>
    `a penalty of ${given} (penaltyBps of the collateral): expected at least ${min}, 100,000 gas * priceCap`,
};

/** The errors of contracts/attestation/Provisioning.sol's constructor. */
const DEVICE_MEANINGS: typeof MEANINGS = {
  NoManufacturers: () => "no manufacturers: name those whose devices count, 1 to 32",
  TooManyManufacturers: (given, max) => `${given} manufacturers: expected 1 to ${max}`,
  ZeroManufacturer: () =>
    "a manufacturer's id is zero: expected the ids that refute device stand-in-manufacturer prints",
  ManufacturerTwice: (id) => `manufacturer ${id} is named twice`,
  GridOutOfRange: (given, max) => `gridBlocks ${given}: expected 1 to ${max}`,
  LifetimeOutOfRange: (given, max) => `reportLifetime ${given} s: expected 1 to ${max}`,
  NoP256Precompile: () =>
    "the network's precompile at 0x100 does not tell good P-256 signatures from bad ones (EIP-7951)",
  NoBlockHashes: () => "the network does not give the hashes of its last blocks (BLOCKHASH), which devices sign over",
};

/** An address without a contract: the market's constructor reads the address only after all parameters pass. */
const NOWHERE: Address = `0x${"1".repeat(40)}`;

/**
 * Has the market's own constructor check the parameters, by a call that costs nothing.
 * @throws DeployParametersError that names the parameter, RpcUnavailableError
 */
export async function checkParameters(publicClient: PublicClient, account: Address, parameters: Parameters) {
  // The constructor's later calls fail because no vault and no game exist at the address.
  await construct(publicClient, account, "JobMarket", [NOWHERE, NOWHERE, NOWHERE, parameters], MEANINGS);
}

/**
 * Calls the constructor of `Provisioning`, without cost, to check the constructor's arguments and the network.
 * @throws DeployParametersError that names the error, RpcUnavailableError
 */
export async function checkDevices(
  publicClient: PublicClient,
  account: Address,
  { manufacturers, gridBlocks = DEFAULT_GRID_BLOCKS, reportLifetime = DEFAULT_REPORT_LIFETIME }: DevicePlan,
) {
  const given = [manufacturers, BigInt(gridBlocks), BigInt(reportLifetime)];
  await construct(publicClient, account, "Provisioning", given, DEVICE_MEANINGS);
}

async function construct(
  publicClient: PublicClient,
  account: Address,
  name: ContractName,
  args: readonly unknown[],
  meanings: typeof MEANINGS,
): Promise<void> {
  const { abi, bytecode } = contractArtifact(name);
  const data = encodeDeployData({ abi, bytecode, args });
  try {
    await publicClient.call({ account, data });
  } catch (error) {
    const translated = translateError(error, "checking the parameters");
    if (translated instanceof ContractRevertError) {
      const meaning = meanings[translated.errorName];
      if (meaning === undefined) return;
      throw new DeployParametersError(`what is to be deployed is refused: ${meaning(...translated.args.map(String))}`, {
        cause: error,
      });
    }
    throw translated;
  }
}
