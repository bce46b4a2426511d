import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseEther } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { startLocalChain, type LocalChain } from "../../src/deploy/demo/localChain.ts";
import { drawnMlp, mlpBytes, mlpInput } from "../../testkit/models/mlp.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { refute } from "./refute.ts";

describe("refute deploy exams, classes, exam and canary", function () {
  this.timeout(60_000);
  let folder: string;
  let chain: LocalChain;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let network: Record<string, string>;
  let models: string;
  let exams: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    chain = await startLocalChain();
    rpc = await serveRpc(chain.provider);
    network = {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chain.chainId), REFUTE_MARKET: chain.market },
      REFUTE_PRIVATE_KEY: await chain.newAccount(parseEther("1")),
    };
    const model = join(folder, "mlp.onnx");
    writeFileSync(model, mlpBytes());
    models = join(folder, "models.json");
    writeFileSync(models, JSON.stringify([{ path: model, drawn: { x: { low: -1, high: 1 } } }]));
    const examClasses = join(folder, "zoo.json5");
    const { programRoot } = drawnMlp().model;
    const classes = [
      { programRoot, blocks: 256 },
      { programRoot: `0x${"12".repeat(32)}`, blocks: 16 },
    ];
    writeFileSync(examClasses, JSON.stringify({ odds: 2, spacing: 256, classes }));
    const deployed = await refute(
      [
        "deploy",
        "exams",
        "--zoo",
        examClasses,
        "--folder",
        join(folder, "deployments"),
        "--confirmations",
        "1",
        "--json",
      ],
      network,
    );
    expect(deployed.status, deployed.output).to.equal(0);
    exams = (JSON.parse(deployed.stdout) as { exams: string }).exams;
  });
  after(async () => {
    await rpc.close();
    await chain.close();
    rmSync(folder, { recursive: true });
  });

  it("classes_showsWhatAWorkerHolds_andWhichProgramsThisMachineHas", async () => {
    const account = privateKeyToAddress(network.REFUTE_PRIVATE_KEY as `0x${string}`);
    const { status, output } = await refute(
      ["exam", "classes", "--exams", exams, "--account", account, "--models", models],
      network,
    );
    expect(status, output).to.equal(0);
    expect(output).to.match(/class 0 +256 blocks +0x[0-9a-f]{64} +.*mlp\.onnx +not held, 0 of the last 16/);
    expect(output).to.match(/class 1 +16 blocks +0x1212[0-9a-f]+ +no model here/);
  });

  it("exam_rehearsed_saysWhatThisMachineWouldPass", async () => {
    const params = ["0x100", "0xc"];
    await chain.provider.request({ method: "hardhat_mine", params });
    const args = ["--exams", exams, "--models", models];
    const { status, output } = await refute(["exam", "rehearse", ...args], network);
    expect(status, output).to.equal(0);
    expect(output).to.match(/class 0 +would pass +\d+\.\d\d s +of 30\d\d s/);
    expect(output).to.match(/class 1 +no model here/);
    // Without the word, but with its flag, it is the command of the last release.
    const old = await refute(["exam", ...args, "--rehearse"], network);
    expect(old.status, old.output).to.equal(0);
    expect(old.stderr).to.contain("refute exam is refute exam rehearse now");
    expect(old.stdout).to.match(/class 0 +would pass +\d+\.\d\d s +of 30\d\d s/);
  });

  it("canary_postsJobsOverFilesOfAFolder_untilThePurseIsSpent", async () => {
    const inputs = join(folder, "inputs");
    mkdirSync(inputs);
    for (const k of [1, 2, 3]) writeFileSync(join(inputs, `${k}.bin`), mlpInput(k));
    const args = ["job", "canary", join(folder, "mlp.onnx"), "--fee", "0.1", "--per-day", "5000000", "--json"];
    const done = await refute([...args, "--purse", "0.25", "--inputs", `x=${inputs}`], network);
    expect(done.status, done.output).to.equal(0);
    const { jobs } = JSON.parse(done.stdout) as { jobs: string[] };
    expect(new Set(jobs).size).to.equal(2);
    const status = await refute(["status", jobs[1]!], network);
    expect(status.output).to.match(/status +open/);
    for (const given of ["x", `x=${join(folder, "none")}`]) {
      const refused = await refute([...args, "--purse", "0.25", "--inputs", given], network);
      expect(refused.status).to.equal(2);
      expect(refused.output).to.contain("--inputs");
    }
  });

  it("addressWithoutExams_isRefused", async () => {
    const { status, output } = await refute(["exam", "classes", "--exams", chain.market], network);
    expect(status).to.equal(1);
    expect(output).to.contain("[WRONG_EXAMS]");
  });
});
