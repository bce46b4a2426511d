import { existsSync } from "node:fs";
import { Command } from "commander";
import { encryptKeystoreJson } from "ethers";
import type { Address } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { createWholeSync } from "../../../base/writeWhole.ts";
import { KeyError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { accountOfKey, askHidden } from "../../keys.ts";
import type { Output } from "../../output.ts";
import { as, oneOf } from "../../parse.ts";
import { writeProblem } from "../../../base/writable.ts";
import { requirePlace } from "../../folders.ts";

/** A key in the place of the file. */
const KEY = /^(0x)?[\da-f]{64}$/i;
const hows = oneOf("new", "import");

/** `refute account key`: a keystore file, with a new key or a key that exists. */
export function keyCommand(output: Output): Command {
  const command = new Command("key")
    .description(
      "write a keystore V3 file, for --keystore; its password comes from REFUTE_KEYSTORE_PASSWORD or a prompt",
    )
    .argument("<how>", "new makes a key; import takes that of REFUTE_PRIVATE_KEY, or of a prompt", as(hows, "HOW"))
    .argument("<file>", "to be made, for its owner only; an existing file is refused")
    .action(async (how: "new" | "import", file: string) => {
      if (KEY.test(file)) throw new KeyError("this is a key, not a file: others see arguments, so use another key");
      // Before anything is asked for.
      if (existsSync(file)) throw exists(file);
      requirePlace("FILE", file);
      const privateKey = how === "new" ? generatePrivateKey() : await givenKey();
      const { address } = accountOfKey(privateKey, "the given key");
      await writeKeystore(file, address, privateKey, await newPassword());
      output.answer({ account: address, keystore: file }, [`account ${address}`, `keystore ${file}`]);
    });
  return addExamples(command, "account key new worker.json", "account key import worker.json");
}

/** @throws KeyError */
async function givenKey(env = process.env): Promise<string> {
  const absent = "no key: set REFUTE_PRIVATE_KEY or run on a terminal";
  return env.REFUTE_PRIVATE_KEY || (await askHidden("Private key", absent)).trim();
}

/** The password from the environment, else a password typed twice. @throws KeyError */
async function newPassword(env = process.env): Promise<string> {
  const absent = "no password: set REFUTE_KEYSTORE_PASSWORD or run on a terminal";
  const given = env.REFUTE_KEYSTORE_PASSWORD;
  const password = given ?? (await askHidden("Password of the new keystore", absent));
  if (password === "") throw new KeyError("the password is empty: anybody with the file could use the key");
  if (given === undefined && password !== (await askHidden("The same password again", absent)))
    throw new KeyError("the two passwords differ: nothing was written");
  return password;
}

/** Writes a keystore that only its owner reads. @throws KeyError if there is a file, or if none can be written */
async function writeKeystore(file: string, address: Address, privateKey: string, password: string): Promise<void> {
  const json = await encryptKeystoreJson({ address, privateKey }, password);
  try {
    createWholeSync(file, `${json}\n`, 0o600);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw exists(file);
    throw new KeyError(`the keystore ${file} cannot be written: ${writeProblem(file, cause)}: name another file`, {
      cause,
    });
  }
}

const exists = (file: string): KeyError =>
  new KeyError(`${file} exists, and is not replaced: it may hold the only copy of a key; name a new file`);
