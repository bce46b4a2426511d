import { createHash } from "node:crypto";
import { concat, erc20Abi, formatEther, toFunctionSelector, type Address, type Hex, type PublicClient } from "viem";
import { ContractRevertError } from "../../chain/errors.ts";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import { translateError } from "../../chain/translateError.ts";
import { generateKey, signMessage } from "../../attestation/keys.ts";
import { immutablesOf } from "./compareCode.ts";
import { deploymentGas } from "./deploymentGas.ts";
import { DeployRefusedError } from "./errors.ts";

/** EIP-7951, RIP-7212. */
const P256_VERIFY: Address = "0x0000000000000000000000000000000000000100";

/** Creation code that returns CLZ(1) = 255 (EIP-7939): PUSH1 1, CLZ, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN. */
const CLZ_CODE: Hex = "0x60011e5f5260205ff3";

/** EIP-7825: gas for the largest transaction that the protocol may need. */
const TRANSACTION_GAS = 2n ** 24n;
const DECIMALS = 18;

/** Maximum covered price, in percent of the current price: prices may rise before the last transaction is mined. */
const COVERED_PERCENT = 150n;

/** The facts about a network fit for a deployment. Amounts in wei. */
type NetworkFacts = {
  symbol: string;
  gasPrice: bigint;
  balance: bigint;
  /** The maximum cost of the deployment, with a margin for a rising price. */
  cost: bigint;
  gas: number;
};

/** The network and the accounts to check before a deployment. */
type NetworkNeeds = {
  publicClient: PublicClient;
  account: Address;
  /** The wrapped native token. */
  asset: Address;
  /** A step verifier that is there already; without it, one is deployed too. */
  verifier?: Address | undefined;
};

/**
 * Checks, without cost, that a network, a stake asset and an account are fit for a deployment.
 * @throws DeployRefusedError that names the missing part and the remedy, RpcUnavailableError
 */
export async function checkNetwork({ publicClient, account, asset, verifier }: NetworkNeeds): Promise<NetworkFacts> {
  try {
    await requireOsaka(publicClient);
    await requireP256(publicClient);
    await requireFeeMarket(publicClient);
    const symbol = await requireAsset(publicClient, asset);
    if (verifier !== undefined) await requireVerifier(publicClient, verifier);
    const [gasPrice, balance] = [await gasPriceNow(publicClient), await publicClient.getBalance({ address: account })];
    const gas = deploymentGas(verifier === undefined);
    const cost = (BigInt(gas) * gasPrice * COVERED_PERCENT) / 100n;
    if (balance < cost)
      throw new DeployRefusedError(
        `${account} holds ${formatEther(balance)} of the native token; the deployment may take ${formatEther(cost)} ` +
          `(${gas} gas at ${gasPrice} wei and half as much again): fund the account`,
      );
    await requireWraps(publicClient, account, asset);
    return { symbol, gasPrice, balance, cost, gas };
  } catch (error) {
    throw translateError(error, "checking the network");
  }
}

/** A call's answer; nothing if the chain refuses it. */
async function answerOf(
  publicClient: PublicClient,
  call: Parameters<PublicClient["call"]>[0],
): Promise<Hex | undefined> {
  try {
    return (await publicClient.call(call)).data;
  } catch (error) {
    if (translateError(error, "checking the network").constructor === Error) return undefined;
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Nodes report an unknown opcode in many different words: every error except an outage counts as a refusal. */
const isRefusal = (error: unknown): boolean => {
  const translated = translateError(error, "");
  return translated instanceof ContractRevertError || !("retryable" in translated && translated.retryable === true);
};

async function requireOsaka(publicClient: PublicClient): Promise<void> {
  const answer = await answerOf(publicClient, { data: CLZ_CODE });
  if (answer !== undefined && BigInt(answer) === 255n) return;
  throw new DeployRefusedError(
    "the network does not know Osaka's opcodes (CLZ, EIP-7939), which the contracts need: wait for its next fork",
  );
}

async function requireP256(publicClient: PublicClient): Promise<void> {
  const key = generateKey();
  const message = new TextEncoder().encode("refute deploy");
  const { r, s } = signMessage(key, message);
  const digest: Hex = `0x${createHash("sha256").update(message).digest("hex")}`;
  const answer = await answerOf(publicClient, { to: P256_VERIFY, data: concat([digest, r, s, key.x, key.y]) });
  if (answer !== undefined && answer !== "0x" && BigInt(answer) === 1n) return;
  throw new DeployRefusedError(
    `the network has no P-256 precompile at ${P256_VERIFY} (EIP-7951), with which devices' signatures are checked`,
  );
}

async function requireFeeMarket(publicClient: PublicClient): Promise<void> {
  const { baseFeePerGas, gasLimit } = await publicClient.getBlock();
  if (baseFeePerGas === null || baseFeePerGas === undefined)
    throw new DeployRefusedError("the network's blocks have no base fee (EIP-1559), at which moves are repaid");
  if (gasLimit < TRANSACTION_GAS)
    throw new DeployRefusedError(
      `the network's blocks take ${gasLimit} gas; a step proof may need a transaction of ${TRANSACTION_GAS}`,
    );
}

async function requireCode(publicClient: PublicClient, address: Address, what: string): Promise<void> {
  const code = await publicClient.getCode({ address });
  if (code === undefined || code === "0x") throw new DeployRefusedError(`${what} ${address}: no contract there`);
}

async function requireVerifier(publicClient: PublicClient, verifier: Address): Promise<void> {
  await requireCode(publicClient, verifier, "--verifier");
  if ((await immutablesOf(publicClient, "StepVerifier", verifier)) !== undefined) return;
  throw new DeployRefusedError(
    `--verifier ${verifier}: its code is not that of this package's StepVerifier. Leave the flag out to deploy one`,
  );
}

/** @returns The asset's symbol */
async function requireAsset(publicClient: PublicClient, asset: Address): Promise<string> {
  await requireCode(publicClient, asset, "--asset");
  const contract = { address: asset, abi: erc20Abi } as const;
  const decimals = await publicClient
    .readContract({ ...contract, functionName: "decimals" })
    .catch((error: unknown) => noToken(error, asset));
  if (decimals !== DECIMALS)
    throw new DeployRefusedError(
      `--asset ${asset} has ${decimals} decimals, not ${DECIMALS}: gas is repaid one smallest unit for one wei. ` +
        "Name the network's wrapped native token",
    );
  return publicClient.readContract({ ...contract, functionName: "symbol" }).catch(() => "(no symbol)");
}

function noToken(error: unknown, asset: Address): never {
  if (!isRefusal(error)) throw error;
  throw new DeployRefusedError(`--asset ${asset} has no decimals(): name the network's wrapped native token`);
}

/** Gas is paid in the native token and repaid in the asset: both must convert 1:1 into each other. */
async function requireWraps(publicClient: PublicClient, account: Address, asset: Address): Promise<void> {
  const call = { account, to: asset, data: toFunctionSelector("deposit()"), value: 1n };
  if (
    (await publicClient.call(call).then(
      () => true,
      (error: unknown) => notRefused(error),
    )) === true
  )
    return;
  throw new DeployRefusedError(
    `--asset ${asset} does not take the native token by deposit(): name the network's wrapped native token`,
  );
}

function notRefused(error: unknown): false {
  if (isRefusal(error)) return false;
  throw error;
}
