import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { encryptKeystoreJson } from "ethers";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { builtCommandLine } from "../../testkit/processes/commandLine.ts";

describe("the start of a watcher", function () {
  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  /** The URL of a port at which nobody listens. */
  async function nobody(): Promise<string> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    return `http://127.0.0.1:${port}`;
  }

  it("withoutANode_isAlive_notReady_andSaysWhichKeyIsUsed_andEndsBySigterm", async function () {
    const key = generatePrivateKey();
    const address = privateKeyToAddress(key);
    const [keystore, models] = [join(folder, "key.json"), join(folder, "models.json")];
    // A light scrypt keeps the test quick; the format is the same.
    const scrypt = { N: 2, r: 8, p: 1 };
    writeFileSync(keystore, await encryptKeystoreJson({ address, privateKey: key }, "correct", { scrypt }));
    writeFileSync(join(folder, "model.onnx"), mlpBytes(1));
    writeFileSync(models, JSON.stringify([{ path: "model.onnx" }]));
    const chain = ["--rpc-url", await nobody(), "--chain-id", "31337", "--market", `0x${"11".repeat(20)}`];
    const own = ["--models", models, "--keystore", keystore, "--cache", join(folder, "cache"), "--monitor-port", "0"];
    const others = Object.entries(process.env).filter(([name]) => !name.startsWith("REFUTE_"));
    const child = spawn(process.execPath, [builtCommandLine(), "watcher", ...chain, ...own], {
      env: {
        ...Object.fromEntries(others),
        REFUTE_KEYSTORE_PASSWORD: "correct",
        REFUTE_PRIVATE_KEY: generatePrivateKey(),
      },
    });
    killAtExit(child);
    const ended = once(child, "exit");
    const said: string[] = [];
    let port = 0;
    for await (const line of createInterface({ input: child.stderr })) {
      const entry = JSON.parse(line) as { msg: string; port?: number; account?: string };
      said.push(entry.account === undefined ? entry.msg : `${entry.account}: ${entry.msg}`);
      if (entry.port !== undefined) port = entry.port;
      if (entry.msg.startsWith("no answer at the start")) break;
    }
    expect(said.slice(0, 4)).to.deep.equal([
      `${address}: the key in REFUTE_PRIVATE_KEY is not used, because --keystore is used`,
      "self test begins",
      "self test passed",
      "monitor listens",
    ]);
    const statuses = ["healthz", "readyz"].map(
      async (path) => (await fetch(`http://127.0.0.1:${port}/${path}`)).status,
    );
    expect(await Promise.all(statuses)).to.deep.equal([200, 503]);
    child.kill("SIGTERM");
    expect(await ended).to.deep.equal([0, null]);
  });
});
