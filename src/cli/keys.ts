import { createInterface } from "node:readline/promises";
import { decryptKeystoreJson, isKeystoreJson } from "ethers";
import { isHex, type Address, type LocalAccount } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { remoteAccount } from "../chain/remoteSigner.ts";
import { withoutKeys } from "../base/redact.ts";
import { readRegularFile } from "../base/regularFile.ts";
import { KeyError } from "./errors.ts";

/**
 * The source of a key: never an argument, because other users of the machine could read arguments.
 * @param signer The key-holding process's URL, replacing all other sources.
 * @param account The account to sign for, if the process holds several.
 */
type KeySource = {
  keystore?: string | undefined;
  signer?: string | undefined;
  signerAccount?: Address | undefined;
  env?: NodeJS.ProcessEnv;
  prompt?: () => Promise<string>;
};

/** A keystore V3 file has some 500 bytes. */
const MAX_KEYSTORE_BYTES = 2 ** 20;

/**
 * Returns the account of a remote signer, else of a keystore V3 file (password from REFUTE_KEYSTORE_PASSWORD or a
 * prompt), else of REFUTE_PRIVATE_KEY.
 * @throws KeyError when no source is given, two sources contradict, the file has no keystore, or the password fails;
 *   SignerUnavailableError, SignerError when the signer does not answer or does not hold the account.
 */
export async function loadAccount(source: KeySource): Promise<LocalAccount> {
  const { keystore, signer, signerAccount, env = process.env, prompt } = source;
  if (signer !== undefined) {
    if (keystore !== undefined) throw new KeyError("give --signer or --keystore, not both: each names an account");
    return remoteAccount(signer, signerAccount);
  }
  if (signerAccount !== undefined) throw new KeyError("--signer-account needs --signer, the URL of what holds its key");
  if (keystore !== undefined) return fromKeystore(keystore, () => env.REFUTE_KEYSTORE_PASSWORD ?? ask(prompt));
  const key = env.REFUTE_PRIVATE_KEY;
  if (key === undefined || key === "") {
    throw new KeyError("no key: give --keystore FILE (a keystore V3 file) or --signer URL, or set REFUTE_PRIVATE_KEY");
  }
  return accountOfKey(key, "REFUTE_PRIVATE_KEY");
}

/** The account of a private key as text. @param source Of the key, for the message. @throws KeyError */
export function accountOfKey(key: string, source: string): PrivateKeyAccount {
  if (!isHex(key) || key.length !== 66) {
    throw new KeyError(`${source} is not a private key: expected 0x and 64 hexadecimal digits`);
  }
  return account(key, source);
}

async function fromKeystore(path: string, password: () => string | Promise<string>): Promise<PrivateKeyAccount> {
  const json = keystoreText(path);
  if (!isKeystoreJson(json)) throw new KeyError(`${path} is not a keystore V3 file`);
  const { privateKey } = await decryptKeystoreJson(json, await password()).catch((cause: unknown) => {
    throw new KeyError(`the password does not open the keystore ${path}`, { cause });
  });
  return account(privateKey as `0x${string}`, path);
}

function keystoreText(path: string): string {
  try {
    return new TextDecoder().decode(readRegularFile(path, MAX_KEYSTORE_BYTES));
  } catch (cause) {
    throw new KeyError(withoutKeys(`cannot read the keystore ${path}: it ${(cause as Error).message}`), { cause });
  }
}

function account(key: `0x${string}`, source: string): PrivateKeyAccount {
  try {
    return privateKeyToAccount(key);
  } catch (cause) {
    throw new KeyError(`${source} holds no valid secp256k1 key`, { cause });
  }
}

const ask = (prompt: (() => Promise<string>) | undefined): Promise<string> =>
  prompt?.() ?? askHidden("Keystore password", "no password: set REFUTE_KEYSTORE_PASSWORD or run on a terminal");

/**
 * Asks for a secret on the terminal, which does not show the answer.
 * @param absent The message if there is no terminal. @throws KeyError then
 */
export async function askHidden(question: string, absent: string): Promise<string> {
  if (!process.stdin.isTTY) throw new KeyError(absent);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    process.stderr.write(`${question} (not shown): `);
    // Muting readline's output switches echo off.
    (terminal as unknown as { _writeToOutput: () => void })._writeToOutput = () => {};
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
