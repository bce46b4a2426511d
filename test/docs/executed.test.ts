import { encryptKeystoreJson } from "ethers";
import { expect } from "chai";
import { loadCurve } from "../../src/circuits/groth16/curve.ts";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { startLocalChain, type LocalChain } from "../../src/deploy/demo/localChain.ts";
import { writeAddressFile } from "../../src/deploy/network/writeAddressFile.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { writeNpy } from "../../src/model/onnx/inputs/npy.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { TRAINABLE, trainableModel, trainingBatch } from "../../testkit/models/trainable.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { DongleProcess } from "../../testkit/processes/dongleProcess.ts";
import { refute } from "../cli/refute.ts";
import { commandOf, documentedCalls } from "./documentedCalls.ts";
import { SECRETS } from "../../testkit/circuits/networks.ts";
import { powersFile, powersSections } from "../../testkit/circuits/powersFile.ts";

/**
 * Commands that run until they are ended: `refute config` takes their flags and values; test/e2e and test/system run
 * them.
 */
const ON_AND_ON = /^(worker|watcher|tickets serve|fleet executor|devnet)\b(?! --help)/;

const WITH_OTHERS = "executedWithOthers.test.ts executes them, with the workers, servers and nodes that they need";

/** Calls that are not executed here, and why not: what executes the like. */
const ELSEWHERE: [RegExp, string][] = [
  [/ --help$/, "test/docs/commands.test.ts executes them"],
  [/^device dongle dongle\b(?! --help)/, "runs beside the others, in a process of its own"],
  [/^deploy --/, "a whole network, in the order of its page: test/docs/deploying.test.ts"],
  [/^(tickets ask|job dispatch|panel|job reclaim|tdx|device attest --tdx|model calibrate decoder\.onnx) /, WITH_OTHERS],
  [/ (--blobs|--reference https:)/, WITH_OTHERS],
  [/^(text (gateway|receipt|validate)|deploy validator) /, "a gateway, its texts, registries: test/cli/text.test.ts"],
  [/^job train /, "workers, and a server of the jobs' inputs: test/e2e/trainShares.test.ts"],
  [/ --proof-key /, "a worker that proves: test/parties/worker/prover.test.ts"],
  [/^account unstake$/, "days after the first call: test/cli/account.test.ts"],
];

/** What others need comes before them, what ends a thing last; else the pages' order holds. */
const FIRST = [
  ...["device stand-in-manufacturer", "device stand-in", "deploy exams", "deploy tickets"],
  ...["account deposit", "device attest"],
];
const LAST = ["result", "job cancel", "job expire", "account withdraw", "account unstake", "device release"];

const [SHAPE, F] = [[1, 4], DType.float32];
const io = (...names: string[]) => names.map((name) => ({ name, dtype: F, shape: SHAPE }));
const buildModels = () => ({
  plain: buildModel({
    inputs: io("x"),
    outputs: io("scores", "price"),
    initializers: { two: floatTensor([2]) },
    nodes: [
      { op: "Mul", inputs: ["x", "two"], outputs: ["scores"] },
      { op: "Add", inputs: ["x", "two"], outputs: ["price"] },
    ],
  }),
  /** One step of a run. */
  step: buildModel({
    inputs: io("x", "state"),
    outputs: io("next", "y"),
    nodes: [
      { op: "Add", inputs: ["x", "state"], outputs: ["next"] },
      { op: "Relu", inputs: ["next"], outputs: ["y"] },
    ],
  }),
  /** Of pictures of any size. */
  picture: buildModel({
    inputs: [{ name: "x", dtype: F, shape: ["n", "a", "b", "c"] }],
    outputs: [{ name: "y", dtype: F, shape: ["n", "a", "b", "c"] }],
    nodes: [{ op: "Relu", inputs: ["x"], outputs: ["y"] }],
  }),
  training: trainableModel(),
  /** Its vocabulary has the tokens of the page. */
  decoder: llama({ ...LLAMA_TINY, vocabulary: 16_000, positions: 512 }),
});

/** The model that a call is about: each page has its own `model.onnx`. */
function modelOf(call: string, models: ReturnType<typeof buildModels>): Uint8Array {
  if (call.includes("state=next")) return models.step;
  if (call.includes("--shape x=")) return models.picture;
  if (call.includes(" --decoder ")) return models.decoder;
  return call.startsWith("model train ") ? models.training : models.plain;
}

const CALLS = documentedCalls();
/** Why a call is not executed here. */
const reasonOf = (call: string): string | undefined => ELSEWHERE.find(([which]) => which.test(call))?.[1];
const placeOf = ({ call }: { call: string }): number => {
  const name = commandOf(call.split(" "));
  if (FIRST.includes(name)) return FIRST.indexOf(name) - FIRST.length;
  return LAST.indexOf(name) + 1;
};
/** Those that are executed, each once. */
const HERE = [...new Map(CALLS.map((one) => [one.call, one])).values()]
  .filter(({ call }) => reasonOf(call) === undefined)
  .sort((one, other) => placeOf(one) - placeOf(other));

