import { expect } from "chai";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import type { Receipt } from "../../../src/parties/gateway/receiptForm.ts";
import { builtCommandLine } from "../../../testkit/processes/commandLine.ts";

type Ready = { env: Record<string, string>; text: { url: string; model: string; next: string[] } };

describe("refute devnet --text", function () {
  this.timeout(600_000);
  const folder = mkdtempSync(join(tmpdir(), "devnet-text-"));
  const system = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("REFUTE_")));
  let child: ChildProcess;
  let ready: Ready;

  before(async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      skipped: ${binary.missing}`);
      return this.skip();
    }
    const words = ["devnet", "--text", "--text-port", "0", "--port", "0", "--json"];
    child = spawn(process.execPath, [builtCommandLine(), ...words], { cwd: folder, env: system });
    killAtExit(child);
    let [out, errors] = ["", ""];
    child.stderr!.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
    ready = await new Promise<Ready>((resolve, reject) => {
      child.stdout!.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        if (out.includes("\n")) resolve(JSON.parse(out) as Ready);
      });
      child.once("exit", () => reject(new Error(`refute devnet ended: ${errors}`)));
    });
  });
  after(async () => {
    if (child?.exitCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await ended;
    }
    rmSync(folder, { recursive: true });
  });

  it("itsLinesBuyAText_andVerifyTheReceipt_andAClientTakesTheBaseUrl", async () => {
    const [, curl, verify] = ready.text.next;
    expect(curl).to.contain(`curl ${ready.text.url}/chat/completions`);
    const [, json] = /^echo '(.*)' > request\.json$/.exec(ready.text.next[0]!)!;
    writeFileSync(join(folder, "request.json"), json!);
    const answer = await fetch(`${ready.text.url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer any" },
      body: readFileSync(join(folder, "request.json")),
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    writeFileSync(join(folder, "answer.json"), text);
    const { id, receipt } = JSON.parse(text) as { id: string; receipt: Receipt };
    const again = await fetch(`${ready.text.url}/receipts/${id}`);
    expect(await again.json()).to.deep.equal(receipt);
    const [program, ...words] = verify!.split(" ");
    expect(program).to.equal("refute");
    const env = { ...system, ...ready.env };
    const run = spawnSync(process.execPath, [builtCommandLine(), ...words, "--json"], {
      ...{ cwd: folder, env, encoding: "utf8" },
    });
    expect(run.status, run.stderr).to.equal(0);
    expect(JSON.parse(run.stdout)).to.include({ id, right: true, pledge: "active" });
    const client = new OpenAI({ baseURL: ready.text.url, apiKey: "any" });
    const { choices } = await client.chat.completions.create(
      JSON.parse(json!) as OpenAI.ChatCompletionCreateParamsNonStreaming,
    );
    expect(choices[0]!.message.content).not.to.equal("");
  });
});
