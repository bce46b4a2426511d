import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseEther, type Hex } from "viem";
import { followMarket } from "../../src/market/session.ts";
import { gpt2Decoder } from "../../testkit/models/exports/language.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { Players } from "../../testkit/players/players.ts";
import { refute } from "./refute.ts";

describe("refute, text from a decoder", () => {
  let folder: string;
  let model: string;
  const file = (name: string, bytes: Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    model = file("llama.onnx", llama(LLAMA_TINY));
  });
  after(() => rmSync(folder, { recursive: true }));

  const decoder = ["--decoder", "--slots", "16"];
  const generating = ["--prompt", "1,2,3", "--tokens", "5"];

  it("run_printsTheTokens_alsoAsJson", async () => {
    const flags = [model, ...decoder, ...generating, "--temperature", "1.5", "--top-k", "20", "--seed", "7"];
    const { status, stdout, stderr } = await refute(["run", ...flags]);
    expect(status).to.equal(0);
    expect(stderr).to.contain("logits of 6 random tokens are those of the model in plain onnxruntime");
    const lines = stdout.split("\n");
    expect(lines).to.have.length(6);
    expect(lines.at(-1)).to.match(/^7 items of \d+ steps in \d+ ms$/);
    const json = JSON.parse((await refute(["run", ...flags, "--json"])).stdout) as { tokens: number[] };
    expect(json.tokens.map(String)).to.deep.equal(lines.slice(0, 5));
  });

  it("compileAndCheck_showWhatItemsTake_andAgreeOnTheRoot", async () => {
    const { stdout } = await refute(["compile", model, ...decoder]);
    expect(stdout)
      .to.match(/index \[1\] \(the item's number\)/)
      .and.match(/tokens_before \[16\] \(carried from/);
    const root = /0x[0-9a-f]{64}/.exec(stdout)![0];
    const check = await refute(["check", model, ...decoder]);
    expect(check.status).to.equal(0);
    expect(check.stdout).to.contain(root);
    expect((await refute(["compile", model, ...decoder, "--end-token", "2"])).stdout).not.to.contain(root);
  });

  it("modelWithPositionsFromItsPast_isRefused_exit1", async () => {
    const path = file("gpt2.onnx", gpt2Decoder("past").bytes);
    const decoder = ["--decoder", "--slots", "12"];
    for (const command of [["compile"], ["check"], ["run", ...generating]]) {
      const { status, stderr } = await refute([command[0]!, path, ...decoder, ...command.slice(1)]);
      expect(status).to.equal(1);
      expect(stderr).to.contain("position_ids").and.contain("[COMPILE_DECODER]");
    }
  });

  for (const [what, flags, message] of [
    ["slotsWithoutDecoder", ["--slots", "4"], "--slots says how a decoder is wrapped"],
    ["noPrompt", decoder, "--prompt 1,2,3 and --tokens N"],
    ["promptThatIsNoList", [...decoder, "--prompt", "1,,2", "--tokens", "1"], "tokens as whole numbers"],
    ["aWiringOfItsOwn", [...decoder, ...generating, "--each", "x"], "leave the other wiring out"],
    ["inputsBesideAPrompt", [...decoder, ...generating, "--input", "x=x.npy"], "--input: a decoder takes its inputs"],
    ["promptWithoutDecoder", generating, "--prompt says what a decoder generates: give --decoder too"],
    ["unknownName", ["--carry", "past=present"], 'no input "past"'],
  ] as const)
    it(`${what}_isRefused_exit2`, async () => {
      const command = what === "unknownName" ? "compile" : "run";
      const { status, stderr } = await refute([command, model, ...flags]);
      expect(stderr).to.contain(message);
      expect(status).to.equal(2);
    });

  it("submit_postsAJobOfAllItems", async () => {
    const players = await Players.create();
    const rpc = await serveRpc(players.chain.provider);
    const { chainId, market } = players.chain;
    const env = {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chainId), REFUTE_MARKET: market },
      REFUTE_PRIVATE_KEY: await players.chain.newAccount(parseEther("1")),
    };
    const flags = ["submit", model, ...decoder, ...generating, "--fee", "0.1"];
    const { status, output } = await refute(flags, env);
    expect(status, output).to.equal(0);
    const jobId = /job (0x[0-9a-f]{64})/.exec(output)![1] as Hex;
    const { history } = await followMarket(await players.chain.sessionOf(env.REFUTE_PRIVATE_KEY))();
    expect(history.jobs.get(jobId)!.job).to.include({ items: 7, firstItem: 0 });
    expect((await refute([...flags, "--items", "3"], env)).output).to.contain("--items: a decoder has as many items");
    expect((await refute([...flags, "--first-item", "3"], env)).output).to.contain("--first-item: a text begins at");
    await rpc.close();
    await players.chain.close();
  });

  it("textLongerThanTheSlots_isRefused_exit1", async () => {
    const { status, stderr } = await refute(["run", model, ...decoder, "--prompt", "1", "--tokens", "17"]);
    expect(stderr).to.contain("needs 17 slots");
    expect(status).to.equal(1);
  });
});