describe("calls in the pages' blocks", function () {
  this.timeout(300_000);

  itInTime("reasonsNotToExecuteOne_areInUse", () => {
    const unused = ELSEWHERE.filter(([which]) => !CALLS.some(({ call }) => which.test(call)));
    expect(unused.map(([, why]) => why)).to.deep.equal([]);
    expect(HERE.length).to.be.greaterThan(30);
  });

  itAtLength("theOthers_inOneFolderAndOnOneChain_succeed", async () => {
    const project = process.cwd();
    const toClose: (() => Promise<unknown>)[] = [];
    const folder = mkdtempSync(join(tmpdir(), "pages-"));
    writeFiles(folder);
    writeFileSync(join(folder, "powers.ptau"), powersFile(powersSections(await loadCurve(), 11, SECRETS)));
    let chain: LocalChain | undefined;
    let env: Record<string, string> = {};
    /** What stands on the pages for what only their reader has. */
    const typed: Record<string, string> = { "MODEL.onnx": "model.onnx" };
    const models = buildModels();
    const jobs: { job: string; model: Uint8Array }[] = [];
    const failed: string[] = [];
    try {
      for (const { page, market, call, words } of HERE) {
        const name = commandOf(words);
        if (chain === undefined && !name.startsWith("device stand-in")) {
          chain = await startLocalChain({ manufacturers: [typed.MANUFACTURER!] });
          const rpc = await serveRpc(chain.provider);
          const key = await chain.newAccount(parseEther("100"));
          // `refute device dongle dongle`, until all is done.
          const dongle = await DongleProcess.start(join(folder, "dongle"));
          toClose.push(
            chain.close,
            () => rpc.close(),
            () => dongle.kill("SIGTERM"),
          );
          const { address } = privateKeyToAccount(key);
          const keystore = await encryptKeystoreJson({ address, privateKey: key }, "word", { scrypt: { N: 2 } });
          writeFileSync(join(folder, "key.json"), keystore);
          writeAddressFile(join(folder, "deployments"), (await chain.sessionOf(key)).deployment, 1n);
          env = { REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chain.chainId), REFUTE_MARKET: chain.market };
          Object.assign(env, { REFUTE_PRIVATE_KEY: key, REFUTE_KEYSTORE_PASSWORD: "word", REFUTE_CONFIRMATIONS: "1" });
          Object.assign(typed, { ADDRESS: address, WORKER: address, "0x1234...,0xabcd...": address });
        }
        // A job that no worker takes is over some days later.
        if (name === "job expire") await chain!.advance(30 * 86_400);
        typed.AMOUNT = name === "account deposit" ? "9" : "1";
        const model = modelOf(call, models);
        // What is cancelled is not what expires.
        const ofModel = jobs.filter((one) => one.model === model);
        typed.JOB = ofModel.at(name === "job cancel" ? -1 : 0)?.job ?? "none";
        const args = withoutChoices(words).flatMap((word, k, words) => {
          if (/^(\[?--wait\]?|\.\.\.)$/.test(word)) return [];
          if (words[k - 1] === "--exams") return [typed.EXAMS!];
          return [typed[word] ?? word.replaceAll('"', "")];
        });
        process.chdir(folder);
        writeFileSync("model.onnx", model);
        const of = market === undefined ? env : { ...env, REFUTE_MARKET: typed[market]! };
        const { status, output, stdout } = await refute(
          [...(ON_AND_ON.test(call) ? ["config"] : []), ...args, "--json"],
          of,
        );
        process.chdir(project);
        if (status !== 0) {
          failed.push(`${page}: refute ${args.join(" ")}: ${output}`);
          continue;
        }
        const { job, manufacturer, exams, tickets, claims } = JSON.parse(stdout) as Record<string, string>;
        if (name === "submit") jobs.push({ job: job!, model });
        if (name === "device stand-in-manufacturer") typed.MANUFACTURER = manufacturer!;
        if (name === "deploy exams") typed.EXAMS = exams!;
        if (name === "deploy tickets") Object.assign(typed, { TICKETS: tickets!, CLAIMS: claims! });
      }
      expect(failed).to.deep.equal([]);
    } finally {
      process.chdir(project);
      for (const close of toClose.reverse()) await close();
      rmSync(folder, { recursive: true });
    }
  });
});

/** Of `[AMOUNT]` and `[JOB | --account ADDRESS]` the first. */
const withoutChoices = (words: readonly string[]): string[] =>
  words
    .join("\0")
    .replace(/\[([A-Z]+)[^\]]*\]/, "$1")
    .split("\0");

/** The inputs and settings that the pages name. */
function writeFiles(folder: string): void {
  const at = (name: string): string => join(folder, name);
  for (const name of ["pictures", "batches", "labels", "deployments"]) mkdirSync(at(name));
  const vector = (k: number) => writeNpy(floatTensor([k, 1, -2, 0.5], SHAPE));
  const files = ["x.npy", "state.npy", "zeros.npy", "pictures/1.npy", "pictures/2.npy"];
  files.forEach((name, k) => writeFileSync(at(name), vector(k)));
  writeFileSync(at("x.json"), "[[5.1, 3.5, 1.4, 0.2]]");
  writeFileSync(at("picture.bin"), new Uint8Array(48 * 192 * 3));
  writeFileSync(at("rates.json"), "[0.5]");
  const { x, labels } = trainingBatch(0);
  writeFileSync(at("batches/0.npy"), writeNpy(floatTensor(x, [TRAINABLE.batch, TRAINABLE.inputs])));
  writeFileSync(at("labels/0.npy"), writeNpy(int64Tensor(labels, [TRAINABLE.batch])));
  copyFileSync("test/golden/tokenizers/byteLevelBpe.json", at("tokenizer.json"));
  writeFileSync(at("models.json"), JSON.stringify([{ path: "model.onnx" }]));
}
