import { setTimeout } from "node:timers/promises";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import type { BrowserKind } from "../shared/browsers.ts";

/** What a page did beside what it showed. */
export type Watched = {
  page: Page;
  /** Origins that it asked. */
  origins: Set<string>;
  /** Errors that it threw or logged, and dialogs that it opened. */
  problems: string[];
};

/** No name leads anywhere: what a thread of the page asks is not seen here, but it gets no answer. */
const NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1";
const FLAGS = ["--no-sandbox", "--force-prefers-reduced-motion", NOWHERE];
/** The same for Firefox: whatever is not on this machine goes to a proxy that is not there. */
const PREFERENCES = {
  "ui.prefersReducedMotion": 1,
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": 9,
  "network.proxy.ssl": "127.0.0.1",
  "network.proxy.ssl_port": 9,
};

/** Milliseconds between two looks at a page. */
const POLLED = 30;

/** Flags by which Chromium's software driver stands in for a GPU. */
export const SOFTWARE_GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"];

/**
 * Opens a browser without a window: Chromium by its own protocol, Firefox by WebDriver BiDi.
 * @param flags How Chromium draws and computes.
 */
export const openBrowser = (kind: BrowserKind, binary: string, flags = ["--disable-gpu"]): Promise<Browser> =>
  puppeteer.launch({
    browser: kind,
    executablePath: binary,
    protocolTimeout: 600_000,
    ...(kind === "firefox" ? { extraPrefsFirefox: PREFERENCES } : { args: [...FLAGS, ...flags] }),
  });

/** Opens a page, and writes down whom it asks and what goes wrong in it. */
export async function watchedPage(browser: Browser): Promise<Watched> {
  const page = await browser.newPage();
  page.setDefaultTimeout(300_000);
  const origins = new Set<string>();
  const problems: string[] = [];
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (/^(https?|wss?):$/.test(protocol)) origins.add(origin);
  });
  page.on("pageerror", (error) => problems.push(`error: ${String(error)}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, origins, problems };
}

/** Gives a page a window of a size in pixels. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  try {
    await page.setViewport(size);
  } catch (error) {
    // With the size, Puppeteer sets an orientation of the screen, which older versions of Firefox do not know.
    if (!String(error).includes("unknown command emulation.setScreenOrientationOverride")) throw error;
    await waitFor(page, `innerWidth === ${size.width}`);
  }
}

/**
 * Waits until something holds in the page. Puppeteer's own wait needs `Function`, which the page's rules forbid: older
 * versions of Firefox apply the rules to Puppeteer too.
 * @param condition An expression of JavaScript.
 */
export async function waitFor(page: Page, condition: string): Promise<void> {
  const end = Date.now() + page.getDefaultTimeout();
  for (;;) {
    try {
      if (await page.evaluate(`Boolean(${condition})`)) return;
    } catch (error) {
      // A page that is loaded meanwhile has another context.
      if (!/context|navigat|realm|no such frame/i.test(String(error))) throw error;
    }
    if (Date.now() > end) throw new Error(`the page never came to this: ${condition}`);
    await setTimeout(POLLED);
  }
}

/** Waits until a text is on the page. @throws Error with what is there instead */
export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  const pattern = typeof text === "string" ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : text;
  try {
    await waitFor(page, `${String(pattern)}.test(document.body.innerText)`);
  } catch {
    throw new Error(`the page does not show ${String(text)}:\n${(await textOf(page)).slice(0, 2_000)}`);
  }
}

/** All that the page shows. */
export const textOf = async (page: Page): Promise<string> => String(await page.evaluate("document.body.innerText"));

/** Opens a part of the page by what its address says after `#`. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

/** Writes a text into a field, in the place of what is there. */
export async function fill(page: Page, selector: string, text: string): Promise<void> {
  await page.waitForSelector(selector);
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).select()`);
  await page.type(selector, text);
}

/** Clicks what a selector finds, once it is there. */
export async function click(page: Page, selector: string): Promise<void> {
  const found = await page.waitForSelector(selector);
  await found!.click();
}

/** Whether a page is opened in Chromium. */
export const isChromium = async (page: Page): Promise<boolean> => !/^firefox/i.test(await page.browser().version());

/**
 * Shows a page in light or dark colours, or in those of the system: as a system would ask for them, or, where a browser
 * takes no such wish (Firefox), as the page's own button would.
 */
export async function colours(page: Page, scheme: "light" | "dark" | "system"): Promise<void> {
  if (await isChromium(page))
    return page.emulateMediaFeatures(scheme === "system" ? [] : [{ name: "prefers-color-scheme", value: scheme }]);
  const theme = scheme === "system" ? "delete data.theme" : `data.theme = "${scheme}"`;
  await page.evaluate(`((data) => void (${theme}))(document.documentElement.dataset)`);
}

/**
 * Takes a picture of a whole page, from its top, or of the part on the screen. Chromium draws no page in the
 * background: a picture would hang.
 */
export async function picture(page: Page, path: `${string}.png`, fullPage = true): Promise<void> {
  await page.bringToFront();
  if (fullPage) await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path, fullPage });
}

/** Whether the browser of a page offers a GPU. */
export const offersGpu = async (page: Page): Promise<boolean> =>
  (await page.evaluate(`navigator.gpu?.requestAdapter().then((found) => found !== null)`)) === true;
