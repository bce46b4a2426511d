import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { parseEther, type Hex } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { printable } from "../../src/base/text.ts";
import { readTokenizer } from "../../src/model/tokenizer/readTokenizer.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import { gpt2Decoder } from "../../testkit/models/exports/language.ts";
import { irisBytes } from "../../testkit/models/iris.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { first, Players, reference } from "../../testkit/players/players.ts";
import { refute } from "./refute.ts";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";
import type { Execute } from "../../src/runs/execute.ts";

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

  itInTime("run_printsTheTokens_alsoAsJson", async () => {
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

  itInTime("compileAndCheck_showWhatItemsTake_andAgreeOnTheRoot", async () => {
    const { stdout } = await refute(["model", "compile", model, ...decoder]);
    expect(stdout)
      .to.match(/index \[1\] \(the item's number\)/)
      .and.match(/tokens_before \[16\] \(carried from/);
    const root = /0x[0-9a-f]{64}/.exec(stdout)![0];
    const check = await refute(["check", model, ...decoder]);
    expect(check.status).to.equal(0);
    expect(check.stdout).to.contain(root);
    expect((await refute(["model", "compile", model, ...decoder, "--end-token", "2"])).stdout).not.to.contain(root);
  });

  itInTime("modelWithPositionsFromItsPast_isRefused_exit1", async () => {
    const path = file("gpt2.onnx", gpt2Decoder("past").bytes);
    const decoder = ["--decoder", "--slots", "12"];
    for (const [command, flags] of [
      [["model", "compile"], []],
      [["check"], []],
      [["run"], generating],
    ] as const) {
      const { status, stderr } = await refute([...command, path, ...decoder, ...flags]);
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
    itInTime(`${what}_isRefused_exit2`, async () => {
      const command = what === "unknownName" ? ["model", "compile"] : ["run"];
      const { status, stderr } = await refute([...command, model, ...flags]);
      expect(stderr).to.contain(message);
      expect(status).to.equal(2);
    });

  describe("with a tokenizer", () => {
    const tokenizer = new URL("../golden/tokenizers/byteLevelBpe.json", import.meta.url).pathname;
    const asked = [...decoder, "--tokenizer", tokenizer, "--prompt", "A decoder is", "--tokens", "9"];
    let words: string;
    before(() => (words = file("words.onnx", llama({ ...LLAMA_TINY, vocabulary: 400 }))));

    itInTime("run_printsTheTextInPieces_alsoAsJson", async () => {
      const flags = ["run", words, ...asked, "--temperature", "1", "--seed", "3"];
      const { status, stdout, stderr, text } = await refute(flags);
      expect(status, stderr).to.equal(0);
      expect(stdout).to.match(/^\d+ items of \d+ steps in \d+ ms$/);
      const json = JSON.parse((await refute([...flags, "--json"])).stdout) as Record<"prompt" | "tokens", number[]>;
      const { encode, decode } = readTokenizer(tokenizer);
      expect(json.prompt).to.deep.equal(encode("A decoder is"));
      const whole = decode([...json.prompt, ...json.tokens]);
      expect(json).to.have.property("text", whole.slice("A decoder is".length));
      const printed = text.replace(/\n$/, "");
      expect(printed).to.equal(
        whole
          .slice("A decoder is".length)
          .split("\n")
          .map((line) => printable(line))
          .join("\n"),
      );
    });

    itInTime("textEndsWithAnEndToken", async () => {
      const { encode } = readTokenizer(tokenizer);
      const chosen = async (flags: readonly string[]) =>
        JSON.parse((await refute(["run", words, ...asked, ...flags, "--json"])).stdout) as { tokens: number[] };
      const { tokens } = await chosen([]);
      const end = await chosen(["--end-token", String(tokens[2])]);
      expect(end.tokens).to.deep.equal(tokens.slice(0, tokens.indexOf(tokens[2]!) + 1));
      expect(encode("A decoder is")).to.have.length.below(17 - 9);
    });

    itInTime("fileThatIsNone_isRefused_exit2", async () => {
      const path = file("tokenizer.json", new TextEncoder().encode("[]"));
      const { status, stderr } = await refute(["run", words, ...decoder, "--tokenizer", path, ...generating]);
      expect(stderr).to.contain("[TOKENIZER]").and.contain(path);
      expect(status).to.equal(2);
    });

    itInTime("resultOfAProgramWithoutText_isRefused_exit2", async () => {
      const job = `0x${"00".repeat(32)}`;
      const market = `0x${"11".repeat(20)}`;
      const env = { REFUTE_RPC_URL: "http://127.0.0.1:9", REFUTE_CHAIN_ID: "1", REFUTE_MARKET: market };
      for (const [flags, message] of [
        [[], "--tokenizer needs the program"],
        [["--model", file("iris.onnx", irisBytes())], "generates no text"],
      ] as const) {
        const { status, stderr } = await refute(["result", job, "--tokenizer", tokenizer, ...flags], env);
        expect(stderr).to.contain(message);
        expect(status).to.equal(2);
      }
    });
  });

  /** A market, and the settings with which a requester's commands reach it. */
  const openMarket = async () => {
    const players = await Players.create();
    const rpc = await serveRpc(players.chain.provider);
    const { chainId, market } = players.chain;
    const env = {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chainId), REFUTE_MARKET: market },
      REFUTE_PRIVATE_KEY: await players.chain.newAccount(parseEther("1")),
    };
    const close = async (): Promise<void> => {
      await rpc.close();
      await players.chain.close();
    };
    return { players, env, close };
  };

  /** A job whose tokens are text: its flags, the text that this machine computes, and the program. */
  const wordsJob = async () => {
    const words = llama({ ...LLAMA_TINY, vocabulary: 400 });
    const tokenizer = new URL("../golden/tokenizers/byteLevelBpe.json", import.meta.url).pathname;
    const wrapping = [file("words.onnx", words), ...decoder, "--tokenizer", tokenizer];
    const asked = ["--prompt", "A decoder is", "--tokens", "3"];
    const { text } = JSON.parse((await refute(["run", ...wrapping, ...asked, "--json"])).stdout) as { text: string };
    const wrapped = wrapDecoder(readModel(words), { slots: 16 });
    const program = knownProgram(compile(wrapped.model, { shapes: {}, run: wrapped.run }));
    return { wrapping, asked, text, program };
  };

  itInTime("submit_postsAJobOfAllItems", async () => {
    const { players, env, close } = await openMarket();
    const flags = ["submit", model, ...decoder, ...generating, "--fee", "0.1"];
    const { status, output } = await refute(flags, env);
    expect(status, output).to.equal(0);
    const jobId = /job (0x[0-9a-f]{64})/.exec(output)![1] as Hex;
    const { history } = await followMarket(await players.chain.sessionOf(env.REFUTE_PRIVATE_KEY))();
    expect(history.jobs.get(jobId)!.job).to.include({ items: 7, firstItem: 0 });
    expect((await refute([...flags, "--items", "3"], env)).output).to.contain("--items: a decoder has as many items");
    expect((await refute([...flags, "--first-item", "3"], env)).output).to.contain("--first-item: a text begins at");
    await close();
  });

  itAtLength("submit_showsTheTextAsTheWorkerComputesIt", async function () {
    this.timeout(120_000);
    const { wrapping, asked, text, program } = await wordsJob();
    const { players, env, close } = await openMarket();
    const publisher = new TracePublisher();
    const url = `http://127.0.0.1:${await publisher.listen(0)}`;
    // The requester follows the job before it is computed.
    const execute: Execute = async (...of) => {
      await sleep(300);
      return reference()(...of);
    };
    const worker = await players.startWorker(await players.workerKey(), program, execute, { publisher });
    const ended = first(worker, "submitted").then(() => players.chain.advance(3_601));
    const flags = [...wrapping, ...asked, "--fee", "0.1", "--wait", "--stream", url];
    const { status, text: printed, output } = await refute(["submit", ...flags], env);
    await ended;
    expect(status, output).to.equal(0);
    expect(output).not.to.contain("warning");
    expect(printed.replace(/\n$/, "")).to.equal(
      text
        .split("\n")
        .map((line) => printable(line))
        .join("\n"),
    );
    const unheard = await refute(["submit", ...flags.filter((flag) => flag !== "--wait")], env);
    expect(unheard.stderr).to.contain("--stream also needs --decoder and --wait");
    expect(unheard.status).to.equal(2);
    await Promise.all([worker.stop(), publisher.close()]);
    await close();
  });

  itInTime("submitAndResult_takeAndGiveText", async () => {
    const { wrapping, asked, text, program } = await wordsJob();
    const { players, env, close } = await openMarket();
    const posted = await refute(["submit", ...wrapping, ...asked, "--fee", "0.1"], env);
    const jobId = /job (0x[0-9a-f]{64})/.exec(posted.output)![1]!;
    const worker = await players.startWorker(await players.workerKey(), program, reference());
    await first(worker, "submitted");
    await players.chain.advance(3_601);
    await first(worker, "delivered");
    await worker.stop();
    const [path, ...flags] = wrapping;
    for (const wait of [[], ["--wait"]]) {
      const asked = ["result", jobId, "--model", path!, ...flags, ...wait];
      const result = await refute(asked, env);
      expect(result.status, result.output).to.equal(0);
      expect(result.stdout.split("\n").at(-1)).to.equal(printable(`text ${JSON.stringify(text)}`));
      expect(JSON.parse((await refute([...asked, "--json"], env)).stdout)).to.include({ job: jobId, text });
    }
    await close();
  });

  for (const [what, flags, message] of [
    ["textLongerThanTheSlots", ["--prompt", "1", "--tokens", "17"], "needs 17 slots"],
    ["promptLongerThanTheSlots", ["--prompt", new Array(17).fill(1).join(), "--tokens", "1"], "a prompt of 17 tokens"],
    [
      "unknownToken",
      ["--prompt", "1,96", "--tokens", "1"],
      "the prompt's token 96: the model knows tokens from 0 to 95",
    ],
    ["greedyDraws", ["--greedy", ...generating, "--temperature", "1"], "the program is greedy"],
    ["tooManySlots", [...generating, "--slots", "65537"], "65537 slots, expected"],
  ] as const)
    itInTime(`${what}_isRefusedBeforeCompiling_exit2`, async () => {
      // A limit that compiling would not keep.
      const given = ["run", model, ...decoder, ...flags, "--compile-nodes", "1"];
      const { status, stderr } = await refute(given);
      expect(stderr).to.contain(message).and.contain("[DECODER_REQUEST]");
      expect(status).to.equal(2);
    });
});
