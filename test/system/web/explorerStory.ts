import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { mlpProgram } from "../../../testkit/models/mlp.ts";
import { serveRpc } from "../../../testkit/nodes/rpcServer.ts";
import { click, colours, fill, goTo, picture, resize, textOf, waitFor, waitForText, watchedPage } from "./browser.ts";
import { explorersOfChains } from "./explorersOfChains.ts";
import { inspect } from "./inspect.ts";
import { StoryMarket } from "./market.ts";
import { giveFile } from "./playgroundStory.ts";

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
    await resize(page, WIDE);
    await page.goto(`${site}/#/explorer`);
    await waitForText(page, "Open a market");
    await waitFor(page, `document.querySelector("form details").open === false`);
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
    await waitForText(page, "WETH");
    await take("workers");
    await inspect(page, "workers", pictures);
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
    await goTo(page, `#/explorer/programs?${query}`);
    await waitForText(page, "Refuted claims");
    await take("programs");
    await inspect(page, "programs", pictures);
    await goTo(page, `#/explorer?${query}`);
    await waitFor(page, `document.querySelector("tbody tr") !== null`);
    await finding(page);
    await described(page, query, pictures);
    await page.evaluate(`(${DISPUTED}).click()`);
    await waitForText(page, "Dispute 0x");
    await take("job");
    await inspect(page, "a job", pictures);
    await waitFor(page, `document.title.startsWith("Job 0x")`);
    await click(page, ".links a");
    await waitFor(page, `document.title.startsWith("Dispute 0x")`);
    await waitForText(page, "gas so far");
    await waitForText(page, /In dispute: the (worker|challenger) is to move/);
    await take("dispute-half");
    await inspect(page, "half a dispute", pictures);
    const link = String(await page.evaluate("location.hash"));
    await market.endDispute();
    await waitForText(page, "recomputed by the chain, float32");
    await waitForText(page, /The sum of 64 products/);
    await waitForText(
      page,
      /Worker 0x\S+ claimed \S+ for number 200 of step 0 of item 13; the chain computed \S+ It lost 1.8 WETH/,
    );
    if (/so far|at stake/.test(await textOf(page))) throw new Error("a dispute that is over is told as if it were not");
    await waitFor(page, `!document.querySelector("table").innerText.includes("…\\t")`);
    await take("dispute");
    await inspect(page, "a dispute", pictures);
    await page.focus(".descent");
    await page.keyboard.press("ArrowUp");
    await colours(page, "dark");
    await take("dispute-dark");
    await resize(page, NARROW);
    await take("dispute-narrow");
    await deepLinks(browser, site, link, rpc.url);
    await explorersOfChains(browser, site, link, chain.provider);
    const failing = await failingNode(page, chain.market);
    allowed.add(failing);
  } finally {
    await rpc.close();
  }
  const others = [...origins].filter((origin) => !allowed.has(origin));
  if (others.length > 0) throw new Error(`the page asked ${others.join(", ")}`);
  if (problems.length > 0) throw new Error(`in the page: ${problems.join("; ")}`);
}

/** Jobs are found by text and by what became of them; a program's page names its inputs. */
async function finding(page: Page): Promise<void> {
  const rows = `document.querySelectorAll("tbody tr").length`;
  const all = Number(await page.evaluate(rows));
  await page.select("select[name=filter]", "disputed");
  await waitFor(page, `${rows} === 1`);
  await page.select("select[name=filter]", "all");
  await fill(page, "input[name=find]", HOSTILE);
  await waitForText(page, "No job of this market is like that");
  await fill(page, "input[name=find]", "0x");
  await waitFor(page, `${rows} === ${all}`);
  await click(page, "tbody a[href*='/program/']");
  await waitForText(page, /\d+ × float32/);
  await waitForText(page, "Have the program’s description?");
  await page.goBack();
  await waitFor(page, `${rows} === ${all}`);
}

/** A description names a program's inputs and outputs; its file's name is text. */
async function described(page: Page, query: string, folder: string): Promise<void> {
  const description = describeProgram(mlpProgram());
  const path = join(folder, "<img src=x onerror=alert(1)>.json");
  writeFileSync(path, JSON.stringify(description));
  await goTo(page, `#/explorer/program/${description.programRoot}?${query}`);
  await giveFile({ page }, "description", path);
  await waitForText(page, "<img src=x");
  await inspect(page, "a program", folder);
  await goTo(page, `#/explorer?${query}`);
  await page.select("select[name=filter]", "final");
  await click(page, "tbody a[href*='/job/']");
  await waitForText(page, "float32[1, 10]");
  if ((await page.evaluate(`document.querySelectorAll("main img").length`)) !== 0)
    throw new Error("a name became markup");
  await goTo(page, `#/explorer?${query}`);
  await waitFor(page, `document.querySelector("tbody tr") !== null`);
}

/** A link to a dispute leads there from elsewhere and from within, and the form has what the link says. */
async function deepLinks(browser: Browser, site: string, link: string, rpc: string): Promise<void> {
  const { page, problems } = await watchedPage(browser);
  const field = (name: string): Promise<unknown> =>
    page.evaluate(`document.querySelector("input[name=${name}]").value`);
  await page.goto(`${site}/${link}`);
  await waitForText(page, "Open it only if you trust it");
  await click(page, "form button");
  await waitForText(page, /Dispute 0x/);
  if ((await page.evaluate("location.hash")) !== link) throw new Error("a link to a dispute is lost");
  await page.goto(site);
  await goTo(page, "#/explorer");
  await fill(page, "input[name=market]", "0x1234");
  const other = link.replace(encodeURIComponent(rpc), encodeURIComponent("http://127.0.0.1:9"));
  await goTo(page, other);
  await waitForText(page, "names the node at 127.0.0.1:9");
  if ((await field("rpc")) !== "http://127.0.0.1:9") throw new Error("the form has another node than the link");
  await page.close();
  if (problems.length > 0) throw new Error(`by links: ${problems.join("; ")}`);
}

/** A node whose errors are markup: they are shown as text. @returns Its address */
async function failingNode(page: Page, market: string): Promise<string> {
  const failing = await serveRpc({ request: () => Promise.reject(new Error(HOSTILE)) });
  try {
    await goTo(page, `#/explorer?${new URLSearchParams({ rpc: failing.url, market }).toString()}`);
    await waitForText(page, "Open it only if you trust it");
    await click(page, "form button");
    await waitForText(page, "This did not work");
    const made = await page.evaluate(`document.querySelectorAll("main img").length`);
    if (made !== 0) throw new Error("a node's error became markup");
    return failing.url;
  } finally {
    await failing.close();
  }
}
