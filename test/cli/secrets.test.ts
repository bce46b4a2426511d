import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import { encryptKeystoreJson } from "ethers";
import { pino } from "pino";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createPublicClient, zeroAddress } from "viem";
import { httpNode } from "../../src/chain/node.ts";
import { logError } from "../../src/parties/role/loop.ts";
import { refute } from "./refute.ts";
import { rejection } from "../../testkit/rejection.ts";

const KEY = generatePrivateKey();
const PASSWORD = "correct-horse-battery";
const TOKEN = "s3cr3t-t0ken-of-the-node";
const LINES = [KEY.slice(2, 34), KEY.slice(34), KEY.slice(2, 10), PASSWORD, TOKEN];

describe("secrets", function () {
  let folder: string;
  let keystore: string;
  let server: Server;
  let node: string;
  before(async function () {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    keystore = join(folder, "keystore.json");
    const { address } = privateKeyToAccount(KEY);
    const scrypt = { N: 2, r: 8, p: 1 };
    writeFileSync(keystore, await encryptKeystoreJson({ address, privateKey: KEY }, PASSWORD, { scrypt }));
    // Answers whatever is asked with nonsense that viem does not expect.
    server = createServer((request, response) => {
      void json(request).then((call) => {
        const { id } = call as { id: number };
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }));
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    node = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${TOKEN}`;
  });
  after(() => {
    rmSync(folder, { recursive: true });
    server.closeAllConnections();
    server.close();
  });

  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const chain = (url: string) => ["--rpc-url", url, "--chain-id", "1", "--market", zeroAddress];
  const unlocked = { REFUTE_KEYSTORE_PASSWORD: PASSWORD };

  const failures: Record<string, () => { args: string[]; env?: Record<string, string> }> = {
    "the key as an unknown flag's value": () => ({ args: ["worker", `--private-key=${KEY}`] }),
    "the key after an unknown flag": () => ({ args: ["worker", "--private-key", KEY] }),
    "the key as an argument": () => ({ args: ["worker", KEY] }),
    "the key as a command": () => ({ args: [KEY] }),
    "the key as the keystore": () => ({ args: ["account", "stake", "1", ...chain(node), "--keystore", KEY] }),
    "a key without 0x": () => ({
      args: ["account", "stake", "1", ...chain(node)],
      env: { REFUTE_PRIVATE_KEY: KEY.slice(2) },
    }),
    "a key that is too long": () => ({
      args: ["account", "stake", "1", ...chain(node)],
      env: { REFUTE_PRIVATE_KEY: `${KEY}00` },
    }),
    "a key beyond the curve's order": () => ({
      args: ["account", "stake", "1", ...chain(node)],
      env: { REFUTE_PRIVATE_KEY: `0x${"f".repeat(32)}${KEY.slice(34)}` },
    }),
    "a config file that is the bare key": () => ({
      args: ["account", "stake", "1", "--config", file("bare", `k${KEY.slice(2)}`)],
    }),
    "a config file that holds the key": () => ({
      args: [
        "account",
        "stake",
        "1",
        "--config",
        file("config", JSON.stringify({ privateKey: KEY, keystorePassword: PASSWORD })),
      ],
    }),
    "a config file that is an environment file": () => ({
      args: ["account", "stake", "1", "--config", file("env", `${PASSWORD}\nREFUTE_PRIVATE_KEY=${KEY}`)],
    }),
    "a wrong password": () => ({
      args: ["account", "stake", "1", ...chain(node), "--keystore", keystore],
      env: { REFUTE_KEYSTORE_PASSWORD: `${PASSWORD}!` },
    }),
    "a keystore that is none": () => ({
      args: ["account", "stake", "1", ...chain(node), "--keystore", file("none", JSON.stringify({ key: KEY }))],
      env: unlocked,
    }),
    "a node that is down": () => ({
      args: ["account", "stake", "1", ...chain(`http://127.0.0.1:1/${TOKEN}`), "--keystore", keystore],
      env: unlocked,
    }),
    "a node's address that is none": () => ({
      args: ["account", "stake", "1", ...chain(`node/${TOKEN}`), "--keystore", keystore],
      env: unlocked,
    }),
    "a node's address with a password": () => ({
      args: ["account", "stake", "1", ...chain(`http://me:${TOKEN}@127.0.0.1:1/`), "--keystore", keystore],
      env: unlocked,
    }),
    "a node that answers nonsense": () => ({
      args: ["worker", ...chain(node), "--keystore", keystore, "--models", file("models.json", "[]")],
      env: unlocked,
    }),
  };

  for (const [name, failure] of Object.entries(failures)) {
    it(`${name}: isRefused_andNotRepeated`, async function () {
      const { args, env } = failure();
      const { status, output } = await refute(args, env);
      expect(status).not.to.equal(0);
      expect(output).not.to.equal("");
      for (const secret of LINES) expect(output).not.to.contain(secret);
    });
  }

  it("errorThatNobodyExpected_isLoggedWithoutTheNodesAddress", async function () {
    const client = createPublicClient({ transport: httpNode(`http://127.0.0.1:1/${TOKEN}`) });
    const error = await rejection(client.request({ method: "eth_chainId" }, { retryCount: 0 }));
    expect(error.message).to.contain(TOKEN);
    let logged = "";
    logError(pino({}, { write: (line: string) => void (logged += line) }), new Error(error.message, { cause: error }));
    expect(logged).to.contain("http://127.0.0.1:1").and.not.to.contain(TOKEN);
  });
});
