import { getAddress, getTypesForEIP712Domain, isAddress, isAddressEqual, isHex } from "viem";
import { serializeTypedData, stringToHex, toHex } from "viem";
import {
  parseSignature,
  parseTransaction,
  recoverMessageAddress,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  serializeSignature,
} from "viem";
import type { Address, Hex, LocalAccount, SignableMessage, TypedDataDefinition } from "viem";
import type { TransactionSerializable, TransactionSerialized } from "viem";
import { toAccount, type CustomSource } from "viem/accounts";
import { withoutPaths } from "../base/redact.ts";
import { SignerError, SignerUnavailableError, SIGNS_NO_BLOBS } from "./errors.ts";
import { failureReason } from "./failureReason.ts";
import { httpNode } from "./node.ts";

/** The data to sign, in JSON-RPC form: numbers are hexadecimal. */
type Asked = Record<string, unknown>;
type Request = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** How long a signer may take: some ask a person or a machine for approval. */
const TIMEOUT_MS = 30_000;

/**
 * Makes an account whose key another process holds: Web3Signer, Clef, or any other server of the JSON-RPC methods
 * `eth_accounts`, `eth_signTransaction`, `eth_sign` and `eth_signTypedData`. The account compares the signed data with
 * the requested data, and never sends a wrong answer. Web3Signer also has a REST interface
 * (`/api/v1/eth1/sign/{identifier}`). The REST interface signs any bytes, and a signer could not tell transactions from
 * messages there. The JSON-RPC methods show the signer the signed content.
 * @param url The signer's URL.
 * @param address The account. If left out: the signer's only account.
 * @param timeoutMs The signer's time limit for an answer.
 * @throws SignerUnavailableError, or SignerError if the signer does not hold the account. The account's methods throw
 *   the same errors: SignerError if something else was signed.
 */
export async function remoteAccount(url: string, address?: Address, timeoutMs = TIMEOUT_MS): Promise<LocalAccount> {
  const signer = withoutPaths(url);
  const { request } = httpNode(url, timeoutMs)({ retryCount: 0 });
  const ask: Request = async (method, params) => {
    try {
      return await request({ method, params } as never);
    } catch (cause) {
      const reason = failureReason(cause);
      throw new SignerUnavailableError(`${method}: the signer ${signer} does not do it (${reason})`, { cause });
    }
  };
  return accountOf(ask, chosen(await ask("eth_accounts", []), signer, address), signer);
}

/** Chooses the wanted account among the accounts that a signer names. */
function chosen(named: unknown, signer: string, wanted: Address | undefined): Address {
  const isHeld = (one: unknown): one is Address => typeof one === "string" && isAddress(one, { strict: false });
  const held = Array.isArray(named) ? named.filter(isHeld) : [];
  const found = wanted === undefined ? held : held.filter((one) => isAddressEqual(one, wanted));
  if (found.length === 1) return getAddress(found[0]!);
  const all = held.length === 0 ? "no account" : held.join(", ");
  throw new SignerError(
    wanted === undefined
      ? `the signer ${signer} holds ${all}: say which account is to be used`
      : `the signer ${signer} does not hold ${wanted}; it holds ${all}`,
  );
}

