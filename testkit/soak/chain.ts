import { network } from "hardhat";
import {
  decodeErrorResult,
  encodeFunctionData,
  parseEventLogs,
  toHex,
  type Abi,
  type Address,
  type Hex,
  type Log,
} from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import { errorsAbi } from "../../src/chain/abi/errors.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { stakeVaultAbi } from "../../src/chain/abi/stakeVault.ts";
import { emptyHistory, protocolAbi, takeEvent, type ProtocolEvent } from "../../src/chain/market/history.ts";
import type { Parameters } from "../../src/chain/structs.ts";
import { deployMarket } from "../protocol/deployMarket.ts";
import { ETHER, PARAMETERS } from "../protocol/deployWorld.ts";

/** A reverted transaction, with the error's name if the protocol defines the error. */
export class RevertedError extends Error {
  readonly functionName: string;
  readonly data: string;

  constructor(functionName: string, data: string) {
    super(`${functionName} reverted: ${data}`);
    this.functionName = functionName;
    this.data = data;
  }
}

/** A call of one of the protocol's contracts. */
export type SoakCall = { address: Address; abi: Abi; functionName: string; args: readonly unknown[] };

/** A transaction that was mined. */
type Sent = { cost: bigint; logs: Log[]; events: ProtocolEvent[] };

type Receipt = { logs: Log[]; gasUsed: Hex; effectiveGasPrice: Hex; blockNumber: Hex; status: Hex };
type Provider = { request: (request: { method: string; params?: unknown[] }) => Promise<unknown> };

/** 2033, unix seconds. */
const START = 2_000_000_000;
const TRANSACTION_GAS = toHex(16_777_216);

/**
 * An embedded chain with the protocol, driven by plain requests, because a full client would take the larger part of a
 * soak's time.
 */
export class SoakChain {
  /** All events, in the form that players read. */
  readonly history = emptyHistory();
  transactions = 0;
  largestGas = { gas: 0, move: "" };
  /** The latest block's time, unix seconds. */
  now = 0;

  readonly accounts: readonly Address[];
  readonly parameters: Parameters;
  readonly bond: bigint;
  readonly token: Address;
  readonly market: Address;
  readonly game: Address;
  readonly vault: Address;
  readonly provisioning: Address;
  readonly checker: Address;
  readonly chainId: number;
  readonly provider: Provider;
  readonly viem: Awaited<ReturnType<(typeof network)["create"]>>["viem"];
  readonly close: () => Promise<void>;

  private constructor(
    accounts: readonly Address[],
    parameters: Parameters,
    bond: bigint,
    token: Address,
    market: Address,
    game: Address,
    vault: Address,
    provisioning: Address,
    checker: Address,
    chainId: number,
    provider: Provider,
    viem: Awaited<ReturnType<(typeof network)["create"]>>["viem"],
    close: () => Promise<void>,
  ) {
    this.accounts = accounts;
    this.parameters = parameters;
    this.bond = bond;
    this.token = token;
    this.market = market;
    this.game = game;
    this.vault = vault;
    this.provisioning = provisioning;
    this.checker = checker;
    this.chainId = chainId;
    this.provider = provider;
    this.viem = viem;
    this.close = close;
  }

  /**
   * Deploys the protocol with the real verifier; everybody may stake.
   * @param arityBits log2 of the children in a reveal.
   */
  static async create(arityBits: number): Promise<SoakChain> {
    const connection = await network.create();
    const { viem, provider } = connection;
    const token = await viem.deployContract("TestToken");
    const provisioning = await viem.deployContract("OpenProvisioning");
    const elementary = await viem.deployContract("Elementary");
    const verifier = await viem.deployContract("StepVerifier", [elementary.address]);
    // With small reveals a game has many moves, and its bond prepays them all.
    const parameters = { ...PARAMETERS, arityBits, bondGas: arityBits === 1 ? 4_000_000 : 2_000_000 };
    const checker = await viem.deployContract("ProofChecker", [verifier.address]);
    const { market, game, vault } = await deployMarket(viem, {
      token: token.address,
      provisioning: provisioning.address,
      checker: checker.address,
      parameters,
    });
    const client = await viem.getPublicClient();
    const bond = BigInt(parameters.bondGas) * parameters.priceCap;
    const wallets = await viem.getWalletClients();
    const chain = new SoakChain(
      wallets.map(({ account }) => account.address),
      parameters,
      bond,
      token.address,
      market.address,
      game.address,
      vault.address,
      provisioning.address,
      checker.address,
      await client.getChainId(),
      provider,
      viem,
      () => connection.close(),
    );
    // A fixed date: the same seed gives the same blocks.
    chain.now = START;
    for (const account of chain.accounts) {
      await provider.request({ method: "hardhat_setBalance", params: [account, toHex(10n ** 9n * ETHER)] });
    }
    return chain;
  }

  /** Sets the next block's time, at least one second after the latest block. */
  at(time: number): void {
    if (time > this.now + 1) this.now = time - 1;
  }

