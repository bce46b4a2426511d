import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { startDevnet } from "../../../src/deploy/devnet/devnet.ts";
import { mlpBytes } from "../../../testkit/models/mlp.ts";
import { leaveOut } from "../shared/leaveOut.ts";
import { click, fill, picture, textOf, waitForText, watchedPage, type Watched } from "./browser.ts";
import { openFile } from "./playgroundStory.ts";

/** A number of the first product: the changed one is found by more than one move in each of the lists. */
const LIE = { step: "0", element: "299" };

/**
 * A number that is changed in the playground and refuted on a real node: the devnet's chain, without its worker and
 * watcher. The explorer shows the same.
 * @throws Error if something is not shown, or the page asks whom it must not
 */
export async function chainStory(
  context: Mocha.Context,
  browser: Browser,
  site: string,
  pictures: string,
): Promise<void> {
  const devnet = await startedDevnet(context, []);
  const watched = await watchedPage(browser);
  const { page, origins, problems } = watched;
  const take = (name: string): Promise<void> => picture(page, `${pictures}/${name}.png`);
  try {
    await beTheCheat(watched, site, writtenModel(pictures), devnet.url);
    await fill(page, "input[name=chain-market]", "0x1234");
    await page.keyboard.press("Enter");
    await waitForText(page, "the market: give its address");
    await fill(page, "input[name=chain-market]", devnet.deployment.market);
    await click(page, "button.on-chain");
    await waitForText(page, "to move");
    await take("playground-chain");
    await waitForText(page, "the worker has lost what it staked on it");
    await waitForText(page, "recomputed by the chain, float32");
    await take("playground-chain-refuted");
    await click(page, "a[href*='explorer/game']");
    await waitForText(page, /Dispute 0x/);
    await waitForText(page, "The sum of 64 products");
  } finally {
    await page.close();
    await devnet.close();
  }
  const others = [...origins].filter((origin) => origin !== site && origin !== new URL(devnet.url).origin);
  if (others.length > 0) throw new Error(`the playground asked ${others.join(", ")}`);
  if (problems.length > 0) throw new Error(`in the playground on a chain: ${problems.join("; ")}`);
}

/**
 * The same on a devnet whose own watcher serves the model: whoever refutes the claim, the page says that it is refuted.
 * @throws Error if the page calls the race an error
 */
export async function overtakenStory(
  context: Mocha.Context,
  browser: Browser,
  site: string,
  pictures: string,
): Promise<void> {
  const model = writtenModel(pictures);
  const devnet = await startedDevnet(context, [model]);
  const watched = await watchedPage(browser);
  const { page, problems } = watched;
  try {
    await beTheCheat(watched, site, model, devnet.url);
    await fill(page, "input[name=chain-market]", devnet.deployment.market);
    await click(page, "button.on-chain");
    await waitForText(page, "the worker has lost what it staked on it");
    if ((await textOf(page)).includes("This did not work")) throw new Error("a race that was lost is told as an error");
  } finally {
    await page.close();
    await devnet.close();
  }
  if (problems.length > 0) throw new Error(`in a race: ${problems.join("; ")}`);
}

/** @param models Files that the devnet's own worker and watcher serve. */
function startedDevnet(context: Mocha.Context, models: readonly string[]): ReturnType<typeof startDevnet> {
  const binary = anvilBinary();
  if (typeof binary !== "string") leaveOut(context, binary.missing);
  const specs = models.map((path) => ({ path, shapes: {}, bind: {}, uint8: [] }));
  const commandLine = [process.execPath, "--import", "tsx", "src/cli/main.ts"];
  return startDevnet({ port: 0, blockSeconds: 1, models: specs, hasLiar: false, commandLine });
}

function writtenModel(folder: string): string {
  const path = join(folder, "mlp.onnx");
  writeFileSync(path, mlpBytes());
  return path;
}

/** Executes a model, and chooses a number to change, and a node. */
async function beTheCheat(watched: Watched, site: string, model: string, rpc: string): Promise<void> {
  const { page } = watched;
  await page.setViewport({ width: 1_280, height: 900 });
  await page.goto(`${site}/#/playground`);
  await openFile(watched, model);
  await click(page, "button.run");
  await waitForText(page, "Be the cheat");
  await page.select("select[name=lie-step]", LIE.step);
  await fill(page, "input[name=lie-element]", LIE.element);
  await fill(page, "input[name=chain-rpc]", rpc);
}
