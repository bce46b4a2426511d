import puppeteer, { type Browser, type Page } from "puppeteer-core";

/** What a page did beside what it showed. */
export type Watched = {
  page: Page;
  /** Origins that it asked. */
  origins: Set<string>;
  /** Errors that it threw or logged, and dialogs that it opened. */
  problems: string[];
};

/** Opens a browser without a window. */
export const openBrowser = (binary: string): Promise<Browser> =>
  puppeteer.launch({
    executablePath: binary,
    args: ["--no-sandbox", "--disable-gpu", "--force-prefers-reduced-motion"],
  });

/** Opens a page, and writes down whom it asks and what goes wrong in it. */
export async function watchedPage(browser: Browser): Promise<Watched> {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
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

/** Waits until a text is on the page. @throws Error with what is there instead */
export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  const { source, flags } = typeof text === "string" ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : text;
  try {
    await page.waitForFunction(
      (s: string, f: string) => new RegExp(s, f).test(document.body.innerText),
      {},
      source,
      flags,
    );
  } catch {
    const there = await page.evaluate(() => document.body.innerText);
    throw new Error(`the page does not show ${String(text)}:\n${there.slice(0, 2_000)}`);
  }
}

/** Opens a part of the page by what its address says after `#`. */
export const goTo = (page: Page, hash: string): Promise<void> =>
  page.evaluate((to: string) => {
    location.hash = to;
  }, hash);
