/**
 * `npm run web:check`: builds the page and clicks through it in a browser, against a chain in this process. Pictures of
 * it lie in `dist-web-pictures`, to be looked at.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { browserBinary, type BrowserKind } from "../package/browser.ts";
import { openBrowser } from "./browser.ts";
import { chainStory } from "./chainStory.ts";
import { docsStory } from "./docsStory.ts";
import { webFigures } from "./figures.ts";
import { bytesOf, serveSite } from "./site.ts";
import { explorerStory } from "./explorerStory.ts";
import { operatorsStory } from "./operatorsStory.ts";
import { playgroundStory } from "./playgroundStory.ts";

const OUT = "dist-web";
const PICTURES = "dist-web-pictures";
/** Bytes of the site, without models and the optional engine. */
const LIMIT = 3e6;
const NAMES: Record<BrowserKind, string> = { chrome: "Chromium", firefox: "Firefox" };

process.exitCode = await check();
// Hardhat's chain keeps the process alive.
process.exit();

async function check(): Promise<number> {
  await build({ configFile: "web/vite.config.ts", logLevel: "warn" });
  const bytes = bytesOf(OUT, "optional");
  console.log(`the site: ${(bytes / 1e3).toFixed(0)} kB, at most ${LIMIT / 1e3} kB`);
  await story("chrome", PICTURES);
  await story("firefox", join(PICTURES, "firefox"));
  return bytes <= LIMIT ? 0 : 1;
}

/** Clicks through all of it in a browser of a kind, if there is one. */
async function story(kind: BrowserKind, pictures: string): Promise<void> {
  const binary = browserBinary(kind);
  if (binary === undefined) return console.log(`the page was not opened in ${NAMES[kind]}, which is not installed`);
  mkdirSync(pictures, { recursive: true });
  const site = await serveSite(OUT);
  const browser = await openBrowser(kind, binary);
  console.log(`in ${NAMES[kind]}:`);
  try {
    if (kind === "chrome") await webFigures(browser, site.url, pictures);
    await docsStory(browser, site.url, pictures);
    await playgroundStory(browser, site.url, pictures);
    await chainStory(browser, site.url, pictures);
    await operatorsStory(browser, site.url, pictures);
    await explorerStory(browser, site.url, pictures);
  } finally {
    await browser.close();
    site.close();
  }
}
