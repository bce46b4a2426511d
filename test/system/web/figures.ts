import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { DType } from "../../../src/numerics/dtype.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { click, fill, resize, waitFor, waitForText, watchedPage } from "./browser.ts";
import { openFile } from "./playgroundStory.ts";

const PARTS = ["start", "explorer", "playground", "node", "docs"];
/** Leaves of the tensor in which a number is changed: chunks of 128 floats. */
const CHUNKS = 10_000;
const CHUNK = 128;

/** Notes how long each frame takes, milliseconds. */
const RECORD = `
window.frames_ms = [];
(() => {
  let before = performance.now();
  const note = (now) => {
    window.frames_ms.push(now - before);
    before = now;
    window.recording = requestAnimationFrame(note);
  };
  window.recording = requestAnimationFrame(note);
})()`;
const STOP = `(cancelAnimationFrame(window.recording), window.frames_ms.slice(1))`;

/**
 * Prints how long the first paint of each part takes, and the frames while a dispute about a list of 10,000 is gone
 * through. Nothing is asserted of them: they depend on the machine and what else it does.
 */
export async function webFigures(browser: Browser, site: string, folder: string): Promise<void> {
  const paints: string[] = [];
  for (const part of PARTS) {
    const { page } = await watchedPage(browser);
    await page.goto(`${site}/#/${part}`);
    await waitFor(page, `performance.getEntriesByName("first-contentful-paint").length > 0`);
    const ms = await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`);
    await page.waitForSelector("main h1");
    const ready = await page.evaluate("performance.now()");
    paints.push(`${part} ${Number(ms).toFixed(0)} ms (its content before ${Number(ready).toFixed(0)} ms)`);
    await page.close();
  }
  console.log(`first paint: ${paints.join(", ")}`);
  const { page } = await watchedPage(browser);
  await resize(page, { width: 1_280, height: 900 });
  await page.goto(`${site}/#/playground`);
  const model = join(folder, "wide.onnx");
  writeFileSync(model, wideModel());
  await openFile({ page }, model);
  await click(page, "button.run");
  await waitForText(page, "Be the cheat");
  await fill(page, "input[name=lie-element]", String(7_777 * CHUNK + 5));
  await click(page, "button.lie");
  await waitForText(page, /The watcher finds the number in \d+ moves/);
  await waitForText(page, "of 10,000");
  console.log(`a dispute about ${CHUNKS} chunks, gone through: ${await framesOf(page)}`);
  await page.close();
}

/** One step over a tensor of so many chunks. */
const wideModel = (): Uint8Array =>
  buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [1, CHUNKS * CHUNK] }],
    outputs: [{ name: "y", dtype: DType.float32, shape: [1, CHUNKS * CHUNK] }],
    initializers: {},
    nodes: [{ op: "Neg", inputs: ["x"], outputs: ["y"] }],
  });

/** Goes up and down a dispute by keys, over it by the pointer, and scrolls past it. */
async function framesOf(page: Page): Promise<string> {
  const stages = Number(await page.evaluate(`document.querySelectorAll(".descent-name").length`));
  await page.focus(".descent");
  await page.evaluate(RECORD);
  for (const key of ["ArrowUp", "ArrowDown"] as const)
    for (let k = 0; k < stages; k++) await page.keyboard.press(key, { delay: 30 });
  const { x, y, width, height } = await boxOf(page);
  await page.mouse.move(x, y);
  await page.mouse.move(x + width, y + height, { steps: 60 });
  for (let k = 0; k < 40; k++) await page.mouse.wheel({ deltaY: k < 20 ? 100 : -100 });
  const frames = ((await page.evaluate(STOP)) as number[]).sort((a, b) => a - b);
  const at = (part: number): string => frames[Math.floor(part * (frames.length - 1))]!.toFixed(1);
  return `${frames.length} frames, half within ${at(0.5)} ms, 95 % within ${at(0.95)} ms, the longest ${at(1)} ms`;
}

type Box = { x: number; y: number; width: number; height: number };

const boxOf = async (page: Page): Promise<Box> =>
  (await page.evaluate(`document.querySelector(".descent svg").getBoundingClientRect().toJSON()`)) as Box;