  /**
   * Sends a transaction and mines it in a separate block.
   * @param baseFee The block's base fee, wei: the price per gas.
   * @returns The cost, wei, all logs, and the protocol's events. The history has taken the events too.
   * @throws RevertedError
   */
  async send(from: Address, call: SoakCall, baseFee: bigint): Promise<Sent> {
    const price = toHex(baseFee);
    await this.provider.request({ method: "evm_setNextBlockTimestamp", params: [toHex(this.now + 1)] });
    await this.provider.request({ method: "hardhat_setNextBlockBaseFeePerGas", params: [price] });
    const data = encodeFunctionData(call);
    const transaction = { from, to: call.address, data, gas: TRANSACTION_GAS, gasPrice: price };
    this.now++;
    this.transactions++;
    let hash: unknown;
    try {
      hash = await this.provider.request({ method: "eth_sendTransaction", params: [transaction] });
    } catch (error) {
      throw new RevertedError(call.functionName, revertText(error));
    }
    const { gasUsed, logs, events } = await this.#take(hash);
    const gas = Number(gasUsed);
    if (gas > this.largestGas.gas) this.largestGas = { gas, move: call.functionName };
    return { cost: BigInt(gas) * baseFee, logs, events };
  }

  /** Brings the history up to a transaction. */
  async #take(hash: unknown): Promise<Receipt & { events: ProtocolEvent[] }> {
    const receipt = (await this.provider.request({ method: "eth_getTransactionReceipt", params: [hash] })) as Receipt;
    const events = parseEventLogs({ abi: protocolAbi, logs: receipt.logs }) as unknown as ProtocolEvent[];
    for (const event of events) takeEvent(this.history, event);
    return { ...receipt, events };
  }

  /** Deploys another contract. */
  async deploy(name: string, args: readonly unknown[]): Promise<Address> {
    const { address } = await this.viem.deployContract(name, [...args]);
    await this.catchUp();
    return address;
  }

  /** Takes the time over from a block that another client had mined. */
  async catchUp(): Promise<void> {
    const client = await this.viem.getPublicClient();
    this.now = Math.max(this.now, Number((await client.getBlock()).timestamp));
  }

  /** Gives an account ether, and signs for it from now on. */
  async adopt(address: Address): Promise<void> {
    await this.provider.request({ method: "hardhat_impersonateAccount", params: [address] });
    await this.provider.request({ method: "hardhat_setBalance", params: [address, toHex(10n ** 9n * ETHER)] });
  }

  /**
   * Mines a signed transaction in a separate block.
   * @returns The hash and all logs. The history has taken the logs too.
   */
  async sendRaw(raw: Hex): Promise<{ hash: Hex; logs: Log[] }> {
    await this.provider.request({ method: "evm_setNextBlockTimestamp", params: [toHex(this.now + 1)] });
    this.now++;
    this.transactions++;
    const hash = (await this.provider.request({ method: "eth_sendRawTransaction", params: [raw] })) as Hex;
    const { logs } = await this.#take(hash);
    return { hash, logs };
  }

  /** Mines blocks without transactions, a second apart. */
  async mine(blocks: number): Promise<void> {
    await this.provider.request({ method: "evm_setNextBlockTimestamp", params: [toHex(this.now + 1)] });
    await this.provider.request({ method: "hardhat_mine", params: [toHex(blocks), "0x1"] });
    this.now += blocks;
  }

  /** Whether a call would pass now. @returns undefined, or why not. */
  async refusal(from: Address, { address, ...call }: SoakCall): Promise<string | undefined> {
    const transaction = { from, to: address, data: encodeFunctionData(call), gas: TRANSACTION_GAS };
    try {
      await this.provider.request({ method: "eth_call", params: [transaction, "latest"] });
      return undefined;
    } catch (error) {
      return revertText(error);
    }
  }

  /** The result of a view, as hex. */
  async read({ address, ...call }: SoakCall): Promise<Hex> {
    const transaction = { to: address, data: encodeFunctionData(call) };
    return (await this.provider.request({ method: "eth_call", params: [transaction, "latest"] })) as Hex;
  }

  readonly onMarket = (functionName: string, args: readonly unknown[]): SoakCall => ({
    address: this.market,
    abi: jobMarketAbi,
    functionName,
    args,
  });
  readonly onGame = (functionName: string, args: readonly unknown[]): SoakCall => ({
    address: this.game,
    abi: disputeGameAbi,
    functionName,
    args,
  });
  readonly onVault = (functionName: string, args: readonly unknown[]): SoakCall => ({
    address: this.vault,
    abi: stakeVaultAbi,
    functionName,
    args,
  });
}

/**
 * Returns the contract's error with values, or the fields of the node's error if the protocol does not define the
 * error.
 */
function revertText(error: unknown): string {
  const { message, data } = error as { message?: string; data?: Hex | { data: Hex } };
  try {
    const { errorName, args = [] } = decodeErrorResult({
      abi: errorsAbi,
      data: typeof data === "string" ? data : data!.data,
    });
    return `${errorName}(${args.join(", ")})`;
  } catch {
    return `${message ?? String(error)} ${JSON.stringify(data ?? "")}`.slice(0, 300);
  }
}
