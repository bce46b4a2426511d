import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { encryptKeystoreJson } from "ethers";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { KeyError } from "../../src/cli/errors.ts";
import { loadAccount } from "../../src/cli/keys.ts";
import { refute } from "./refute.ts";

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

  describe("refute account key", function () {
    const env = { REFUTE_KEYSTORE_PASSWORD: "a password", REFUTE_PRIVATE_KEY: key };
    const at = (name: string): string => join(folder, name);

    it("importedKey_isTheOneThatTheKeystoreOpens_forItsOwnerOnly_andIsNeverShown", async () => {
      const made = await refute(["account", "key", "import", at("imported.json"), "--json"], env);
      expect(JSON.parse(made.stdout)).to.deep.equal({ account: address, keystore: at("imported.json") });
      expect(made.output).to.not.contain(key.slice(2));
      expect(statSync(at("imported.json")).mode & 0o777).to.equal(0o600);
      const loaded = await loadAccount({ keystore: at("imported.json"), env });
      expect(loaded.address).to.equal(address);
      // The only copy of a key is not replaced.
      const before = readFileSync(at("imported.json"), "utf8");
      for (const how of ["new", "import"]) {
        const again = await refute(["account", "key", how, at("imported.json")], env);
        expect([again.status, again.output]).to.deep.equal([
          2,
          `refute: ${at("imported.json")} exists, and is not replaced: it may hold the only copy of a key; ` +
            "name a new file [KEY]",
        ]);
      }
      expect(readFileSync(at("imported.json"), "utf8")).to.equal(before);
    });

    it("newKey_isAnother_andItsAddressIsSaid", async () => {
      const made = await refute(["account", "key", "new", at("new.json")], env);
      const { address: own } = await loadAccount({ keystore: at("new.json"), env });
      expect(own).to.not.equal(address);
      expect(made.stdout).to.equal(`account ${own}\nkeystore ${at("new.json")}`);
    });

    it("whatCannotBeUsed_isRefused_andNothingIsWritten", async () => {
      const cases: [string[], Record<string, string>, RegExp][] = [
        [["import", at("none.json")], { ...env, REFUTE_PRIVATE_KEY: "0x12" }, /64 hexadecimal digits \[KEY\]$/],
        [["import", at("none.json")], { ...env, REFUTE_PRIVATE_KEY: "" }, /no key: set REFUTE_PRIVATE_KEY/],
        [["new", at("none.json")], { REFUTE_KEYSTORE_PASSWORD: "" }, /the password is empty/],
        [["new", join(folder, "absent", "none.json")], env, /cannot be written/],
        [["import", key], env, /this is a key, not a file/],
        [["export", at("none.json")], env, /new or import \[USAGE\]$/],
      ];
      for (const [args, given, message] of cases) {
        const { status, output } = await refute(["account", "key", ...args], given);
        expect([status, output]).to.satisfy(([code, text]: [number, string]) => code === 2 && message.test(text));
        expect(output).to.not.contain(key.slice(2));
        expect(existsSync(at("none.json"))).to.equal(false);
      }
    });
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
