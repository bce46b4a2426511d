import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { encryptKeystoreJson } from "ethers";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { KeyError } from "../../src/cli/errors.ts";
import { loadAccount } from "../../src/cli/keys.ts";

describe("loadAccount", function () {
  const key = generatePrivateKey();
  const address = privateKeyToAddress(key);
  let folder: string;
  let keystore: string;

  before(async function () {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    keystore = join(folder, "keystore.json");
    // A light scrypt keeps the test quick; the format is the same.
    const scrypt = { N: 2, r: 8, p: 1 };
    writeFileSync(keystore, await encryptKeystoreJson({ address, privateKey: key }, "correct", { scrypt }));
  });
  after(() => rmSync(folder, { recursive: true }));

  const refused = async (promise: Promise<unknown>, message: RegExp) => {
    const error = await promise.then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(error).to.be.instanceOf(KeyError);
    expect((error as KeyError).message).to.match(message);
  };

  it("keystoreAndPassword_giveTheAccount", async function () {
    const byEnv = await loadAccount({ keystore, env: { REFUTE_KEYSTORE_PASSWORD: "correct" } });
    const byPrompt = await loadAccount({ keystore, env: {}, prompt: () => Promise.resolve("correct") });
    expect([byEnv.address, byPrompt.address]).to.deep.equal([address, address]);
  });

  it("environmentKey_givesTheAccount", async function () {
    expect((await loadAccount({ env: { REFUTE_PRIVATE_KEY: key } })).address).to.equal(address);
  });

  it("wrongPassword_isRefused", async function () {
    await refused(loadAccount({ keystore, env: { REFUTE_KEYSTORE_PASSWORD: "wrong" } }), /password does not open/);
  });

  it("noKeyBadKeyNoKeystore_areRefused_withoutShowingTheKey", async function () {
    await refused(loadAccount({ env: {} }), /no key/);
    await refused(loadAccount({ env: { REFUTE_PRIVATE_KEY: "0x12" } }), /64 hexadecimal digits/);
    await refused(loadAccount({ env: { REFUTE_PRIVATE_KEY: `0x${"0".repeat(64)}` } }), /no valid secp256k1 key/);
    await refused(loadAccount({ keystore: join(folder, "absent"), env: {} }), /cannot read/);
    const other = join(folder, "other.json");
    writeFileSync(other, "{}");
    await refused(loadAccount({ keystore: other, env: {} }), /no keystore V3|not a keystore V3/);
  });
});
