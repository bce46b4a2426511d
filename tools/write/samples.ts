/**
 * Writes the models that the page offers to be tried (web/public/samples), and the dispute that its first screen shows
 * (web/landing/recorded.json). test/web/samples.test.ts judges all of them.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { SoftwareManufacturer } from "../../src/attestation/manufacturer.ts";
import { followMarket, type Session } from "../../src/chain/market/session.ts";
import { Narrator } from "../../src/deploy/demo/narrator.ts";
import { runDemo } from "../../src/deploy/demo/demo.ts";
import { startLocalChain } from "../../src/deploy/demo/localChain.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { irisBytes } from "../../testkit/models/iris.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { readDigits, SIDE } from "../../testkit/training/digits.ts";
import { lastSumOf } from "../../web/explorer/lastSum.ts";
import { movesKept, type Recorded } from "../../web/landing/recorded.ts";
import { codesOf, LETTERS, WINDOW } from "../../web/playground/letters.ts";
import { readOptions } from "../options.ts";
import { Network, type Example } from "./network.ts";
import { writeFormatted } from "./writeFormatted.ts";

const FOLDER = "web/public/samples";
const RECORD = "web/landing/recorded.json";

/** Digits are seen at half the side. */
const HALF = SIDE / 2;
const DIGITS = { inputs: HALF * HALF, hidden: 24, outputs: 10 };
const TEXT = { inputs: WINDOW * LETTERS.length, hidden: 32, outputs: LETTERS.length };

readOptions({});
mkdirSync(FOLDER, { recursive: true });
writeFileSync(`${FOLDER}/iris.onnx`, irisBytes());
writeFileSync(`${FOLDER}/digit.onnx`, digitModel());
writeFileSync(`${FOLDER}/letter.onnx`, letterModel());
await writeFormatted(RECORD, JSON.stringify(await recordDispute()));

/** A picture of a digit, 28 x 28, white on black: averages of 2 x 2, and two layers. */
function digitModel(): Uint8Array {
  const network = new Network(DIGITS, Math.max.bind(undefined, 0), (value) => (value > 0 ? 1 : 0));
  const { training } = readDigits();
  network.train(
    training.map(({ label, pixels }) => ({ label, inputs: halved(pixels) })),
    { epochs: 12, rate: 0.03 },
  );
  return buildModel({
    inputs: [{ name: "picture", dtype: DType.float32, shape: [1, 1, SIDE, SIDE] }],
    outputs: [{ name: "digits", dtype: DType.float32, shape: [1, 10] }],
    initializers: {
      w1: floatTensor(network.first, [DIGITS.inputs, DIGITS.hidden]),
      b1: floatTensor(network.firstBias),
      w2: floatTensor(network.second, [DIGITS.hidden, 10]),
      b2: floatTensor(network.secondBias),
    },
    nodes: [
      {
        op: "AveragePool",
        inputs: ["picture"],
        outputs: ["small"],
        attributes: { kernel_shape: [2, 2], strides: [2, 2] },
      },
      { op: "Flatten", inputs: ["small"], outputs: ["flat"] },
      { op: "Gemm", inputs: ["flat", "w1", "b1"], outputs: ["hidden"] },
      { op: "Relu", inputs: ["hidden"], outputs: ["active"] },
      { op: "Gemm", inputs: ["active", "w2", "b2"], outputs: ["scores"] },
      { op: "Softmax", inputs: ["scores"], outputs: ["digits"], attributes: { axis: -1 } },
    ],
  });
}

function halved(pixels: Float32Array): Example["inputs"] {
  const inputs: [number, number][] = [];
  for (let at = 0; at < HALF * HALF; at++) {
    const top = 2 * SIDE * Math.floor(at / HALF) + 2 * (at % HALF);
    const sum = pixels[top]! + pixels[top + 1]! + pixels[top + SIDE]! + pixels[top + SIDE + 1]!;
    if (sum > 0) inputs.push([at, sum / 4]);
  }
  return inputs;
}

/** The letter that comes next in English, from the last ones: a row for each letter at each place, and two layers. */
function letterModel(): Uint8Array {
  const text = globSync("docs/*.md")
    .sort()
    .map((page) => readFileSync(page, "utf8"))
    .filter((page) => !page.includes("<table"))
    .join(" ");
  const codes = codesOf(text);
  const examples: Example[] = [];
  for (let at = WINDOW; at < codes.length; at += 2)
    examples.push({
      label: codes[at]!,
      inputs: codes.slice(at - WINDOW, at).map((code, k) => [k * LETTERS.length + code, 1]),
    });
  const network = new Network(TEXT, Math.tanh, (value) => 1 - value * value);
  network.train(examples, { epochs: 6, rate: 0.02 });
  return buildModel({
    inputs: [{ name: "codes", dtype: DType.int64, shape: [1, WINDOW] }],
    outputs: [{ name: "next", dtype: DType.float32, shape: [1, LETTERS.length] }],
    initializers: {
      places: int64Tensor(Array.from({ length: WINDOW }, (_, k) => k * LETTERS.length)),
      rows: floatTensor(network.first, [TEXT.inputs, TEXT.hidden]),
      axes: int64Tensor([1]),
      b1: floatTensor(network.firstBias),
      w2: floatTensor(network.second, [TEXT.hidden, TEXT.outputs]),
      b2: floatTensor(network.secondBias),
    },
    nodes: [
      { op: "Add", inputs: ["codes", "places"], outputs: ["numbers"] },
      { op: "Gather", inputs: ["rows", "numbers"], outputs: ["read"], attributes: { axis: 0 } },
      { op: "ReduceSum", inputs: ["read", "axes"], outputs: ["total"], attributes: { keepdims: 0 } },
      { op: "Add", inputs: ["total", "b1"], outputs: ["hidden"] },
      { op: "Tanh", inputs: ["hidden"], outputs: ["active"] },
      { op: "Gemm", inputs: ["active", "w2", "b2"], outputs: ["scores"] },
      { op: "Softmax", inputs: ["scores"], outputs: ["next"], attributes: { axis: -1 } },
    ],
  });
}

/** Plays the story of `npm start`, and keeps its dispute. */
async function recordDispute(): Promise<Recorded> {
  let kept: Pick<Recorded, "moves" | "sum"> | undefined;
  const { fraud, program } = await runDemo(new Narrator(console.log), async (manufacturer: SoftwareManufacturer) => {
    const chain = await startLocalChain({ manufacturers: [manufacturer.id] });
    const close = async (): Promise<void> => {
      kept = await disputeOf(await chain.newSession());
      await chain.close();
    };
    return {
      chain: { ...chain, close },
      kind: "A chain",
      reader: "nobody",
      answerOf: () => Promise.resolve({ text: "not read", confidencePpm: 0 }),
    };
  });
  return {
    ...kept!,
    model: "ppocr2_cls",
    operator: fraud.operator,
    steps: program.steps,
    gas: fraud.moves.map(({ gas }) => gas),
    step: fraud.step,
    element: fraud.element,
    slashed: `${fraud.slashed} WETH`,
  };
}

async function disputeOf(session: Session): Promise<Pick<Recorded, "moves" | "sum">> {
  const { history } = await followMarket(session)();
  const game = [...history.games.values()].find(({ proved }) => proved !== undefined)!;
  const { to, input } = await session.publicClient.getTransaction({ hash: game.closed!.transactionHash });
  const { words, ...sum } = lastSumOf({ to, input }, session.deployment.game, game.proved!)!;
  if (words.claimed === words.exact) throw new Error("nothing was refuted");
  return { moves: movesKept(game), sum };
}
