import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { startDevnet } from "../../../src/deploy/devnet/devnet.ts";
import { mlpBytes } from "../../../testkit/models/mlp.ts";
import { leaveOut } from "../shared/leaveOut.ts";
import { click, fill, picture, resize, waitForText, watchedPage } from "./browser.ts";
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
  const binary = anvilBinary();
  if (typeof binary !== "string") leaveOut(context, binary.missing);
  const devnet = await startDevnet({ port: 0, blockSeconds: 1, models: [], hasLiar: false, commandLine: [] });
  const watched = await watchedPage(browser);
  const { page, origins, problems } = watched;
  const take = (name: string): Promise<void> => picture(page, `${pictures}/${name}.png`);
  try {
    await resize(page, { width: 1_280, height: 900 });
    await page.goto(`${site}/#/playground`);
    const model = join(pictures, "mlp.onnx");
    writeFileSync(model, mlpBytes());
    await openFile(watched, model);
    await click(page, "button.run");
    await waitForText(page, "Be the cheat");
    await page.select("select[name=lie-step]", LIE.step);
    await fill(page, "input[name=lie-element]", LIE.element);
    await fill(page, "input[name=chain-rpc]", devnet.url);
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
