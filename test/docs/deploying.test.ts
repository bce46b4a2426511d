import { expect } from "chai";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "viem";
import { connect } from "../../src/chain/connect.ts";
import { deployWrappedEther } from "../../src/deploy/network/deployContracts.ts";
import { developmentAccount } from "../../src/deploy/devnet/accounts.ts";
import { Anvil, anvilBinary } from "../../src/deploy/devnet/anvil.ts";
import { killAtExit } from "../../src/deploy/devnet/killAtExit.ts";
import { readAddressFile } from "../../src/chain/market/readAddressFile.ts";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { builtCommandLine } from "../../testkit/processes/commandLine.ts";
import { itAtLength } from "../../testkit/atLength.ts";

/** The commands of the page, in its order. */
const commands = (): string[] =>
  [...readFileSync("docs/deploying.md", "utf8").matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block]) =>
    block!.trim().split(/\n */),
  );

describe("docs/deploying.md", function () {
  this.timeout(240_000);

  itAtLength("itsCommands_asTheyStand_deployAMarket", async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      skipped: ${binary.missing}`);
      return this.skip();
    }
    const folder = mkdtempSync(join(tmpdir(), "deploying-"));
    const anvil = await Anvil.start();
    try {
      const account = developmentAccount(0);
      // Another one: Ignition waits for confirmations of what the deploying account sent before.
      const stranger = developmentAccount(1);
      const publicClient = await connect({ rpcUrls: [anvil.url] }, 31_337);
      const asset = await deployWrappedEther({ publicClient, account: stranger, confirmations: 1, pollingMs: 50 });
      await anvil.request("anvil_mine", ["0x2"]);
      await anvil.mineEvery(1);
      writeFileSync(join(folder, "model.onnx"), mlpBytes(1));
      // Only what the page cannot know is put in: node, chain, asset, manufacturer. The key comes from where a person
      // would type it.
      const lines = commands().map((line) =>
        line.replace("https://node.example", anvil.url).replace("REFUTE_CHAIN_ID=1", "REFUTE_CHAIN_ID=31337"),
      );
      const maker = `0x${"34".repeat(32)}`;
      const typed = lines.map((line) =>
        line
          .replace("REFUTE_ASSET=0x...", `REFUTE_ASSET=${asset}`)
          .replace("MANUFACTURERS=0x...", `MANUFACTURERS=${maker}`),
      );
      expect(typed.filter((line) => line.startsWith("refute "))).to.have.length(4);
      const script = typed.flatMap((line) =>
        line.startsWith("refute deploy") && !line.includes("--check-only")
          ? // What it prints for use is pasted, as the page says.
            [`${line} > deployed.txt`, 'eval "$(grep "export REFUTE_CHAIN_ID" deployed.txt)"', "cat deployed.txt"]
          : [line],
      );
      const refute = `refute() { "${process.execPath}" "${builtCommandLine()}" "$@"; }`;
      const { status, out } = await bash(["set -e", refute, ...script].join("\n"), folder, account);
      expect(status, out).to.equal(0);
      const [file] = readdirSync(join(folder, "deployments")).filter((name) => name.endsWith(".json"));
      const { contracts, chainId, block } = readAddressFile(join(folder, "deployments", file!));
      expect([chainId, contracts.asset]).to.deep.equal([31_337, asset]);
      expect(block).to.be.at.least(1);
      for (const words of ["nothing was sent", `market ${contracts.market}`, "WETH, 18 decimals", "worst dispute"])
        expect(out).to.include(words);
      expect(out).to.not.include(keyOf(account).slice(2));
    } finally {
      await anvil.close();
      rmSync(folder, { recursive: true });
    }
  });
});

type Account = ReturnType<typeof developmentAccount>;
const keyOf = (account: Account): string => toHex(account.getHdKey().privateKey!);

/** Runs a script; the account's key is what is typed. */
function bash(script: string, cwd: string, account: Account): Promise<{ status: number | null; out: string }> {
  const path = join(cwd, "script.sh");
  writeFileSync(path, script);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("REFUTE_")));
  const child = spawn("bash", [path], { cwd, env });
  killAtExit(child);
  child.stdin.end(`${keyOf(account)}\n`);
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => void (out += String(chunk)));
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, out })));
}
