/**
 * The page, built and clicked through in browsers, against a chain in this process. Pictures of it lie in
 * `dist-web-pictures`, to be looked at.
 */
import { expect } from "chai";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { build } from "vite";
import { BROWSERS, browserBinary, type BrowserKind } from "../shared/browsers.ts";
import { leaveOut } from "../shared/leaveOut.ts";
import { serveFolder } from "../shared/serveFolder.ts";
import { openBrowser, SOFTWARE_GPU } from "./browser.ts";
import { chainStory } from "./chainStory.ts";
import { docsStory } from "./docsStory.ts";
import { explorerStory } from "./explorerStory.ts";
import { webFigures } from "./figures.ts";
import { landingStory } from "./landingStory.ts";
import { operatorsStory } from "./operatorsStory.ts";
import { gpuStory, playgroundStory } from "./playgroundStory.ts";
import { gpuTextStory, textStory } from "./textStory.ts";

const OUT = "dist-web";
const PICTURES = "dist-web-pictures";
/**
 * The bytes of each part of the site: what a visitor gets, with three small models to try and the code for GPUs; what
 * only somebody fetches who checks a receipt; and an engine that only somebody fetches who executes a model.
 */
const LIMITS = { site: 3.2e6, tokenizers: 1e5, engine: 1.5e7 };

function partOf(name: string): keyof typeof LIMITS {
  if (!name.startsWith("optional/")) return "site";
  return name.startsWith("optional/textLibraries-") ? "tokenizers" : "engine";
}

/** Bytes of the parts of a folder with the site. Each file counts. */
function bytesOf(folder: string): typeof LIMITS {
  const bytes = { site: 0, tokenizers: 0, engine: 0 };
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const stat = statSync(join(folder, name));
    if (stat.isFile()) bytes[partOf(name)] += stat.size;
  }
  return bytes;
}

describe("the page", function () {
  this.timeout(1_800_000);
  before(() => build({ configFile: "web/vite.config.ts", logLevel: "warn" }));

  it("site_isSmall", () => {
    for (const [part, bytes] of Object.entries(bytesOf(OUT))) {
      const limit = LIMITS[part as keyof typeof LIMITS];
      console.log(`  ${part}: ${(bytes / 1e3).toFixed(0)} kB, at most ${limit / 1e3} kB`);
      expect(bytes, part).to.be.at.most(limit);
      expect(bytes, part).to.be.above(0);
    }
  });

  for (const kind of Object.keys(BROWSERS) as BrowserKind[])
    describe(`in ${BROWSERS[kind].title}`, () => {
      const pictures = kind === "chrome" ? PICTURES : join(PICTURES, kind);
      let site: Awaited<ReturnType<typeof serveFolder>> | undefined;
      let browser: Browser | undefined;
      before(async function () {
        const binary = browserBinary(kind);
        if (binary === undefined) leaveOut(this, `${BROWSERS[kind].title} is not installed`);
        mkdirSync(pictures, { recursive: true });
        site = await serveFolder(OUT);
        browser = await openBrowser(kind, binary);
      });
      // Pages of earlier stories would go on computing, and come to the front when a later page is closed.
      afterEach(async () => {
        const [, ...left] = (await browser?.pages()) ?? [];
        await Promise.all(left.map((page) => page.close()));
      });
      after(async () => {
        await browser?.close();
        site?.close();
      });
      const story = (title: string, play: (browser: Browser, site: string, pictures: string) => Promise<void>) =>
        it(title, () => play(browser!, site!.url, pictures));

      if (kind === "chrome") story("firstPaints_andFramesOfADispute_areMeasured", webFigures);
      story("firstScreen_saysWhatThisIs_andLeadsOn", landingStory);
      story("documentation_isShown_andEachLinkLeadsSomewhere", docsStory);
      story("playground_compiles_executes_andFindsAChangedNumber", playgroundStory);
      const onGpu = (title: string, play: typeof gpuStory) =>
        it(title, async function () {
          const own = await openBrowser(kind, browserBinary(kind)!, SOFTWARE_GPU);
          const isOffered = await play(own, site!.url, pictures).finally(() => own.close());
          if (!isOffered) leaveOut(this, "this Chromium offers no software GPU");
        });
      if (kind === "chrome") onGpu("playground_computesOnAGpu_whereTheBrowserOffersOne", gpuStory);
      if (kind === "chrome") onGpu("receipt_isCheckedOnAGpu_whereTheBrowserOffersOne", gpuTextStory);
      it("numberThatIsChangedInThePage_isRefutedOnAChain", function () {
        return chainStory(this, browser!, site!.url, pictures);
      });
      story("text_isStreamedFromAGateway_andItsReceiptChecked", textStory);
      story("operatorsPage_showsMetrics_andLabelsRemainText", operatorsStory);
      story("explorer_showsAMarket_andADisputeToItsEnd", explorerStory);
    });
});
