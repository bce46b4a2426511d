/**
 * `npm run web:check`: builds the page and clicks through it in a browser, against a chain in this process. Pictures of
 * it lie in `dist-web-pictures`, to be looked at.
 */
import { mkdirSync } from "node:fs";
import { build } from "vite";
import { browserBinary } from "../package/browser.ts";
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

process.exitCode = await check();
// Hardhat's chain keeps the process alive.
process.exit();

async function check(): Promise<number> {
  await build({ configFile: "web/vite.config.ts", logLevel: "warn" });
  const bytes = bytesOf(OUT, "optional");
  console.log(`the site: ${(bytes / 1e3).toFixed(0)} kB, at most ${LIMIT / 1e3} kB`);
  const binary = browserBinary();
  if (binary === undefined) console.log("the page was not opened: chromium is not installed");
  else await story(binary);
  return bytes <= LIMIT ? 0 : 1;
}

async function story(binary: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const site = await serveSite(OUT);
  const browser = await openBrowser(binary);
  try {
    await webFigures(browser, site.url, PICTURES);
    await docsStory(browser, site.url, PICTURES);
    await playgroundStory(browser, site.url, PICTURES);
    await chainStory(browser, site.url, PICTURES);
    await operatorsStory(browser, site.url, PICTURES);
    await explorerStory(browser, site.url, PICTURES);
  } finally {
    await browser.close();
    site.close();
  }
}