/** @param ask Asks the signer. */
function accountOf(ask: Request, address: Address, signer: string): LocalAccount {
  const requireOwn = (by: Address, what: string): void => {
    if (!isAddressEqual(by, address))
      throw new SignerError(`the signer ${signer} signed ${what} with the key of ${by}, not of ${address}`);
  };
  const signatureIn = (answer: unknown, what: string): Hex => {
    if (isHex(answer) && answer.length === 132) return answer;
    throw new SignerError(`the signer ${signer} answers no signature of ${what}`);
  };
  const recovered = async <T>(what: string, recover: () => Promise<T>): Promise<T> => {
    try {
      return await recover();
    } catch (cause) {
      throw new SignerError(`the signer ${signer} answers no valid signature of ${what}`, { cause });
    }
  };
  return toAccount<CustomSource>({
    address,
    async signTransaction(transaction) {
      const what = "a transaction";
      if (transaction.type === "eip4844") throw new SignerError(`the signer ${signer} ${SIGNS_NO_BLOBS}`);
      const raw = rawOf(await ask("eth_signTransaction", [asked(address, transaction)]));
      if (raw === undefined) throw new SignerError(`the signer ${signer} answers no signed transaction`);
      const other = await recovered(what, () => Promise.resolve(differing(transaction, raw)));
      if (other !== undefined)
        throw new SignerError(`the signer ${signer} signed a transaction with another ${other}; it is not sent`);
      requireOwn(await recovered(what, () => recoverTransactionAddress({ serializedTransaction: raw })), what);
      return raw;
    },
    async signMessage({ message }) {
      const what = "a message";
      const data = bytesOf(message);
      const signature = signatureIn(await ask("eth_sign", [address, data]), what);
      requireOwn(await recovered(what, () => recoverMessageAddress({ message, signature })), what);
      return signature;
    },
    async signTypedData(typedData) {
      const what = "typed data";
      const json = jsonOf(typedData as TypedDataDefinition);
      const signature = signatureIn(await ask("eth_signTypedData", [address, json]), what);
      const by = await recovered(what, () => recoverTypedDataAddress({ ...(typedData as object), signature } as never));
      requireOwn(by, what);
      // Some signers answer 0 or 1 for v, which contracts do not take.
      return serializeSignature(parseSignature(signature));
    },
  });
}

function bytesOf(message: SignableMessage): Hex {
  if (typeof message === "string") return stringToHex(message);
  return typeof message.raw === "string" ? message.raw : toHex(message.raw);
}

/** Returns typed data in the form that signers read: including the domain's type, which viem leaves implicit. */
function jsonOf({ domain = {}, types, primaryType, message }: TypedDataDefinition): string {
  const all = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
  return serializeTypedData({ domain, types: all, primaryType, message });
}

/** Returns a transaction in the form of a signing request. */
function asked(from: Address, transaction: TransactionSerializable): Asked {
  const { to, data, value, gas, nonce, chainId, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const numbers = { value: value ?? 0n, gas, nonce, chainId, maxFeePerGas, maxPriorityFeePerGas };
  const words = Object.entries(numbers).map(([name, number]) => [
    name,
    number === undefined ? undefined : toHex(number),
  ]);
  return { from, to, data: data ?? "0x", ...(Object.fromEntries(words) as Asked) };
}

/** Returns the signed bytes. Web3Signer answers with the bare bytes, Clef and geth add the transaction. */
function rawOf(answer: unknown): TransactionSerialized | undefined {
  const raw = typeof answer === "object" && answer !== null && "raw" in answer ? answer.raw : answer;
  return isHex(raw) ? (raw as TransactionSerialized) : undefined;
}

/** Returns the name of a field in which the signed transaction differs from the requested transaction. */
function differing(wanted: TransactionSerializable, raw: TransactionSerialized): string | undefined {
  const signed = parseTransaction(raw) as TransactionSerializable;
  if (signed.type !== "eip1559") return "type";
  const fields = (t: TransactionSerializable): Record<string, string> => ({
    to: (t.to ?? "none").toLowerCase(),
    data: (t.data ?? "0x").toLowerCase(),
    value: String(t.value ?? 0n),
    gas: String(t.gas ?? 0n),
    nonce: String(t.nonce ?? 0),
    chainId: String(t.chainId),
    maxFeePerGas: String(t.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: String(t.maxPriorityFeePerGas ?? 0n),
    accessList: String((t as { accessList?: readonly unknown[] }).accessList?.length ?? 0),
  });
  const [want, have] = [fields(wanted), fields(signed)];
  return Object.keys(want).find((name) => want[name] !== have[name]);
}
