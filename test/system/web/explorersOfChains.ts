import type { Browser } from "puppeteer-core";
import type { LocalChain } from "../../../src/deploy/demo/localChain.ts";
import { serveRpc } from "../../../testkit/nodes/rpcServer.ts";
import { click, goTo, waitForText, watchedPage } from "./browser.ts";

/** Chains as a node names them, as the page does, and the sites that show them. */
const CHAINS = [
  [1, "Ethereum (1)", "https://etherscan.io"],
  [10, "OP Mainnet (10)", "https://optimistic.etherscan.io"],
  [8_453, "Base (8453)", "https://basescan.org"],
  [42_161, "Arbitrum One (42161)", "https://arbiscan.io"],
  [11_155_111, "Sepolia (11155111)", "https://sepolia.etherscan.io"],
  [31_337, "31337", undefined],
] as const;

/** Links that leave the site, and what they tell the other one. */
const LEAVING = `[...document.querySelectorAll("main a[target=_blank]")].map(({ href, rel }) => href + " " + rel)`;

/**
 * Links from a dispute, its job and its market to the sites of known chains; none on a chain that is not known. The
 * node of the story says that it is one of theirs.
 * @param link To the dispute, which is over.
 * @throws Error if a link is missing or leads elsewhere, or the page asks one of the sites itself
 */
export async function explorersOfChains(
  browser: Browser,
  site: string,
  link: string,
  provider: LocalChain["provider"],
): Promise<void> {
  const [path, query] = link.split("?") as [string, string];
  for (const [chainId, name, explorer] of CHAINS) {
    const rpc = await serveRpc(provider, ({ method }, pass) =>
      method === "eth_chainId" ? Promise.resolve(`0x${chainId.toString(16)}`) : pass(),
    );
    const { page, origins, problems } = await watchedPage(browser);
    const leaving = async (): Promise<string[]> => (await page.evaluate(LEAVING)) as string[];
    try {
      const named = new URLSearchParams(query);
      named.set("rpc", rpc.url);
      await page.goto(`${site}/${path}?${named.toString()}`);
      await click(page, "form button");
      await waitForText(page, /Dispute 0x/);
      const moves = Number(await page.evaluate(`document.querySelectorAll("tbody tr").length`));
      expectLinks(await leaving(), moves, explorer, "tx/0x[0-9a-f]{64}");
      await goTo(page, `#/explorer?${named.toString()}`);
      await waitForText(page, name);
      expectLinks(await leaving(), 1, explorer, `address/${named.get("market")!}`);
      const others = [...origins].filter((origin) => origin !== site && origin !== rpc.url);
      if (others.length + problems.length > 0) throw new Error(`${name}: ${[...others, ...problems].join(", ")}`);
    } finally {
      await page.close();
      await rpc.close();
    }
  }
}

/** @param place A pattern of what follows the site's name */
function expectLinks(found: readonly string[], count: number, explorer: string | undefined, place: string): void {
  const pattern = new RegExp(`^${explorer}/${place} noopener noreferrer$`, "i");
  const expected = explorer === undefined ? 0 : count;
  if (found.length !== expected || !found.every((each) => pattern.test(each)))
    throw new Error(`${expected} links to ${explorer}, but there are: ${found.join(", ")}`);
}
