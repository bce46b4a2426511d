import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "puppeteer-core";
import { colours, isChromium, picture, resize } from "./browser.ts";

/** The rules of axe-core that stand for WCAG 2.1, A and AA: contrast of all text, names, roles. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
const RULES = `axe.run(document, ${JSON.stringify({ runOnly: TAGS, resultTypes: ["violations"] })})`;
const WIDE = { width: 1_280, height: 900 };
/** Pixels: a telephone, and the least that WCAG asks for. */
const NARROW = [390, 320] as const;
const SCHEMES = ["light", "dark"] as const;
/** Looks at a focus whose ring is not there yet. */
const LOOKS = 20;

/** What can be used by hand: by keys it must be reached, and be seen to be. */
const START = `
window.inspected = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
  .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({ visibilityProperty: true }));
window.reached = new Set();
document.activeElement?.blur();
window.inspected.length`;
/** What has the focus is noted. The value: what is wrong with it. */
const NOTE = `
(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return "";
  window.reached.add(at);
  const { outlineStyle, outlineWidth } = getComputedStyle(at);
  return outlineStyle === "none" || parseFloat(outlineWidth) < 1 ? at.outerHTML.slice(0, 200) : "";
})()`;
const MISSED = `window.inspected.filter((each) => each.isConnected && !window.reached.has(each))
  .map((each) => each.outerHTML.slice(0, 200))`;

type Violation = { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] };

/**
 * Inspects what a page shows now, in light and dark, by keys, and on narrow screens. Four pictures are taken: in
 * light and dark, wide and on a telephone.
 * @param name Of the state, for messages and names of pictures.
 * @throws Error if a rule is broken, something is not reached by keys or not seen to be, or the page scrolls sideways
 */
export async function inspect(page: Page, name: string, pictures: string): Promise<void> {
  const base = `${pictures}/inspected-${name.replace(/\W+/g, "-")}` as const;
  const take = (as: string): Promise<void> => picture(page, `${base}-${as}.png`);
  await page.evaluate(AXE);
  for (const value of SCHEMES) {
    await colours(page, value);
    const { violations } = (await page.evaluate(RULES)) as { violations: Violation[] };
    if (violations.length > 0) throw new Error(`${name}, ${value}: ${violations.map(violationText).join("; ")}`);
    await take(value);
  }
  await colours(page, "system");
  // In Firefox, the ring around what has the focus is not always there when it is asked for.
  if (await isChromium(page)) await inspectKeys(page, name);
  for (const width of NARROW) {
    await resize(page, { width, height: 844 });
    const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
    if (wide > width) throw new Error(`${name}: ${wide} pixels wide on a screen of ${width}`);
    for (const value of width === NARROW[0] ? SCHEMES : []) {
      await colours(page, value);
      await take(`narrow-${value}`);
    }
  }
  await colours(page, "system");
  await resize(page, WIDE);
}

async function inspectKeys(page: Page, name: string): Promise<void> {
  const count = Number(await page.evaluate(START));
  // The focus may begin anywhere, and rests on the page itself between the last and the first.
  for (let k = 0; k < count + 2; k++) {
    await page.keyboard.press("Tab");
    let unseen = await page.evaluate(NOTE);
    // On a busy machine the ring comes a little later than the key.
    for (let looks = 0; unseen !== "" && looks < LOOKS; looks++) {
      await sleep(100);
      unseen = await page.evaluate(NOTE);
    }
    if (unseen !== "") throw new Error(`${name}: the focus is not seen on ${String(unseen)}`);
  }
  const missed = (await page.evaluate(MISSED)) as string[];
  await page.evaluate("document.activeElement?.blur()");
  if (missed.length > 0) throw new Error(`${name}: not reached by keys: ${missed.slice(0, 5).join(", ")}`);
}

const violationText = ({ id, help, nodes }: Violation): string =>
  `${id} (${help}): ${nodes
    .slice(0, 3)
    .map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary.replace(/\s+/g, " ")}`)
    .join(", ")}`;
