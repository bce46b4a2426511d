import { readFileSync } from "node:fs";
import type { Browser, Page } from "puppeteer-core";
import { serveFolder } from "../shared/serveFolder.ts";
import { click, goTo, isChromium, picture, resize, textOf, waitFor, waitForText, watchedPage } from "./browser.ts";
import { inspect } from "./inspect.ts";

const { repository } = JSON.parse(readFileSync("package.json", "utf8")) as { repository?: object };
const HEADING = "be sure of every bit of it";

/** Where figures and doors lead. */
const LINKS = `[...document.querySelectorAll(".figures a, .landing .card a")].map(({ hash }) => hash).join(" ")`;
/** The statuses of the pictures that the page's head names. */
const PICTURES = `Promise.all(
  [...document.querySelectorAll("meta[property='og:image'], link[rel*=icon]")].map(async (each) => {
    const { status } = await fetch(each.content ?? each.href);
    return status;
  }),
).then((all) => all.join(" "))`;

/** Stops the recorded dispute in the moment in which it is seen to go on. */
const PAUSE = `
/transaction [2-8] of 9/.test(document.body.innerText) &&
  (document.querySelector(".recording .row button").click(), true)`;

/**
 * The first screen: what it says, where it leads, the recorded dispute, and ways home from nowhere.
 * @throws Error if something is not shown, or the page asks another origin
 */
export async function landingStory(browser: Browser, site: string, pictures: string): Promise<void> {
  const { page, origins, problems } = await watchedPage(browser);
  await resize(page, { width: 1_280, height: 900 });
  await page.goto(site);
  await waitForText(page, HEADING);
  // Whoever wants no motion sees the end of the recorded dispute at once.
  await waitForText(page, "The worker lost 1.8 WETH");
  await picture(page, `${pictures}/start.png`);
  await inspect(page, "the first screen", pictures);
  await expectValue(
    page,
    LINKS,
    "#/docs/performance #/docs/gas #/docs/gas #/docs/quickstart #/docs/sdk #/docs/operating",
  );
  await expectValue(page, PICTURES, "200 200 200 200");
  if ((await textOf(page)).includes("The repository") !== (repository !== undefined))
    throw new Error("the link to the repository is not the one of package.json");
  if (await isChromium(page)) await inMotion(page);
  await click(page, ".hero a.main");
  await waitForText(page, "A digit that you draw");
  await waitForText(page, "The model says");
  await goTo(page, "#/nowhere");
  await waitForText(page, "There is no such page");
  await click(page, "main a[href='#/']");
  await waitForText(page, HEADING);
  await page.goto(`${site}/404.html`);
  await waitForText(page, "There is no such page");
  await click(page, "a");
  await waitForText(page, HEADING);
  const others = [...origins].filter((origin) => origin !== site);
  if (others.length > 0) throw new Error(`the first screen asked ${others.join(", ")}`);
  if (problems.length > 0) throw new Error(`in the first screen: ${problems.join("; ")}`);
  await fromAFolder(browser);
}

/** The recorded dispute begins by itself, stops when asked to, and goes on to its end. */
async function inMotion(page: Page): Promise<void> {
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "no-preference" }]);
  await page.reload();
  await waitFor(page, PAUSE);
  await waitForText(page, "Go on");
  await click(page, ".recording .row button");
  await waitForText(page, "transaction 9 of 9");
  await waitForText(page, "Play it again");
  await page.emulateMediaFeatures([]);
}

/** The same files work from a folder of a server. */
async function fromAFolder(browser: Browser): Promise<void> {
  const server = await serveFolder(".");
  const { page, problems } = await watchedPage(browser);
  try {
    await page.goto(`${server.url}/dist-web/index.html#/playground/iris`);
    await waitFor(page, `[...document.querySelectorAll("[role=status] strong")].some((e) => e.innerText !== "")`);
    await waitForText(page, "Plain onnxruntime");
  } finally {
    await page.close();
    server.close();
  }
  if (problems.length > 0) throw new Error(`in a folder: ${problems.join("; ")}`);
}

async function expectValue(page: Page, expression: string, expected: string): Promise<void> {
  const value = await page.evaluate(expression);
  if (value !== expected) throw new Error(`the first screen has ${String(value)}, not ${expected}`);
}
