import type { Browser } from "puppeteer-core";
import { serveRpc } from "../../../testkit/nodes/rpcServer.ts";
import { click, fill, goTo, waitFor, waitForText, watchedPage } from "./browser.ts";
import { StoryMarket } from "./market.ts";

const WIDE = { width: 1_280, height: 900 };
const NARROW = { width: 390, height: 844 };

/**
 * The explorer: a market, its jobs, a dispute that goes on while somebody looks.
 * @throws Error if something is not shown, or the page asks whom it must not
 */
export async function explorerStory(browser: Browser, site: string, pictures: string): Promise<void> {
  const market = await StoryMarket.create();
  const { chain } = market.players;
  const rpc = await serveRpc(chain.provider);
  const { page, origins, problems } = await watchedPage(browser);
  const picture = async (name: string): Promise<void> => {
    await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
  };
  try {
    await page.setViewport(WIDE);
    await page.goto(site);
    await waitForText(page, "Look at a market");
    await picture("start");
    await fill(page, "input[name=market]", chain.market);
    await fill(page, "input[name=rpc]", rpc.url);
    await page.keyboard.press("Enter");
    await waitForText(page, "No jobs yet");
    await picture("empty");
    await market.honestJobs();
    await waitForText(page, "final, delivered");
    await market.halfDispute();
    await waitForText(page, "in dispute");
    await picture("market");
    await click(page, "tr:first-child a");
    await waitForText(page, "Dispute 0x");
    await picture("job");
    await click(page, ".links a");
    await waitForText(page, "gas so far");
    await picture("dispute-half");
    await market.endDispute();
    await waitForText(page, "recomputed by the chain, float32");
    await waitForText(page, /The sum of 64 products/);
    await waitFor(page, `!document.querySelector("table").innerText.includes("…\\t")`);
    await picture("dispute");
    await page.focus(".descent");
    await page.keyboard.press("ArrowUp");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await picture("dispute-dark");
    await page.setViewport(NARROW);
    await picture("dispute-narrow");
    await goTo(page, "#/nowhere");
    await waitForText(page, "There is no such page");
  } finally {
    await rpc.close();
  }
  const allowed = new Set([site, rpc.url]);
  const others = [...origins].filter((origin) => !allowed.has(origin));
  if (others.length > 0) throw new Error(`the page asked ${others.join(", ")}`);
  if (problems.length > 0) throw new Error(`in the page: ${problems.join("; ")}`);
  console.log("the explorer shows a market and a dispute to its end");
}
