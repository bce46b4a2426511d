import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseEther } from "viem";
import { refute } from "./refute.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, Players, reference } from "../../testkit/players/players.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";

describe("refute, the command line", function () {
  let folder: string;
  let model: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    model = join(folder, "mlp.onnx");
    writeFileSync(model, mlpBytes());
  });
  after(() => rmSync(folder, { recursive: true }));

  it("compile_printsTheProgramsFacts", async function () {
    const { status, output } = await refute(["model", "compile", model]);
    expect(status).to.equal(0);
    expect(output)
      .to.contain(mlpProgram().model.programRoot)
      .and.match(/steps +\d+/);
    expect(output)
      .to.match(/checkpoints +\d+/)
      .and.match(/largest step proof, gas +\d+/)
      .and.match(/longest proof, bytes +\d+/);
    const json = await refute(["model", "compile", model, "--json"]);
    expect(JSON.parse(json.output)).to.have.property("programRoot", mlpProgram().model.programRoot);
  });

  it("stepBytes_limitsTheProofsOfTheProgram", async function () {
    const whole = mlpProgram().model.program.maxStepBytes;
    const { status, output } = await refute(["model", "compile", model, "--json", "--step-bytes", String(whole)]);
    expect(status).to.equal(0);
    expect(JSON.parse(output)).to.have.property("longestStepProofBytes", whole);
    const short = await refute(["model", "compile", model, "--step-bytes", "5000"]);
    expect(short.status).to.equal(1);
    expect(short.output).to.contain("5000 bytes").and.contain("COMPILE_STEP_PROOF");
  });

  it("limitsOfACompilation_areFlags", async () => {
    for (const flag of ["--compile-nodes", "--fold-elements"]) {
      const { status, output } = await refute(["model", "compile", model, flag, "1"]);
      expect(status, flag).to.equal(1);
      expect(output, flag).to.contain(flag).and.contain("COMPILE_BUDGET");
    }
  });

  const refusals: [name: string, args: string[], expected: RegExp][] = [
    ["unknownOption_isRefusedWithASuggestion", ["model", "compile", "m.onnx", "--shap", "x=1"], /Did you mean --shape/],
    ["unknownCommand_isRefusedWithASuggestion", ["complie", "m.onnx"], /Did you mean refute model compile/],
    ["missingFile_isNamed", ["model", "compile", "absent.onnx"], /absent\.onnx/],
    ["malformedShape_isRefused", ["model", "compile", "m.onnx", "--shape", "x:1"], /expected NAME=D0,D1/],
    ["malformedUint8_isRefused", ["model", "compile", "m.onnx", "--uint8", "x,scale=none"], /--uint8.*scale/],
    [
      "stepBytesAboveThePools_isRefused",
      ["model", "compile", "m.onnx", "--step-bytes", "131073"],
      /--step-bytes.*131072/,
    ],
    ["stepBytesThatAreNoNumber_isRefused", ["model", "compile", "m.onnx", "--step-bytes", "90k"], /--step-bytes 90k/],
    [
      "limitThatIsNoNumber_isRefused",
      ["model", "compile", "m.onnx", "--compile-mib", "1G"],
      /--compile-mib 1G: expected/,
    ],
    ["unknownUint8Key_isRefused", ["model", "compile", "m.onnx", "--uint8", "x,foo=1"], /foo/],
    ["missingSettings_areAllNamed", ["status"], /rpcUrl.*chainId.*market/],
    [
      "malformedAddress_isRefused",
      ["status", "--rpc-url", "http://h", "--chain-id", "1", "--market", "0x1"],
      /--market 0x1/,
    ],
  ];
  for (const [name, args, expected] of refusals) {
    it(name, async function () {
      const { status, output } = await refute(args);
      expect(status).to.equal(2);
      expect(output).to.match(expected);
    });
  }

  it("fileThatIsNoModel_isRefused", async function () {
    const file = join(folder, "text.onnx");
    writeFileSync(file, "not a model");
    const { status, output } = await refute(["model", "compile", file]);
    expect(status).to.equal(1);
    expect(output).to.contain("text.onnx").and.contain("[MODEL_");
  });

  it("shapeOfAnInputThatTheModelHasNot_isRefused", async function () {
    const { status, output } = await refute(["model", "compile", model, "--shape", "z=1,64"]);
    expect(status).to.equal(2);
    expect(output).to.contain("z");
  });

  describe("against a chain over HTTP", function () {
    let players: Players;
    let rpc: Awaited<ReturnType<typeof serveRpc>>;
    let env: Record<string, string>;
    before(async () => {
      players = await Players.create();
      rpc = await serveRpc(players.chain.provider);
      const { chainId, market } = players.chain;
      const cache = join(folder, "cache");
      env = { REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chainId), REFUTE_MARKET: market, REFUTE_CACHE: cache };
    });
    after(async () => {
      await rpc.close();
      await players.chain.close();
    });

    it("status_showsDeploymentAndAccounts_withoutAKey", async function () {
      const { status, output } = await refute(["status", "--json"], env);
      expect(status).to.equal(0);
      expect(JSON.parse(output)).to.have.nested.property("parameters.arityBits", 4);
      const worker = players.addressOf(await players.workerKey());
      const account = await refute(["status", "--account", worker, "--json"], env);
      expect(JSON.parse(account.output)).to.include({ attestationLive: true, staked: "3.6" });
    });

    it("wrongChainAndUnknownJob_areRefused", async function () {
      const wrong = await refute(["status", "--chain-id", "1"], env);
      expect([wrong.status, wrong.output]).to.satisfy(
        ([s, o]: [number, string]) => s === 2 && o.includes("WRONG_CHAIN"),
      );
      const unknown = await refute(["status", `0x${"ab".repeat(32)}`], env);
      expect(unknown.output).to.contain("JOB_UNKNOWN");
      expect((await refute(["status", "0x12"], env)).output).to.contain("JOB 0x12: expected a job's id");
    });

    it("submit_postsTheJob_andStatusFollowsIt", async function () {
      const input = join(folder, "x.bin");
      writeFileSync(input, mlpInput(1));
      const key = await players.chain.newAccount(parseEther("1"));
      const args = ["submit", model, "--input", `x=${input}`, "--fee", "0.1"];
      const posted = await refute(args, { ...env, REFUTE_PRIVATE_KEY: key });
      expect(posted.status, posted.output).to.equal(0);
      const jobId = /job (0x[0-9a-f]{64})/.exec(posted.output)![1]!;
      const opened = JSON.parse((await refute(["status", jobId, "--json"], env)).output) as unknown;
      expect(opened).to.include({ form: "trace", status: "open" }).and.not.have.any.keys("worker", "claim");
      const worker = await players.startWorker(await players.workerKey(), mlpProgram(), reference());
      await first(worker, "submitted");
      await worker.stop();
      expect(JSON.parse((await refute(["status", jobId, "--json"], env)).output)).to.have.property(
        "status",
        "submitted",
      );
    });

    it("submitThatWaits_writesAndShowsOutputs", async function () {
      const [model, input, to] = ["w.onnx", "w.bin", "w.npy"].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(model, mlpBytes());
      writeFileSync(input, mlpInput(9));
      const key = await players.chain.newAccount(parseEther("1"));
      const worker = await players.startWorker(await players.workerKey(), mlpProgram(), reference());
      const ended = first(worker, "submitted").then(() => players.chain.advance(3_700));
      const flags = ["--fee", "0.1", "--wait", "--top", "2", "--output", `y=${to}`];
      const args = ["submit", model, "--input", `x=${input}`, ...flags];
      const { status, stdout, output } = await refute(args, { ...env, REFUTE_PRIVATE_KEY: key });
      await ended;
      await worker.stop();
      expect(status, output).to.equal(0);
      expect(stdout).to.match(/\ny float32\[1, 10\]: .*\n {2}\d: [\d.e-]+, \d: [\d.e-]+$/);
      expect(readFileSync(to)).to.have.length(128 + 40);
    });

    it("result_showsAJob_withoutAKeyOrAModel_andAWaitThatIsStopped_printsTheCommandThatResumesIt", async function () {
      const { jobId } = await players.post(mlpProgram(), [mlpInput(3)], { window: 3_600 });
      const { programRoot } = mlpProgram().commitment;
      expect(await refute(["result", jobId], env)).to.include({
        status: 0,
        output: `job ${jobId}\nprogram ${programRoot}\nstatus open`,
      });
      const handlers = process.listenerCount("SIGINT");
      const waiting = refute(["result", jobId, "--wait"], env);
      while (process.listenerCount("SIGINT") === handlers) await new Promise((resolve) => setTimeout(resolve, 20));
      await new Promise((resolve) => setTimeout(resolve, 500));
      process.emit("SIGINT");
      const stopped = await waiting;
      expect(stopped.status).to.equal(130);
      expect(stopped.output).to.contain(`refute result ${jobId} --wait`).and.contain("[INTERRUPTED]");
      const worker = await players.startWorker(await players.workerKey(), mlpProgram(), reference());
      await first(worker, "submitted");
      const submitted = await refute(["result", jobId], env);
      expect(submitted.output).to.match(
        /status submitted\nclaim by 0x\w+, trace with root 0x\w+: may be disputed until /,
      );
      await players.chain.advance(3_700);
      const { status, output } = await refute(["result", jobId, "--wait"], env);
      await worker.stop();
      expect(status, output).to.equal(0);
      expect(output).to.match(/finalised, by 0x\w+\noutput 0 0x[0-9a-f]+$/);
      const after = await refute(["result", jobId], env);
      expect(after.output).to.match(/status complete\nclaim by .*: final\noutput 0 0x[0-9a-f]+$/);
      expect((await refute(["result", `0x${"ab".repeat(32)}`, "--wait"], env)).output).to.contain("JOB_UNKNOWN");
      expect((await refute(["result", "0x12"], env)).output).to.contain("JOB 0x12: expected a job's id");
    });

    it("submit_withAFeeBelowAWorkersCosts_warnsBeforeItSpends_andWithOneThatCoversThem_doesNot", async function () {
      const input = join(folder, "x.bin");
      writeFileSync(input, mlpInput(2));
      // It has no credit and no tokens: it cannot pay the fee.
      const key = { ...env, REFUTE_PRIVATE_KEY: await players.chain.newAccount() };
      const submit = (fee: string) => refute(["submit", model, "--input", `x=${input}`, "--fee", fee], key);
      const low = await submit("0.000000000000000001");
      expect(low.status).to.equal(1);
      expect(low.output).to.contain("warning: --fee 0.000000000000000001 is below 0.0").and.contain("gwei");
      expect((await submit("0.1")).output).not.to.contain("warning");
    });

    it("feeThatIsNothingOrRoundsToIt_isRefused_byTheNameOfItsFlag", async function () {
      const input = join(folder, "x.bin");
      writeFileSync(input, mlpInput(2));
      for (const fee of ["0", "0.0", "0.0000000000000000004", "1e-19", "x"]) {
        const { status, output } = await refute(["submit", model, "--input", `x=${input}`, "--fee", fee], env);
        expect(status).to.equal(2);
        expect(output).to.contain("[USAGE]").and.contain(`--fee ${fee}: expected an amount`);
      }
      const models = join(folder, "models.json");
      writeFileSync(models, JSON.stringify([{ path: model }]));
      const worker = await refute(["worker", "--models", models, "--min-fee", "0.0000000000000000004"], env);
      expect(worker.output)
        .to.contain("--min-fee 0.0000000000000000004: expected an amount")
        .and.contain("at most 18 decimals");
    });

    it("submitWithoutAKeyOrAnInput_isRefused", async function () {
      const input = join(folder, "x.bin");
      writeFileSync(input, mlpInput(1));
      const noKey = await refute(["submit", model, "--input", `x=${input}`, "--fee", "0.1"], env);
      expect(noKey.output).to.contain("[KEY]");
      expect((await refute(["submit", model, "--fee", "0.1"], env)).output).to.contain("--input x=FILE");
      expect((await refute(["submit", model, "--fee", "0.1", "--input", "q=f"], env)).output).to.contain("no input q");
    });

    it("worker_withAnUnusableModelsFile_isRefused", async function () {
      const models = join(folder, "models.json");
      writeFileSync(models, '[{"path": "m.onnx", "shape": {}}]');
      const { status, output } = await refute(["worker", "--models", models], env);
      expect(status).to.equal(2);
      expect(output).to.contain("models file").and.contain("shape");
    });

    for (const role of ["worker", "watcher"])
      it(`${role}_waitsAtItsStartForANode_saysSo_andAStopEndsTheWait`, async function () {
        const models = join(folder, "models.json");
        writeFileSync(models, JSON.stringify([{ path: model }]));
        const own = { ...env, REFUTE_PRIVATE_KEY: await players.workerKey() };
        /** Starts the role on a node that fails at first, and stops the role after a request. */
        const play = async (failures: number, stopAt: (method: string, asked: number) => boolean) => {
          let asked = 0;
          let stop!: () => void;
          const isReached = new Promise<void>((resolve) => (stop = resolve));
          const node = await serveRpc(players.chain.provider, ({ method }, pass) => {
            if (stopAt(method, ++asked)) stop();
            if (asked > failures) return pass();
            return Promise.reject(Object.assign(new Error("upstream request failed"), { code: -32_000 }));
          });
          const args = [role, "--models", models, "--interval", "0.02"];
          const running = refute(args, { ...own, REFUTE_RPC_URL: node.url });
          await Promise.race([isReached, running]);
          process.emit("SIGTERM");
          return running.finally(() => node.close());
        };
        // A connection is tried six times: the first one fails, and the second one.
        const late = await play(10, (method) => method === "eth_getLogs");
        expect(late.status, late.output).to.equal(0);
        expect(late.output).to.contain("no answer at the start: waits for one").and.contain("there is an answer");
        expect(late.output).to.contain(`${role} stops`);
        const never = await play(Infinity, (_, asked) => asked > 8);
        expect(never.status, never.output).to.equal(0);
        expect(never.output).to.contain("no answer at the start").and.not.contain(`${role} starts`);
      });

    it("worker_servesAJob_andStopsAtItsSignal", async function () {
      const models = join(folder, "models.json");
      writeFileSync(models, JSON.stringify([{ path: model }]));
      const key = await players.workerKey();
      const { requester, jobId } = await players.post(mlpProgram(), [mlpInput(2)]);
      const running = refute(["worker", "--models", models, "--interval", "0.02"], {
        ...env,
        REFUTE_PRIVATE_KEY: key,
      });
      const { jobProgress } = await import("../../src/parties/requester/result.ts");
      while ((await jobProgress(requester, jobId)).status !== "submitted") {
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      process.emit("SIGTERM");
      const { status, output } = await running;
      expect(status).to.equal(0);
      expect(output).to.contain("worker stops");
    });
  });
});
