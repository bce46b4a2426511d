import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { addKey } from "../../../src/parties/gateway/apiKeys.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { lyingEvery, startGateway, textKit, TOKENIZER } from "../../../testkit/players/gatewayPlayers.ts";
import { TicketPlayers } from "../../../testkit/players/ticketPlayers.ts";
import { click, fill, offersGpu, picture, resize, textOf, waitFor, waitForText, watchedPage } from "./browser.ts";
import { inspect } from "./inspect.ts";

const KEPT = "Object.keys(localStorage).filter((name) => name.startsWith('refute-key')).length";

/** What executes in a browser without a GPU. */
const BY_KERNELS = "in blocks, by kernels";

/**
 * Text from gateways on a chain in this process: wrong ones, an honest one, and one that sells a lie, whose receipts
 * are checked in the page.
 * @param by What executes receipts again, in the page's words.
 * @throws Error if something is not shown, a key is kept without a wish, or the page asks whom it must not
 */
export async function textStory(browser: Browser, site: string, pictures: string, by = BY_KERNELS): Promise<void> {
  const world = await TicketPlayers.create();
  const ends: (() => Promise<void>)[] = [() => world.close()];
  const { page, origins, problems } = await watchedPage(browser);
  const take = (name: string): Promise<void> => picture(page, `${pictures}/${name}.png`);
  try {
    await world.setClock();
    const kit = await textKit(world.folder);
    ends.unshift(() => kit.executors.close());
    const keys = join(world.folder, "keys.json");
    const key = addKey(keys, { name: "page" });
    const gatewayOf = async (execute: Execute, changes: Parameters<typeof startGateway>[4]): Promise<string> => {
      const serving = await world.serve(await world.workerKey(), kit.model.program, execute);
      const gateway = await startGateway(
        world,
        kit,
        await world.payer(serving.at.account.address),
        [serving.url],
        changes,
      );
      ends.unshift(gateway.close, serving.stop);
      return gateway.url;
    };
    const honest = await gatewayOf(kit.execute, { keys, eager: true });
    const lying = await gatewayOf(lyingEvery(1, kit.execute, kit.model.program, true), { keys });
    const closed = await gatewayOf(kit.execute, {});

    await resize(page, { width: 1_280, height: 900 });
    await page.goto(`${site}/#/text`);
    await waitForText(page, "Text with a receipt");
    await inspect(page, "text before a gateway", pictures);
    const connect = async (url: string, own: string): Promise<void> => {
      await fill(page, "input[name=gateway]", url);
      await fill(page, "input[name=gateway-key]", own);
      await click(page, "button.connect");
    };
    await connect("gateway", key);
    await waitForText(page, "give a URL that begins with http:// or https://");
    await connect("http://127.0.0.1:9/v1", key);
    await waitForText(page, "nothing answers at 127.0.0.1:9");
    await connect(closed, key);
    await waitForText(page, "but to no web page: a gateway must be started with --keys");
    await connect(honest, "sk-refute-wrong");
    await waitForText(page, "does not know this key");
    await take("text-wrong-key");
    // The browser's own words about what it could not fetch.
    problems.splice(0);

    await connect(honest, key);
    await page.waitForSelector("textarea[name=prompt]");
    if ((await page.evaluate(KEPT)) !== 0) throw new Error("a key was kept that nobody wished to keep");
    await click(page, "input[name=keep-key]");
    await click(page, "button.connect");
    await waitFor(page, `${KEPT} === 1`);
    await fill(page, "textarea[name=prompt]", "A word");
    await fill(page, "input[name=most-tokens]", "20");
    await click(page, "button.ask");
    await waitForText(page, "2 blocks, all signed");
    await waitForText(page, "20 of 20 bought");
    await waitForText(page, /can be refuted for 1\d:\d\d/);

    // The tokenizer is not this receipt's.
    const other = join(world.folder, "tokenizer.json");
    writeFileSync(other, "{}");
    const { path } = kit.spec;
    const config = join(world.folder, "tokenizer_config.json");
    await check(page, [path, other, config]);
    await waitForText(page, "none of these files is its tokenizer.json of this receipt");
    await check(page, [path, TOKENIZER, config]);
    await waitForText(page, "The receipt holds");
    await waitForText(page, "all 2 blocks are right");
    await waitForText(page, `executed again ${by}`);
    await take("text-checked");
    await inspect(page, "a text with its receipt", pictures);
    await fill(page, "input[name=slots]", "95");
    await check(page, [path, TOKENIZER, config]);
    await waitForText(page, "with 95 slots the model gives another program");

    await connect(lying, key);
    await fill(page, "textarea[name=prompt]", "A word");
    await click(page, "button.ask");
    await waitForText(page, /\d blocks?, all signed/);
    await check(page, [path, TOKENIZER, config]);
    await waitForText(page, "Block 1 is a lie");
    await take("text-lie");

    // A link to another gateway does not get the key that is kept for the first one.
    await page.goto(`${site}/?other#/text?gateway=${encodeURIComponent("http://127.0.0.1:9/v1")}`);
    await page.waitForSelector("input[name=gateway-key]");
    if ((await page.evaluate("document.querySelector('input[name=gateway-key]').value")) !== "")
      throw new Error("a link got the key of another gateway");
    if ((await textOf(page)).includes(key)) throw new Error("the page shows the key");
    const own = [site, honest, lying, closed, "http://127.0.0.1:9"].map((url) => new URL(url).origin);
    const others = [...origins].filter((origin) => !own.includes(origin));
    if (others.length > 0) throw new Error(`the page of texts asked ${others.join(", ")}`);
    if (problems.length > 0) throw new Error(`in the page of texts: ${problems.join("; ")}`);
  } finally {
    await page.close();
    for (const end of ends) await end();
  }
}

/** The same where a software driver stands in for a GPU. @returns whether the browser offers it */
export async function gpuTextStory(browser: Browser, site: string, pictures: string): Promise<boolean> {
  const { page } = await watchedPage(browser);
  await page.goto(`${site}/#/text`);
  if (!(await offersGpu(page))) return false;
  const own = join(pictures, "gpu");
  mkdirSync(own, { recursive: true });
  await textStory(browser, site, own, "on this machine's GPU");
  return true;
}

async function check(page: Page, files: readonly string[]): Promise<void> {
  const field = await page.waitForSelector("input[name=receipt-files]");
  type Files = NonNullable<typeof field> & { uploadFile: (...paths: readonly string[]) => Promise<void> };
  await (field as Files).uploadFile(...files);
  await click(page, "button.check");
}
