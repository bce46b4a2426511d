import type { Browser } from "puppeteer-core";
import { click, colours, fill, goTo, picture, resize, waitFor, waitForText, watchedPage } from "./browser.ts";
import { inspect } from "./inspect.ts";

const WIDE = { width: 1_280, height: 900 };
const NARROW = { width: 390, height: 844 };

/** The sections of a page, "" for itself, and its links to others. */
const PLACES = `({
  ids: ["", ...[...document.querySelectorAll(".prose [id]")].map(({ id }) => id)],
  links: [...document.querySelectorAll(".prose a[href^='#/docs/']")].map((link) => link.getAttribute("href")),
})`;

/** That the page and its pictures are no wider than the screen, and that cells say what they hold. */
const FITS = `document.documentElement.scrollWidth <= innerWidth &&
  [...document.querySelectorAll(".prose img")].every((each) => each.getBoundingClientRect().right <= innerWidth) &&
  [...document.querySelectorAll(".prose td")].every((each) => each.dataset.title !== undefined)`;

/**
 * The documentation: by its contents, by search, by keys, on a narrow screen; and every page once.
 * @throws Error if something is not shown, or the page asks another origin
 */
export async function docsStory(browser: Browser, site: string, pictures: string): Promise<void> {
  const { page, origins, problems } = await watchedPage(browser);
  const take = (name: string): Promise<void> => picture(page, `${pictures}/docs-${name}.png`, false);
  await resize(page, WIDE);
  await page.goto(`${site}/#/docs`);
  await waitForText(page, "For watchers");
  await waitFor(page, `document.querySelector(".docs > .stack h2").innerText === "Start"`);
  await take("start");
  await inspect(page, "the documentation", pictures);
  await click(page, ".columns a[href='#/docs/operating/a-watcher']");
  await waitFor(page, "Math.abs(document.getElementById('s-a-watcher')?.getBoundingClientRect().top - 72) < 40");
  await take("section");
  // Going on to another section of the page leaves the headings as they are.
  await goTo(page, "#/docs/operating/a-worker");
  await waitFor(page, "Math.abs(document.getElementById('s-a-worker')?.getBoundingClientRect().top - 72) < 40");
  await waitFor(page, "[...document.querySelectorAll('.prose h2')].every((each) => each.children.length === 1)");
  await waitFor(page, "document.querySelector('.anchor .anchor') === null");
  await fill(page, "input[type=search]", "clock bond");
  await waitFor(page, "document.querySelectorAll('.found li').length > 3");
  await take("search");
  await page.keyboard.press("Enter");
  await waitFor(page, "document.querySelector('.prose h1') !== null && document.querySelector('.found') === null");
  await goTo(page, "#/docs/training");
  await waitFor(page, "[...document.images].length > 0 && [...document.images].every(({ naturalWidth: w }) => w > 0)");
  await inspect(page, "a page of the documentation", pictures);
  await colours(page, "dark");
  await take("dark");
  await resize(page, NARROW);
  await goTo(page, "#/docs/faq");
  await waitForText(page, "Who watches");
  await waitFor(page, FITS);
  await take("narrow");
  const places = new Map<string, Set<string>>();
  const links: string[] = [];
  const pages = await allPages(page.evaluate("[...document.querySelectorAll('.contents a')].map(({ hash }) => hash)"));
  for (const hash of pages) {
    await goTo(page, hash);
    await page.waitForSelector(`.prose[data-page="${hash.split("/")[2]}"]`);
    await waitFor(page, FITS).catch(() => Promise.reject(new Error(`${hash} is wider than the screen`)));
    const found = (await page.evaluate(PLACES)) as { ids: string[]; links: string[] };
    places.set(hash, new Set(found.ids));
    links.push(...found.links);
  }
  const lost = links.filter((link) => {
    const [, base, section] = /^([^/]*\/[^/]*\/[^/]*)(?:\/(.*))?$/.exec(link)!;
    return places.get(base!)?.has(section === undefined ? "" : `s-${section}`) !== true;
  });
  if (lost.length > 0) throw new Error(`links that lead nowhere: ${[...new Set(lost)].join(", ")}`);
  await goTo(page, "#/docs/nothing");
  await waitForText(page, "The documentation has nothing called");
  const others = [...origins].filter((origin) => origin !== site);
  if (others.length > 0) throw new Error(`the documentation asked ${others.join(", ")}`);
  if (problems.length > 0) throw new Error(`in the documentation: ${problems.join("; ")}`);
}

/** The addresses of all pages, without sections. */
async function allPages(hashes: Promise<unknown>): Promise<string[]> {
  const found = (await hashes) as string[];
  return [...new Set(found.map((hash) => hash.split("/").slice(0, 3).join("/")))];
}
