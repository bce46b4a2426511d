import type { Browser, Page } from "puppeteer-core";
import { serveRpc } from "../../../testkit/nodes/rpcServer.ts";
import { click, colours, fill, goTo, picture, waitFor, waitForText, watchedPage } from "./browser.ts";
import { inspect } from "./inspect.ts";
import { StoryMarket } from "./market.ts";

const WIDE = { width: 1_280, height: 900 };
/** What somebody may write into a link. */
const HOSTILE = `"><img src=x onerror=alert(1)>\u202e`;
/** The link of the job that is in dispute. */
const DISPUTED = `[...document.querySelectorAll("tbody tr")]
  .find((row) => row.innerText.includes("in dispute"))
  .querySelector("a")`;
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
  const allowed = new Set([site, rpc.url]);
  const query = new URLSearchParams({ rpc: rpc.url, market: chain.market }).toString();
  const take = (name: string): Promise<void> => picture(page, `${pictures}/${name}.png`);
  try {
    await page.setViewport(WIDE);
    await page.goto(site);
    await waitForText(page, "Look at a market");
    await take("start");
    await inspect(page, "the explorer's start", pictures);
    await fill(page, "input[name=market]", chain.market);
    await fill(page, "input[name=rpc]", rpc.url);
    await page.keyboard.press("Enter");
    await waitForText(page, "No jobs yet");
    await take("empty");
    await market.honestJobs();
    await waitForText(page, "final, delivered");
    await market.halfDispute();
    await waitForText(page, "in dispute");
    await take("market");
    await inspect(page, "a market", pictures);
    await goTo(page, `#/explorer/workers?${query}`);
    await waitForText(page, "May claim");
    await take("workers");
    await goTo(page, `#/explorer/panels?${query}`);
    await waitForText(page, "No panels were named");
    await goTo(page, `#/explorer/classes?${query}`);
    await waitForText(page, "No exams were named");
    const beside = await market.beside();
    const all = new URLSearchParams({ rpc: rpc.url, market: chain.market, ...beside }).toString();
    await goTo(page, `#/explorer/panels?${all}`);
    await waitForText(page, "sealed");
    await take("panels");
    await inspect(page, "panels", pictures);
    await goTo(page, `#/explorer/classes?${all}`);
    await waitForText(page, "Program of its exam");
    await take("classes");
    await inspect(page, "classes", pictures);
    await goTo(page, `#/explorer/job/${encodeURIComponent(HOSTILE)}?${query}`);
    await waitForText(page, "Not on this market");
    await goTo(page, `#/explorer?${query}`);
    await waitFor(page, `document.querySelector("tbody tr") !== null`);
    await page.evaluate(`(${DISPUTED}).click()`);
    await waitForText(page, "Dispute 0x");
    await take("job");
    await click(page, ".links a");
    await waitForText(page, "gas so far");
    await take("dispute-half");
    await market.endDispute();
    await waitForText(page, "recomputed by the chain, float32");
    await waitForText(page, /The sum of 64 products/);
    await waitFor(page, `!document.querySelector("table").innerText.includes("…\\t")`);
    await take("dispute");
    await inspect(page, "a dispute", pictures);
    await page.focus(".descent");
    await page.keyboard.press("ArrowUp");
    await colours(page, "dark");
    await take("dispute-dark");
    await page.setViewport(NARROW);
    await take("dispute-narrow");
    const failing = await failingNode(page, chain.market);
    allowed.add(failing);
    await goTo(page, "#/nowhere");
    await waitForText(page, "There is no such page");
  } finally {
    await rpc.close();
  }
  const others = [...origins].filter((origin) => !allowed.has(origin));
  if (others.length > 0) throw new Error(`the page asked ${others.join(", ")}`);
  if (problems.length > 0) throw new Error(`in the page: ${problems.join("; ")}`);
}

/** A node whose errors are markup: they are shown as text. @returns Its address */
async function failingNode(page: Page, market: string): Promise<string> {
  const failing = await serveRpc({ request: () => Promise.reject(new Error(HOSTILE)) });
  try {
    await goTo(page, `#/explorer?${new URLSearchParams({ rpc: failing.url, market }).toString()}`);
    await waitForText(page, "Look only if you trust it");
    await click(page, "form button");
    await waitForText(page, "This did not work");
    const made = await page.evaluate(`document.querySelectorAll("main img").length`);
    if (made !== 0) throw new Error("a node's error became markup");
    return failing.url;
  } finally {
    await failing.close();
  }
}
