import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseEther } from "viem";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import { DispatchProcess } from "../../testkit/dispatch/dispatchProcess.ts";
import { passTime } from "../../testkit/dispatch/passTime.ts";
import { trainableModel, trainingBatch, TRAINABLE } from "../../testkit/models/trainable.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { SharedTraining } from "../../testkit/training/shares.ts";
import { refute } from "../cli/refute.ts";

const [SHARES, STEPS] = [2, 2];
const NOWHERE = ["--rpc-url", "http://127.0.0.1:9", "--chain-id", "1", "--market", `0x${"11".repeat(20)}`];

describe("refute job train", function () {
  this.timeout(900_000);
  const players = usePlayers("suite");
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-train-"));
    for (const name of ["x", "labels", "files"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "model.onnx"), trainableModel());
    writeFileSync(join(folder, "rates.json"), "[0.5]");
    for (let item = 0; item < STEPS; item++) {
      const { x, labels } = trainingBatch(item);
      writeFileSync(join(folder, "x", `${item}.bin`), floatTensor(x).bytes);
      writeFileSync(join(folder, "labels", `${item}.bin`), int64Tensor(labels).bytes);
    }
  });
  after(() => rmSync(folder, { recursive: true }));
  const at = (name: string): string => join(folder, name);

  it("killedInTheMiddle_goesOn_andWritesTheModelThatOneWorkerTrains_withItsInputsOffTheChain", async () => {
    const given = [
      ...[at("model.onnx"), "--loss", "crossEntropy", "--optimiser", "adam", "--input", `x=${at("x")}`],
      ...["--labels", at("labels"), "--input", `rates=${at("rates.json")}`, "--json"],
    ];
    const alone = await refute(["model", "train", ...given, "--out", at("alone.onnx")]);
    expect(alone.status, alone.stderr).to.equal(0);
    const { losses } = JSON.parse(alone.output) as { losses: number[] };

    const shared = new SharedTraining(readModel(trainableModel()), { loss: "crossEntropy", optimiser: "adam" });
    const shares = [{ part: TRAINABLE.batch / SHARES }, { join: SHARES }];
    const programs = shares.map((share) => knownProgram(shared.program(share)));
    const files = createServer(({ url }, response) => response.end(readFileSync(join(at("files"), url!.slice(1)))));
    await new Promise<void>((resolve) => void files.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(files.address() as AddressInfo).port}`;
    const publisher = new TracePublisher();
    const from = `http://127.0.0.1:${await publisher.listen(0)}`;
    const key = await players().workerKey();
    const served = { publisher, references: { sources: { hosts: [host] } } };
    const worker = await players().startWorker(key, programs, reference(), served);
    const { chain } = players();
    const requester = await chain.newAccount(parseEther("2"));
    let posts = 0;
    const rpc = await serveRpc(chain.provider, async ({ method }, pass) => {
      const answer = await pass();
      if (method === "eth_sendRawTransaction" && ++posts === 3) dispatcher.kill();
      return answer;
    });
    const flags = [
      ...["--shares", String(SHARES), "--fee", "0.02", "--budget", "1", "--state", at("training.db"), "--from", from],
      ...["--place-folder", at("files"), "--place-url", `http://${host}/`, "--out", at("trained.onnx")],
      ...["--withheld-seconds", "60", "--interval", "0.2", "--check", "0", "--rpc-url", rpc.url],
      ...["--chain-id", String(chain.chainId), "--market", chain.market],
    ];
    const dispatcher = new DispatchProcess(["job", "train", ...given, ...flags], requester);
    const over = new AbortController();
    const time = passTime(players(), { idle: new Set(), isWrong: () => false }, over.signal);
    const { status, stdout, stderr } = await dispatcher.run();
    over.abort();
    const { jobs } = await time;
    await Promise.all([worker.stop(), publisher.close(), rpc.close()]);
    files.close();
    expect(status, stderr).to.equal(0);
    expect(dispatcher.lives).to.equal(2);
    const { steps, fee } = JSON.parse(stdout) as { steps: { loss: number }[]; fee: string };
    expect(steps.map(({ loss }) => loss)).to.deep.equal(losses);
    expect([jobs.size, fee]).to.deep.equal([STEPS * (SHARES + 1), "0.12"]);
    expect([...jobs.values()].every(({ job }) => job.rootOnly)).to.equal(true);
    expect(readFileSync(at("trained.onnx")).equals(readFileSync(at("alone.onnx")))).to.equal(true);
    expect(readdirSync(folder).filter((name) => name.startsWith("training.db"))).to.deep.equal(["training.db"]);
  });

  it("sharesThatDoNotFitTheBatch_areRefused", async () => {
    const train = (...flags: string[]) =>
      refute(["job", "train", at("model.onnx"), "--loss", "crossEntropy", "--input", `x=${at("x")}`, ...flags]);
    const terms = ["--fee", "1", "--budget", "9", "--state", at("other.db"), "--shares"];
    const given = ["--labels", at("labels"), "--input", `rates=${at("rates.json")}`, ...terms];
    const uneven = await train(...given, "3", ...NOWHERE);
    expect(uneven.status).to.equal(2);
    expect(uneven.stderr).to.match(/--shares 3: the 4 examples of a batch cannot be cut into shares of one size/);
  });
});
